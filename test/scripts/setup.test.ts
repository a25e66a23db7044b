import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { isAlive, Project, until } from "./project";

const PLUGIN = "pulumi-resource-webhooks.js";
const INSTALL = "npm ci --include=dev";
const GO_BUILD = ["go build pulumi-language-nodejs", "go build pulumi"];
const FROM_NOTHING = [INSTALL, "tsc", "launcher", ...GO_BUILD];
const UNPACK = ["unpack liblzf1", "unpack redis-server", "unpack redis-tools"];
const UNPACK_REDIS = ["apt-get download redis-server redis-tools liblzf1", ...UNPACK];
const CLI = ["pulumi", "pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"];

let project: Project;
beforeEach(() => {
  project = new Project();
});
afterEach(() => project.remove());

const inRoot = (...names: string[]) => join(project.root, ...names);

test("two set-ups at once do the work once, and a later one starts no command and prints nothing", async () => {
  const runs = await Promise.all([project.setUp(), project.setUp()]);
  expect(runs.map(({ status }) => status)).toEqual([0, 0]);
  expect(project.takeCalls()).toEqual(FROM_NOTHING);
  expect([fs.readdirSync(project.bin).sort(), fs.readdirSync(project.versions)]).toEqual([CLI, ["3.255.0"]]);
  expect(await project.setUp()).toEqual({ status: 0, output: "" });
  expect(project.takeCalls()).toEqual([]);
});

test("what only the tests need is installed for the tests only, and once", async () => {
  project.write(
    "test/integration/package-lock.json",
    `{"packages":{"node_modules/express":{"version":"5.0.0"}}}`,
  );
  await project.setUp();
  expect(project.takeCalls()).toEqual(FROM_NOTHING);
  await project.setUp({ purpose: "test" });
  expect(project.takeCalls()).toEqual([INSTALL, ...UNPACK_REDIS]);
  await project.setUp({ purpose: "test" });
  expect(project.takeCalls()).toEqual([]);
});

const lockFile =
  (version: string, more: object = {}) =>
  () =>
    project.write(
      "package-lock.json",
      JSON.stringify({ packages: { "node_modules/pulumi": { version }, ...more } }),
    );
const elsewhere = { "node_modules/elsewhere": { version: "1.0.0", optional: true } };

test.each<[string, () => void, string[]]>([
  ["the lock file has another version", lockFile("3.256.0"), [INSTALL, "tsc"]],
  ["npm left a package of another platform out", lockFile("3.255.0", elsewhere), ["tsc"]],
  ["a source is gone", () => fs.rmSync(inRoot("src/old.ts")), ["tsc"]],
  ["a file of the build is gone", () => fs.rmSync(inRoot("dist/index.js")), ["tsc"]],
])("set-up repeats what is out of date when %s", async (_what, change, calls) => {
  project.write("src/old.ts", "");
  await project.setUp({ purpose: "check" });
  project.takeCalls();
  change();
  await project.setUp({ purpose: "check" });
  expect(project.takeCalls()).toEqual(calls);
  const old = fs.existsSync(inRoot("src/old.ts")) ? ["old.d.ts"] : [];
  const index = ["index.d.mts", "index.d.ts", "index.js", "index.mjs"];
  expect(fs.readdirSync(inRoot("dist"))).toEqual(["cli", ...index, ...old, PLUGIN]);
});

const builds = ["the official download: ", "a build from Go modules: ", "Do one of these"];
test.each<[string, Record<string, string>, string[]]>([
  ["npm", { FAKE_NPM: "fail" }, ["the dependencies could not be installed", "npm error code E503"]],
  ["the compiler", { FAKE_TSC: "fail" }, ["src/index.ts(1,1): error TS1005"]],
  ["Go", { FAKE_GO: "fail" }, [...builds, "pulumi: fetch failed", "go: module lookup disabled"]],
])(
  "set-up ends with what %s printed when that fails, and leaves nothing half done",
  async (_what, env, said) => {
    const { status, output } = await project.setUp({ env });
    expect(status).toBe(1);
    for (const text of said) expect(output).toContain(text);
    expect(fs.existsSync(project.versions) ? fs.readdirSync(project.versions) : []).toEqual([]);
  },
);

test("a failed build keeps the previous one", async () => {
  await project.setUp({ purpose: "check" });
  expect((await project.setUp({ purpose: "build", env: { FAKE_TSC: "fail" } })).status).toBe(1);
  expect(fs.existsSync(inRoot("dist/index.js"))).toBe(true);
});

describe("the CLI", () => {
  const onPath = (version: string, others = CLI.slice(1)) => {
    project.command("pulumi", `console.log("v${version}")`);
    for (const name of others) project.command(name, "");
  };

  test.each<[string, () => void, boolean]>([
    ["recent and complete: it is used", () => onPath("3.260.1"), true],
    ["older than the SDK: it is ignored", () => onPath("3.99.0"), false],
    ["unable to run programs in Node: it is ignored", () => onPath("3.260.1", []), false],
    [
      "the launcher that npm puts there: it is ignored",
      () => {
        onPath("3.260.1");
        fs.mkdirSync(inRoot("commands/node_modules"));
        fs.renameSync(inRoot("commands/pulumi"), inRoot("commands/node_modules/run.js"));
        fs.symlinkSync("node_modules/run.js", inRoot("commands/pulumi"));
      },
      false,
    ],
  ])("the Pulumi CLI on PATH is %s", async (_what, put, isUsed) => {
    put();
    expect((await project.setUp()).status).toBe(0);
    expect(project.takeCalls()).toEqual(isUsed ? [INSTALL, "tsc"] : FROM_NOTHING);
  });

  test("set-up takes the official Pulumi CLI if its download succeeds in time, and kills the download otherwise", async () => {
    const slow = await project.setUp({ env: { FAKE_LAUNCHER: "hang", SETUP_DOWNLOAD_SECONDS: "1" } });
    expect(slow.status).toBe(0);
    await until(() => !project.isBusy());
    expect(fs.readFileSync(join(project.bin, "pulumi"), "utf8")).toBe("built");
    fs.rmSync(project.versions, { recursive: true });
    await project.setUp({ env: { FAKE_LAUNCHER: "work" } });
    expect(fs.readFileSync(join(project.bin, "pulumi"), "utf8")).toBe("official");
    expect(fs.readdirSync(project.bin)).toContain("pulumi-watch");
  });
});

