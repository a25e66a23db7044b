import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { isAlive, makeProject, type Project, until } from "./project";

const PLUGIN = "pulumi-resource-webhooks.js";
const INSTALL = "npm ci --include=dev";
const GO_BUILD = ["go build pulumi-language-nodejs", "go build pulumi"];
const FROM_NOTHING = [INSTALL, "tsc", "launcher", ...GO_BUILD];
const UNPACK_REDIS = [
  "apt-get download redis-server redis-tools liblzf1",
  "unpack liblzf1",
  "unpack redis-server",
  "unpack redis-tools",
];
const CLI = ["pulumi", "pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"];

let project: Project;
beforeEach(() => {
  project = makeProject();
});
afterEach(() => {
  project.remove();
});

test("set-up installs, builds and gets the CLI; a second run starts no command and prints nothing", async () => {
  const first = await project.setUp();
  expect(first.status).toBe(0);
  expect(project.takeCalls()).toEqual(FROM_NOTHING);
  expect(readdirSync(project.bin).sort()).toEqual(CLI);
  expect(readdirSync(join(project.pulumiHome, "versions"))).toEqual(["3.255.0"]);

  expect(await project.setUp()).toEqual({ status: 0, output: "" });
  expect(project.takeCalls()).toEqual([]);
});

test("two set-ups at once do the work once", async () => {
  const runs = await Promise.all([project.setUp(), project.setUp()]);
  expect(runs.map((run) => run.status)).toEqual([0, 0]);
  expect(project.takeCalls()).toEqual(FROM_NOTHING);
});

describe("dependencies", () => {
  test("the dependencies are installed again when the lock file changed", async () => {
    await project.setUp();
    project.takeCalls();
    project.write("package-lock.json", `{"packages":{"node_modules/pulumi":{"version":"3.256.0"}}}`);
    await project.setUp();
    expect(project.takeCalls()).toContain(INSTALL);
  });

  test("packages that npm left out because they are for other platforms do not count as missing", async () => {
    await project.setUp();
    project.takeCalls();
    const lock = JSON.parse(readFileSync(join(project.root, "package-lock.json"), "utf8"));
    lock.packages["node_modules/for-other-platforms"] = { version: "1.0.0", optional: true };
    project.write("package-lock.json", JSON.stringify(lock));
    await project.setUp();
    expect(project.takeCalls()).not.toContain(INSTALL);
  });

  test("the dependencies of a folder that only tests need are installed for the tests only, and once", async () => {
    project.write(
      "test/frameworks/package-lock.json",
      `{"packages":{"node_modules/express":{"version":"5.0.0"}}}`,
    );
    await project.setUp();
    expect(existsSync(join(project.root, "test/frameworks/node_modules"))).toBe(false);
    project.takeCalls();

    await project.setUp({ purpose: "test" });
    expect(project.takeCalls()).toEqual([INSTALL, ...UNPACK_REDIS]);
    expect(existsSync(join(project.root, "test/frameworks/node_modules"))).toBe(true);
    await project.setUp({ purpose: "test" });
    expect(project.takeCalls()).toEqual([]);
  });

  test("a failed install shows what npm printed", async () => {
    const { status, output } = await project.setUp({ env: { FAKE_NPM: "fail" } });
    expect(status).toBe(1);
    expect(output).toContain("the dependencies could not be installed");
    expect(output).toContain("npm error code E503");
  });
});

