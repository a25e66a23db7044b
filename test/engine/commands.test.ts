import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import * as ts from "typescript";
import { type Emulator, startEmulator } from "../../src/emulator";
import { NativeProject } from "./nativeProject";
import { Project } from "./project";

jest.setTimeout(300_000);

const command = join(__dirname, "../../dist/cli/main.js");
const API_KEY = "k3y-that-no-output-may-show";
const DAY_MS = 86_400_000;

/** How far the service's clock is behind, so that endpoints can be old. */
let behindMs = 0;
let emulator: Emulator;
let project: Project;
/** Everything that the commands printed. */
let transcript: string;

beforeEach(async () => {
  behindMs = 0;
  transcript = "";
  emulator = await startEmulator({ apiKey: API_KEY, now: () => Date.now() - behindMs });
});
afterEach(async () => {
  project.dispose();
  for (const secret of [API_KEY, ...emulator.secrets()]) expect(transcript).not.toContain(secret);
  await emulator.close();
});

const settings = () => ({
  "webhooks:baseUrl": emulator.url,
  "webhooks:apiKey": API_KEY,
  "webhooks:timeoutSeconds": "5",
});
const at = (path: string, type: "production" | "development" = "production") => ({
  url: `https://hooks.example.com/${path}`,
  type,
});
const changes = () => emulator.requests.filter(({ method }) => method !== "GET");
const ids = () => emulator.endpoints().map(({ id }) => id);

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = project.folder,
): Promise<Ended> {
  const child = spawn(process.execPath, [command, ...args], {
    cwd,
    env: { ...project.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [exitCode, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  transcript += stdout + stderr;
  return { exitCode, stdout, stderr };
}

/** Runs a command that must succeed, and parses what it printed. */
async function json(...args: string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await run([...args, "--json"]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return JSON.parse(stdout);
}

/** Makes another stack with the same settings, and selects it. */
async function newStack(name: string): Promise<void> {
  await project.succeed("stack", "init", name);
  for (const [key, value] of Object.entries(settings())) await project.setConfig(key, value);
}

test("list shows the owner of each endpoint in every stack of the project, and adopt and one up manage the orphans", async () => {
  project = new Project({ config: settings() });
  project.declare({ jobs: at("jobs"), sandbox: at("sandbox", "development") });
  await project.up();
  const [jobs, sandbox] = ["jobs", "sandbox"].map(
    (path) => emulator.endpoints().find(({ url }) => url.endsWith(path))?.id,
  );
  await newStack("prod");
  project.declare({ live: at("live") });
  await project.up();
  const live = emulator.endpoints().find(({ url }) => url.endsWith("live"))?.id;
  const byHand = [
    emulator.add(at(`by-hand?quote="'\`\${x}\\`)),
    emulator.add(at("by-hand", "development")),
    emulator.add({ url: "https://hooks.example.com/not%20a//path;,+", type: "production" }),
  ].map(({ id }) => id);
  const hand = (n: number) => byHand[n] ?? "";

  const listed = (await json("list")) as { id: string; owner: { urn: string } | null }[];
  expect(Object.fromEntries(listed.map(({ id, owner }) => [id, owner?.urn ?? owner]))).toEqual({
    [jobs ?? ""]: project.urn("jobs"),
    [sandbox ?? ""]: project.urn("sandbox"),
    [live ?? ""]: project.urn("live").replace(":dev::", ":prod::"),
    [hand(0)]: null,
    [hand(1)]: null,
    [hand(2)]: null,
  });
  const orphans = (await json("list", "--orphans", "--stack", "dev")) as { id: string }[];
  expect(orphans.map(({ id }) => id)).toEqual(byHand);
  expect((await run(["list"])).stdout).toMatch(/^ID +TYPE +AGE +URL +MANAGED BY\n/);

  const refused = await run(["adopt", jobs ?? ""]);
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toMatch(/^error: \S+ is already managed: jobs in test\/dev .*\(NOT_ADOPTABLE\)\n$/);

  // The first one's url cannot be declared, so the others are adopted and the first one is named.
  const { exitCode, stdout, stderr } = await run(["adopt"]);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(new RegExp(`error: ${byHand[0]} cannot be declared: .*\\(NOT_ADOPTABLE\\)\n$`));
  project.write("adopted.js", ts.transpile(stdout, { module: ts.ModuleKind.CommonJS }));
  project.program('new WebhookEndpoint("live", require("./live.json"));\nrequire("./adopted.js");\n');
  project.write("live.json", JSON.stringify(at("live")));
  emulator.clearRequests();
  expect(await project.up()).toMatch(/\+ 2 created/);
  expect(changes()).toEqual([]);
  const left = (await json("list", "--orphans")) as { id: string }[];
  expect(left.map(({ id }) => id)).toEqual([byHand[0]]);

  // Another project in the same backend.
  const { PULUMI_BACKEND_URL = "" } = project.env;
  const other = new Project({ config: settings(), env: { PULUMI_BACKEND_URL } });
  try {
    other.write("Pulumi.yaml", "name: other\nruntime: nodejs\nmain: index.js\n");
    other.declare({ elsewhere: at("elsewhere") });
    await other.up();
  } finally {
    other.dispose();
  }
  expect((await run(["list"])).stdout).toMatch(/ elsewhere in other\/dev$/m);
  expect((await run(["list", "--project-only"])).stdout).toMatch(/ no stack of this project$/m);
  const elsewhere = emulator.endpoints().find(({ url }) => url.endsWith("elsewhere"))?.id ?? "";
  expect((await run(["get", elsewhere])).stdout).toMatch(/^managed by: elsewhere in other\/dev$/m);
  const kept = await run(["delete", elsewhere, "--yes"]);
  expect(kept).toMatchObject({ exitCode: 1, stdout: "" });
  expect(kept.stderr).toMatch(/elsewhere in other\/dev manages it .*\(NOT_DELETABLE\)$/m);
  expect(await json("list", "--orphans")).toMatchObject([{ id: byHand[0] }]);
  // The command's standard input is empty here.
  const piped = await json("delete", "--yes", "-", byHand[0] ?? "");
  expect(piped).toMatchObject({ deleted: [{ id: byHand[0] }] });
  expect(await json("list", "--orphans")).toEqual([]);
});

test("adopt --native writes an import file; the import and the next up send nothing that changes the service", async () => {
  const native = new NativeProject({ config: settings() });
  project = native;
  await project.pulumi("stack", "ls");
  const byHand = [emulator.add(at("a")), emulator.add(at("b", "development"))];
  const { exitCode, stdout } = await run(["adopt", "--native", ...byHand.map(({ id }) => id)]);
  expect(exitCode).toBe(0);
  project.write("adopted.json", stdout);
  emulator.clearRequests();
  const importing = "import --file adopted.json --yes --skip-preview --protect=false --generate-code=false";
  await project.succeed(...importing.split(" "));
  const names: string[] = JSON.parse(stdout).resources.map(({ name }: { name: string }) => name);
  native.endpointsInYaml(
    Object.fromEntries(byHand.map(({ url, type }, index) => [names[index] ?? "", { url, type }])),
  );
  expect(await project.up()).toMatch(/unchanged/);
  expect(changes()).toEqual([]);
  expect(await json("list", "--orphans")).toEqual([]);
});

test("prune deletes what a lost stack left, and never what is managed, young, of the other type or of unknown owner", async () => {
  project = new Project({ config: settings() });
  behindMs = 10 * DAY_MS;
  project.declare({ kept: at("kept", "development") });
  await project.up();
  const kept = ids();
  await newStack("pr-7");
  project.declare({ lost: at("lost", "development") });
  await project.up();
  const lost = ids().filter((id) => !kept.includes(id));
  const production = emulator.add(at("by-hand")).id;
  // As after a pipeline that was killed: nobody has the state any more.
  await project.succeed("stack", "rm", "pr-7", "--force", "--yes");
  await project.succeed("stack", "select", "dev");
  behindMs = 0;
  const young = emulator.add(at("young", "development")).id;
  emulator.clearRequests();

  const shown = await run(["prune", "--older-than", "7d"]);
  expect(shown.exitCode).toBe(0);
  expect(shown.stdout).toContain(lost[0] ?? "none");
  expect(shown.stderr).toMatch(/Nothing was deleted.*--yes/);
  expect(changes()).toEqual([]);

  await newStack("broken");
  await project.succeed("stack", "select", "dev");
  const checkpoint = join(project.folder, "backend/.pulumi/stacks/test/broken.json");
  writeFileSync(checkpoint, "{");
  const refused = await run(["prune", "--older-than", "7d", "--yes"]);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(/^error: .*cannot be read.*\(OWNERSHIP_UNKNOWN\)$/m);
  const listed = await run(["list"]);
  expect(listed.exitCode).toBe(0);
  expect(listed.stderr).toMatch(/warning: cannot read .*\n.*may be incomplete/);
  expect((await run(["list", "--orphans"])).exitCode).toBe(1);
  expect(changes()).toEqual([]);
  for (const name of readdirSync(join(checkpoint, "..")))
    if (name.startsWith("broken")) rmSync(join(checkpoint, "..", name));

  expect(await json("prune", "--older-than", "7d", "--yes")).toMatchObject({
    deleted: [{ id: lost[0] }],
    kept: [
      { id: production, reason: "other-type" },
      { id: young, reason: "younger" },
    ],
  });
  expect(ids().sort()).toEqual([...kept, production, young].sort());
  emulator.clearRequests();
  expect(await json("prune", "--older-than", "1w", "--type", "production", "--yes")).toMatchObject({
    deleted: [{ id: production }],
  });
  project.declare({ kept: at("kept", "development") });
  await project.preview("--expect-no-changes");
});

test("doctor names an interrupted registration, and prune keeps the endpoint that it may have created", async () => {
  project = new Project({ config: settings() });
  await project.pulumi("stack", "ls");
  project.declare({ lost: at("lost", "development") });
  behindMs = DAY_MS;
  emulator.fault({ operation: "register", kind: "hang-after" });
  const args = ["up", "--yes", "--skip-preview", "--non-interactive"];
  const child = spawn("pulumi", args, { cwd: project.folder, env: project.env, stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("close", resolve));
  while (ids().length === 0 && child.exitCode === null) await sleep(5);
  child.kill("SIGINT");
  // The CLI would take two signals that arrive together for one.
  await sleep(500);
  child.kill("SIGINT");
  await ended;
  behindMs = 0;
  const [id = ""] = ids();

  const { exitCode, stdout } = await run(["doctor"]);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(
    /^error: .*registered lost in test\/dev \(REGISTRATION_INTERRUPTED\)\n.*recover --stack dev/m,
  );
  const pruned = await json("prune", "--older-than", "1h", "--yes");
  expect(pruned).toMatchObject({ deleted: [], kept: [{ id, reason: "pending-registration" }] });
  await project.up();
  expect((await project.endpoints()).lost).toMatchObject({ id });
  expect(await json("list", "--orphans")).toEqual([]);
});

test("doctor finds nothing wrong with a healthy stack, and names each problem with its remedy", async () => {
  project = new Project({ config: settings() });
  project.declare({ jobs: at("jobs") });
  await project.up();
  const healthy = await run(["doctor", "--json"]);
  const { service, settings: found, versions, findings } = JSON.parse(healthy.stdout);
  expect(healthy).toMatchObject({ exitCode: 0, stderr: "" });
  expect(service).toMatchObject({ reachable: true, keyAccepted: true, endpoints: 1 });
  expect(found).toMatchObject({
    baseUrl: { value: emulator.url, from: "stack", name: "webhooks:baseUrl" },
    apiKey: { value: null, from: "stack", fingerprint: (await project.endpoints()).jobs?.outputs?.account },
    apiKeyHeader: { value: "X-Api-Key", from: "default", name: null },
  });
  expect(versions).toEqual({
    package: expect.any(String),
    node: process.versions.node,
    pulumi: expect.stringMatching(/^3\./),
    sdk: expect.stringMatching(/^3\./),
  });
  expect(findings).toMatchObject([{ level: "note", code: "RECEIVER_OUTPUT_MISSING" }]);

  emulator.add(at("jobs"));
  const twice = await run(["doctor"]);
  expect(twice.exitCode).toBe(1);
  expect(twice.stdout).toMatch(/^error: .*delivered twice \(DUPLICATE\)\n +\S/m);
  expect(twice.stdout).not.toContain("UNMANAGED");

  emulator.rotateKey(API_KEY, "another-key");
  await project.setConfig("webhooks:apiKey", "another-key");
  const rotated = JSON.parse((await run(["doctor", "--json"])).stdout);
  expect(rotated.findings).toContainEqual(expect.objectContaining({ level: "note", code: "OTHER_KEY" }));
  await project.setConfig("webhooks:apiKey", API_KEY);
  const refused = await run(["doctor", "--json"]);
  expect(refused.exitCode).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    service: { reachable: true, keyAccepted: false },
    findings: expect.arrayContaining([expect.objectContaining({ level: "error", code: "UNAUTHORIZED" })]),
    versions,
  });
});

test("a command refuses the selected stack of another project, because this folder has another one's settings", async () => {
  project = new Project({ config: settings() });
  const other = join(project.folder, "other");
  mkdirSync(other);
  writeFileSync(join(other, "Pulumi.yaml"), "name: other\nruntime: yaml\n");
  await project.succeed("stack", "init", "dev", "--cwd", other);
  expect((await run(["list"])).exitCode).toBe(0);
  await project.succeed("stack", "select", "organization/other/dev");
  for (const args of [["list"], ["doctor"], ["recover", "--yes"], ["prune", "--older-than", "1s", "--yes"]]) {
    const { exitCode, stderr } = await run(args);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /organization\/other\/dev is of another project.*pulumi stack select.*\(WRONG_USE\)\n$/,
      ),
    ]);
  }
  expect((await run(["list"], {}, other)).stderr).not.toContain("WRONG_USE");
  // Pulumi notes a selection under the path that the shell has.
  const PWD = `${project.folder}-linked`;
  symlinkSync(project.folder, PWD);
  try {
    await project.succeed("stack", "select", "dev");
    const env = { ...project.env, PWD };
    execFileSync("pulumi", ["stack", "select", "organization/other/dev"], { cwd: PWD, env, stdio: "ignore" });
    expect((await run(["list"], { PWD }, PWD)).stderr).toMatch(/\(WRONG_USE\)\n$/);
    expect((await run(["list"])).stderr).not.toContain("WRONG_USE");
  } finally {
    rmSync(PWD);
  }
});

test("nothing is deleted while the backend has what Pulumi leaves out of its list of stacks", async () => {
  project = new Project({ config: settings() });
  await project.succeed("stack", "ls");
  emulator.add(at("theirs"));
  const stacks = join(project.folder, "backend", ".pulumi", "stacks");
  const prune = () => run(["prune", "--older-than", "0s", "--yes"]);
  // As the folder of another user's project: nobody can list it, not even root.
  symlinkSync("billing", join(stacks, "billing"));
  expect((await prune()).stderr).toMatch(/the folder of the project billing .* \(OWNERSHIP_UNKNOWN\)\n$/);
  expect(await json("list")).toMatchObject([{ owner: { kind: "unknown" } }]);
  rmSync(join(stacks, "billing"));
  // Pulumi reads and writes the states in such a folder, and lists none of them.
  mkdirSync(join(project.folder, "elsewhere"));
  symlinkSync(join(project.folder, "elsewhere"), join(stacks, "billing"));
  expect((await prune()).stderr).toMatch(/the project billing .* symbolic link.* \(OWNERSHIP_UNKNOWN\)\n$/);
  rmSync(join(stacks, "billing"));
  writeFileSync(join(stacks, "old.json"), "{}");
  expect((await prune()).stderr).toMatch(/the stack old .*pulumi state upgrade.* \(OWNERSHIP_UNKNOWN\)\n$/);
  rmSync(join(stacks, "old.json"));
  expect(changes()).toEqual([]);
  expect((await prune()).exitCode).toBe(0);
});

test("each command answers wrong use and whatever is missing with one line, its code and exit status 1", async () => {
  project = new Project({ config: settings() });
  await project.pulumi("stack", "ls");
  const commands = [
    ["list"],
    ["adopt"],
    ["get", "wh_1"],
    ["delete", "wh_1", "--yes"],
    ["prune", "--older-than", "7d", "--yes"],
  ];
  const down = "http://127.0.0.1:1";
  const empty = mkdtempSync(join(tmpdir(), "commands-"));
  try {
    const expectRefusal = async (ending: Promise<Ended>, why: RegExp) => {
      const { exitCode, stdout, stderr } = await ending;
      expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(why);
      expect(stderr).toMatch(/^error: [^\n]*\n$/);
    };
    for (const args of commands)
      await expectRefusal(
        run([...args, "--stack", "nowhere"]),
        /no stack named 'nowhere' found \(PULUMI_FAILED\)/,
      );
    const of = (baseUrl: string, apiKey: string) => ({
      WEBHOOKS_BASE_URL: baseUrl,
      WEBHOOKS_API_KEY: apiKey,
    });
    // Each command opens the service in the same way.
    const noSettings = /WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY.*\(SETTINGS_INVALID\)/;
    await expectRefusal(run(["list", "--jsn"]), /unknown option '--jsn'.*\(WRONG_USE\)/);
    await expectRefusal(run(["adopt"], of("", ""), empty), noSettings);
    await expectRefusal(run(["get", "wh_1"], of(down, API_KEY), empty), /127\.0\.0\.1:1.*\(UNREACHABLE\)/);
    await expectRefusal(
      run(["delete", "wh_1", "--yes"], of(emulator.url, "wrong"), empty),
      /\(UNAUTHORIZED\)/,
    );
    const environment = of(emulator.url, API_KEY);
    const { id } = emulator.add(at("jobs", "development"));
    const listed = await run(["list", "--json"], environment, empty);
    expect(listed).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/No stack was looked into/) });
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id, owner: { kind: "unknown" } }]);
    const pruned = await run(["prune", "--older-than", "0s", "--yes"], environment, empty);
    expect(pruned.exitCode).toBe(1);
    expect(pruned.stderr).toMatch(/^error: .*\(OWNERSHIP_UNKNOWN\)$/m);
    expect(ids()).toEqual([id]);
  } finally {
    rmSync(empty, { recursive: true });
  }
});