describe("Redis", () => {
  const purpose = "test";

  test.each([{}, { FAKE_LISTS: "own" }])(
    "Redis is unpacked with its libraries, and runs with them: %j",
    async (env) => {
      await project.setUp({ purpose, env });
      const update = "FAKE_LISTS" in env ? ["apt-get update"] : [];
      expect(project.takeCalls()).toEqual([...FROM_NOTHING, ...update, ...UNPACK_REDIS]);
      const { stdout } = spawnSync(inRoot(".cache/redis/redis-server"), ["--version"], { encoding: "utf8" });
      expect(stdout).toContain(inRoot(".cache/redis/usr/lib/some-linux-gnu"));
    },
  );

  test("a Redis on PATH is used", async () => {
    project.command("redis-server", "");
    await project.setUp({ purpose });
    expect(project.takeCalls()).toEqual(FROM_NOTHING);
  });

  test.each([
    { env: { FAKE_DOWNLOAD: "fail" }, missing: [], said: "Failed to fetch" },
    { env: {}, missing: ["apt-cache", "apt-get"], said: "apt-get is not on PATH" },
  ])(
    "set-up succeeds without Redis and Python, and says how to get them ($said)",
    async ({ env, missing, said }) => {
      for (const name of missing) fs.rmSync(inRoot("commands", name));
      const { status, output } = await project.setUp({ purpose, env });
      expect(status).toBe(0);
      expect(output).toContain(
        `The tests with Redis will fail: ${said}. To fix this, put a redis-server on PATH`,
      );
      expect(output).toContain(
        "The tests with SQS will fail: python3 is not on PATH. To fix this, install Python 3",
      );
      expect(fs.readdirSync(inRoot(".cache")).filter((name) => /redis|moto/.test(name))).toEqual([]);
    },
  );
});

describe("killed half-way", () => {
  const steps = [
    { step: "npm ci", env: { FAKE_NPM: "hang" }, again: FROM_NOTHING },
    { step: "the build", env: { FAKE_TSC: "hang" }, again: FROM_NOTHING.slice(1) },
    { step: "the download", env: { FAKE_LAUNCHER: "hang" }, again: FROM_NOTHING.slice(2) },
    { step: "the Go build", env: { FAKE_GO: "hang" }, again: FROM_NOTHING.slice(2) },
    { step: "the unpacking of Redis", env: { FAKE_UNPACK: "hang" }, again: [] },
  ];
  const purpose = "test";

  test.each(steps)(
    "Ctrl-C during $step ends that too, and leaves no stage behind; after SIGKILL, two set-ups do the rest once",
    async ({ env, again }) => {
      const interrupted = project.start({ purpose, env });
      const child = await project.hanging();
      interrupted.kill("SIGINT");
      expect((await interrupted.ended).status).toBe(130);
      await until(() => !isAlive(child));
      const versions = fs.existsSync(project.versions) ? fs.readdirSync(project.versions) : [];
      expect(versions).toEqual(again.length === 0 ? ["3.255.0"] : []);
      expect(fs.existsSync(inRoot(".cache/redis-stage"))).toBe(false);

      const killed = project.start({ purpose, env });
      await project.hanging();
      killed.kill("SIGKILL");
      await killed.ended;
      project.takeCalls();
      const runs = await Promise.all([project.setUp({ purpose }), project.setUp({ purpose })]);
      expect(runs.map(({ status }) => status)).toEqual([0, 0]);
      expect(project.takeCalls()).toEqual([...again, ...UNPACK_REDIS]);
      expect(fs.readdirSync(project.versions)).toEqual(["3.255.0"]);
      expect(fs.readFileSync(join(project.bin, "pulumi"), "utf8")).toBe("built");
    },
  );
});

test("set-up takes over a stale lock whose process number another process has", async () => {
  project.write(".cache/build.lock", `${process.pid} somebody`);
  const hourAgo = Date.now() / 1000 - 3600;
  fs.utimesSync(inRoot(".cache/build.lock"), hourAgo, hourAgo);
  expect((await project.setUp()).status).toBe(0);
  expect(fs.existsSync(inRoot(".cache/build.lock"))).toBe(false);
});

test("set-up refuses an old Node and an unknown purpose before it runs anything", async () => {
  expect((await project.setUp({ purpose: "nothing" })).output).toContain(
    "demo|fast|test|bench|check|durability|rehearse|build",
  );
  project.write("package.json", `{"engines":{"node":">=99.1.0"},"devDependencies":{}}`);
  const { status, output } = await project.setUp();
  expect(status).toBe(1);
  expect(output).toContain(`Node ${process.versions.node} is too old: Node 99.1.0 or later is needed`);
  expect(project.takeCalls()).toEqual([]);
});