describe("the build", () => {
  test("the build is repeated when a source changed, and keeps no file whose source is gone", async () => {
    project.write("src/old.ts", "");
    await project.setUp({ purpose: "check" });
    expect(readdirSync(join(project.root, "dist"))).toEqual(["index.js", "old.js", PLUGIN]);
    project.takeCalls();

    rmSync(join(project.root, "src/old.ts"));
    await project.setUp({ purpose: "check" });
    expect(project.takeCalls()).toEqual(["tsc"]);
    expect(readdirSync(join(project.root, "dist"))).toEqual(["index.js", PLUGIN]);
  });

  test("the build is repeated when one of its files is missing, and on request", async () => {
    await project.setUp({ purpose: "check" });
    rmSync(join(project.root, "dist/index.js"));
    project.takeCalls();
    await project.setUp({ purpose: "check" });
    await project.setUp({ purpose: "build" });
    expect(project.takeCalls()).toEqual(["tsc", "tsc"]);
  });

  test("a failed build shows what the compiler printed, and keeps the previous build", async () => {
    await project.setUp({ purpose: "check" });
    const { status, output } = await project.setUp({ purpose: "build", env: { FAKE_TSC: "fail" } });
    expect(status).toBe(1);
    expect(output).toContain("src/index.ts(1,1): error TS1005");
    expect(existsSync(join(project.root, "dist/index.js"))).toBe(true);
  });
});

describe("the CLI", () => {
  const fakePulumi = (version: string) => {
    project.writeCommand("pulumi", `console.log("v${version}")`);
    project.writeCommand("pulumi-language-nodejs", "");
    project.writeCommand("pulumi-resource-pulumi-nodejs", "");
  };

  test("a CLI on PATH is used when it is recent and complete", async () => {
    fakePulumi("3.260.1");
    expect((await project.setUp()).status).toBe(0);
    expect(project.takeCalls()).toEqual([INSTALL, "tsc"]);
  });

  test("a CLI on PATH is ignored when it is older than the SDK", async () => {
    fakePulumi("3.99.0");
    await project.setUp();
    expect(project.takeCalls()).toEqual(FROM_NOTHING);
  });

  test("a CLI on PATH is ignored when it cannot run programs in Node", async () => {
    project.writeCommand("pulumi", `console.log("v3.260.1")`);
    await project.setUp();
    expect(project.takeCalls()).toEqual(FROM_NOTHING);
  });

  test("a CLI on PATH is ignored when it is the launcher that npm puts there", async () => {
    fakePulumi("3.260.1");
    const bin = join(project.root, "commands");
    mkdirSync(join(bin, "node_modules"));
    renameSync(join(bin, "pulumi"), join(bin, "node_modules/run.js"));
    symlinkSync("node_modules/run.js", join(bin, "pulumi"));
    await project.setUp();
    expect(project.takeCalls()).toEqual(FROM_NOTHING);
  });

  test("the CLI comes from the official download when that succeeds", async () => {
    expect((await project.setUp({ env: { FAKE_LAUNCHER: "work" } })).status).toBe(0);
    expect(project.takeCalls()).toEqual([INSTALL, "tsc", "launcher"]);
    expect(readFileSync(join(project.bin, "pulumi"), "utf8")).toBe("official");
    expect(readdirSync(project.bin)).toContain("pulumi-watch");
  });

  test("the CLI is built when the download takes too long, and the download is killed with its children", async () => {
    const setUp = project.startSetUp({ env: { FAKE_LAUNCHER: "hang", SETUP_DOWNLOAD_SECONDS: "1" } });
    const child = await project.hanging();
    expect((await setUp.ended).status).toBe(0);
    await until(() => !isAlive(child));
    expect(readFileSync(join(project.bin, "pulumi"), "utf8")).toBe("built");
  });

  test("a CLI that lacks only the SDK's script gets it", async () => {
    await project.setUp();
    rmSync(join(project.bin, "pulumi-resource-pulumi-nodejs"));
    project.takeCalls();
    expect(await project.setUp()).toEqual({ status: 0, output: "" });
    expect(project.takeCalls()).toEqual([]);
    expect(readdirSync(project.bin).sort()).toEqual(CLI);
  });

  test("a CLI that cannot be installed gives one error, with every reason and every remedy", async () => {
    rmSync(join(project.root, "commands/go"));
    const { status, output } = await project.setUp();
    expect(status).toBe(1);
    expect(output).toContain("the official download: pulumi: fetch failed");
    expect(output).toContain("a build from Go modules: go is not on PATH");
    expect(output).toContain("Do one of these, and run the command again:");
    expect(existsSync(join(project.bin, "pulumi"))).toBe(false);
  });

  test("a failed build of the CLI shows what Go printed, and leaves nothing behind", async () => {
    const { status, output } = await project.setUp({ env: { FAKE_GO: "fail" } });
    expect(status).toBe(1);
    expect(output).toContain("go: module lookup disabled");
    expect(readdirSync(join(project.pulumiHome, "versions"))).toEqual([]);
  });
});

describe("Redis", () => {
  const purpose = "test";
  const redis = () => join(project.root, ".cache/redis/redis-server");
  const cached = () => readdirSync(join(project.root, ".cache")).filter((name) => name.startsWith("redis"));

  test("Redis is unpacked for the tests with its libraries, except the C library, and runs with them", async () => {
    await project.setUp({ purpose });
    const { stdout } = spawnSync(redis(), ["--version"], { encoding: "utf8" });
    expect(stdout).toContain(join(project.root, ".cache/redis/usr/lib/some-linux-gnu"));
    expect(cached()).toEqual(["redis"]);
  });

  test("a Redis on PATH is used", async () => {
    project.writeCommand("redis-server", "");
    await project.setUp({ purpose });
    expect(project.takeCalls()).toEqual(FROM_NOTHING);
  });

  test("Redis is found with set-up's own package lists when the system has none", async () => {
    await project.setUp({ purpose, env: { FAKE_LISTS: "own" } });
    expect(project.takeCalls()).toEqual([...FROM_NOTHING, "apt-get update", ...UNPACK_REDIS]);
    expect(existsSync(redis())).toBe(true);
  });

  test.each([
    { without: "a network", env: { FAKE_DOWNLOAD: "fail" }, said: "Failed to fetch" },
    { without: "apt-get", missing: ["apt-cache", "apt-get"], env: {}, said: "apt-get is not on PATH" },
  ])("set-up succeeds without $without, and says how to get Redis", async ({ missing = [], env, said }) => {
    for (const name of missing) rmSync(join(project.root, "commands", name));
    const { status, output } = await project.setUp({ purpose, env });
    expect(status).toBe(0);
    expect(output).toContain(`The tests with Redis will fail: ${said}`);
    expect(output).toContain("put a redis-server on PATH");
    expect(cached()).toEqual([]);
  });
});

describe("moto", () => {
  const moto = () => join(project.root, ".cache/moto");

  test("set-up succeeds without Python, and says how to get moto", async () => {
    const { status, output } = await project.setUp({ purpose: "test" });
    expect(status).toBe(0);
    expect(output).toContain("The tests with SQS will fail: python3 is not on PATH");
    expect(output).toContain("install Python 3 with the module venv");
    expect(existsSync(moto())).toBe(false);
  });

  test("moto is installed below the cache, once", async () => {
    // As `python3 -m venv <folder>` does: a folder with a Python of its own, here one that does nothing.
    project.writeCommand(
      "python3",
      `const fs = require("node:fs"); const bin = process.argv[4] + "/bin";
       fs.mkdirSync(bin, { recursive: true });
       fs.writeFileSync(bin + "/python", "#!" + process.execPath, { mode: 0o755 });`,
    );
    const first = await project.setUp({ purpose: "test" });
    expect(first.output).toContain("Installing moto");
    expect(existsSync(join(moto(), "installed.json"))).toBe(true);
    expect((await project.setUp({ purpose: "test" })).output).not.toContain("moto");
  });
});

describe("killed half-way", () => {
  const steps = [
    { step: "npm ci", env: { FAKE_NPM: "hang" }, again: FROM_NOTHING },
    { step: "the build", env: { FAKE_TSC: "hang" }, again: ["tsc", "launcher", ...GO_BUILD] },
    { step: "the download", env: { FAKE_LAUNCHER: "hang" }, again: ["launcher", ...GO_BUILD] },
    { step: "the Go build", env: { FAKE_GO: "hang" }, again: ["launcher", ...GO_BUILD] },
    { step: "the download of Redis", env: { FAKE_DOWNLOAD: "hang" }, again: UNPACK_REDIS },
    { step: "the unpacking of Redis", env: { FAKE_UNPACK: "hang" }, again: UNPACK_REDIS },
  ];
  const purpose = "test";
  const stage = () => join(project.root, ".cache/redis-stage");
  const withRedis = (calls: readonly string[]) => [...new Set([...calls, ...UNPACK_REDIS])];

  test.each(steps)(
    "Ctrl-C during $step ends that too, and the next set-up starts clean",
    async ({ env, again }) => {
      const setUp = project.startSetUp({ purpose, env });
      const child = await project.hanging();
      setUp.kill("SIGINT");
      expect((await setUp.ended).status).toBe(130);
      await until(() => !isAlive(child));
      const versions = join(project.pulumiHome, "versions");
      expect(existsSync(versions) ? readdirSync(versions) : []).toEqual(
        again === UNPACK_REDIS ? ["3.255.0"] : [],
      );
      expect(existsSync(stage())).toBe(false);

      project.takeCalls();
      expect((await project.setUp({ purpose })).status).toBe(0);
      expect(project.takeCalls()).toEqual(withRedis(again));
      expect(readdirSync(project.bin).sort()).toEqual(CLI);
    },
  );

  test.each(steps)(
    "after SIGKILL during $step, the next two set-ups at once start clean, and do the work once",
    async ({ env, again }) => {
      const setUp = project.startSetUp({ purpose, env });
      await project.hanging();
      setUp.kill("SIGKILL");
      await setUp.ended;

      project.takeCalls();
      const runs = await Promise.all([project.setUp({ purpose }), project.setUp({ purpose })]);
      expect(runs.map((run) => run.status)).toEqual([0, 0]);
      expect(project.takeCalls()).toEqual(withRedis(again));
      expect(readdirSync(join(project.pulumiHome, "versions"))).toEqual(["3.255.0"]);
      expect(readFileSync(join(project.bin, "pulumi"), "utf8")).toBe("built");
    },
  );
});

test("an `npm ci` that was killed over an older installation is not mistaken for that one", async () => {
  await project.setUp();
  const lock = readFileSync(join(project.root, "package-lock.json"), "utf8");
  project.write("package-lock.json", lock.replace("3.255.0", "3.256.0"));
  const setUp = project.startSetUp({ env: { FAKE_NPM: "hang" } });
  await project.hanging();
  setUp.kill("SIGTERM");
  await setUp.ended;

  project.write("package-lock.json", lock);
  project.takeCalls();
  await project.setUp();
  expect(project.takeCalls()).toContain(INSTALL);
});

test("a lock is taken over when its process number belongs to another process", async () => {
  const lock = join(project.root, ".cache/build.lock");
  project.write(".cache/build.lock", `${process.pid} somebody`);
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(lock, hourAgo, hourAgo);
  expect((await project.setUp()).status).toBe(0);
  expect(existsSync(lock)).toBe(false);
});

test("set-up refuses a Node that is too old before it runs anything", async () => {
  project.write("package.json", `{"engines":{"node":">=99.1.0"},"devDependencies":{}}`);
  const { status, output } = await project.setUp();
  expect(status).toBe(1);
  expect(output).toContain(`Node ${process.versions.node} is too old: Node 99.1.0 or later is needed`);
  expect(project.takeCalls()).toEqual([]);
});

test("set-up lists the known purposes when it is given an unknown one", async () => {
  const { status, output } = await project.setUp({ purpose: "nothing" });
  expect(status).toBe(1);
  expect(output).toContain("demo|test|bench|check|mutate|durability|build");
});
