import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Finding } from "../../src/cli/commands/doctor/finding";
import { type Emulator, startEmulator } from "../../src/emulator";
import { type Backend, backend, interrupted, originAt, recorded, SECRET_URL } from "./backend";
import { API_KEY, makeFolder, run } from "./running";

const MINUTE_MS = 60_000;
const url = (name: string) => `https://hooks.example.com/${name}`;

let service: Emulator;
let folder: string;
beforeEach(async () => {
  let count = 0;
  service = await startEmulator({ apiKey: API_KEY, newId: () => `wh_${++count}` });
  folder = makeFolder({ ".pulumi/stacks/shop/dev.json": "{}" });
});
afterEach(() => service.close());

/** Locks the stack. @param pid default: that of a process that has ended */
function lock({
  host = hostname(),
  pid = spawnSync("true").pid,
  ageMs = 10 * MINUTE_MS,
  at = "organization/shop/dev",
}) {
  const path = join(folder, ".pulumi/locks", at, "5f0c2d1a.json");
  mkdirSync(dirname(path), { recursive: true });
  const timestamp = new Date(Date.now() - ageMs).toISOString();
  writeFileSync(path, JSON.stringify({ pid, username: "anna", hostname: host, timestamp }));
  return path;
}

/** Runs until the test file ends. */
const running: ChildProcess[] = [];
afterAll(() => {
  for (const each of running) each.kill();
});
function pulumiProcess(): number {
  const program = join(makeFolder({}), "pulumi");
  symlinkSync("/bin/sleep", program);
  const child = spawn(program, ["600"], { stdio: "ignore" });
  running.push(child);
  return child.pid ?? 0;
}

const open = (more: object = {}) => ({
  resources: [recorded("jobs", { id: "wh_0", url: url("jobs"), outputs: originAt(service.url) })],
  pending_operations: [interrupted("mails", { url: url("mails"), at: Date.now() - 30 * MINUTE_MS })],
  ...more,
});
/** A backend whose stack has an operation that has not ended: in the folder. */
const given = (more: Partial<Backend> = {}): Backend => ({
  ...{ baseUrl: service.url, own: { dev: open() }, url: `file://${folder}`, ...more },
});
const inCloud = (more: Partial<Backend> = {}): Backend => {
  const { url: _url, ...rest } = given(more);
  return rest;
};
/** The state changes with each export. */
const changing = () => {
  const own: Record<string, object> = { dev: open() };
  let count = 0;
  return given({
    own,
    url: "s3://states",
    onExport: () => {
      own.dev = open({ manifest: { time: ++count } });
    },
  });
};

test.each<[work: string, backend: () => Backend, finding: RegExp]>([
  [
    "under way, as Pulumi Cloud lists",
    () => inCloud({ updating: ["dev"] }),
    /^note: a run of the stack dev is under way: requested by anna, started 3 minutes ago; .*`pulumi cancel --yes --stack dev`\. Not done yet: mails in shop\/dev \(RUN_UNDER_WAY\) # wait until it has ended, and run doctor again$/,
  ],
  [
    "under way, as Pulumi Cloud lists, which exports the state before",
    () => inCloud({ updating: ["dev"], own: { dev: open({ pending_operations: [] }) } }),
    /^note: a run of the stack dev is under way: requested by anna, .* \(RUN_UNDER_WAY\) # wait until it has ended/,
  ],
  [
    "under way, as Pulumi Cloud lists once the state was read",
    () => {
      const updating: string[] = [];
      return inCloud({ updating, onExport: () => updating.push("dev") });
    },
    /^note: .*requested by anna.* \(RUN_UNDER_WAY\)/,
  ],
  [
    "under way, as a process that lives shows",
    () => {
      lock({ pid: pulumiProcess() });
      return given();
    },
    /^note: .* under way: the process \d+ of anna@\S+, since \S+Z \(10m\)\. .* \(RUN_UNDER_WAY\) # wait/,
  ],
  [
    "under way, in the layout of an older Pulumi, at a relative path",
    () => {
      lock({ pid: pulumiProcess(), at: "dev" });
      return given({ url: `file://${relative("", folder)}?metadata=skip` });
    },
    /^note: .* \(RUN_UNDER_WAY\) # wait/,
  ],
  [
    "under way, as another state shows",
    changing,
    /^note: .* under way: its state has just changed\. .* \(RUN_UNDER_WAY\)/,
  ],
  [
    "dead, because its process has ended",
    () => {
      lock({});
      return given();
    },
    /^error: a run was interrupted while it registered mails in shop\/dev \(OPERATION_INTERRUPTED\) pulumi cancel --yes --stack dev && pulumi up --yes --stack dev {3}# if this stays, the program/,
  ],
  [
    "dead, because its process is another program",
    () => {
      lock({ pid: process.pid });
      return given();
    },
    /^error: a run was interrupted while .* pulumi cancel --yes --stack dev && pulumi up /,
  ],
  [
    "dead, and left a deletion that has not begun",
    () => {
      lock({});
      const deletion = interrupted("jobs", { kind: "deleting", id: "wh_1", url: url("jobs") });
      return given({ own: { dev: open({ pending_operations: [deletion] }) } });
    },
    /^error: a run was interrupted while it deleted or read jobs in shop\/dev \(OPERATION_INTERRUPTED\) pulumi cancel --yes --stack dev && pulumi up --yes --refresh --stack dev /,
  ],
  [
    "of nobody, because nothing locks the stack",
    () => given(),
    /^error: a run was interrupted while .* pulumi up --yes --stack dev {3}# if this stays/,
  ],
  [
    "of nobody, because another stack is locked",
    () => {
      lock({ at: "organization/mail/dev", host: "build-7" });
      return given();
    },
    /^error: a run was interrupted while .* pulumi up --yes --stack dev {3}# if this stays/,
  ],
  [
    "of nobody, as Pulumi Cloud lists",
    inCloud,
    /^error: a run was interrupted while .* pulumi up --yes --stack dev {3}# if this stays/,
  ],
  [
    "held elsewhere",
    () => {
      lock({ host: "build-7" });
      return given();
    },
    /^error: the stack dev is locked, .*: the process \d+ of anna@build-7, since \S+ \(10m\)\. Not done yet: mails in shop\/dev \(STACK_LOCKED\) # wait until .*"pulumi cancel"/,
  ],
  [
    "unknown in a bucket",
    () => given({ url: "s3://states" }),
    /^error: a run may be under way, or was interrupted, while it registered mails.* pulumi up --yes --stack dev {3}# if it says that the stack is locked, wait for that run; if this stays/,
  ],
  [
    "unknown in a folder that is not the backend",
    () => given({ url: "file:///nowhere" }),
    /^error: a run may be under way, /,
  ],
  [
    "unknown while a lock is being written",
    () => {
      writeFileSync(lock({}), "");
      return given();
    },
    /^error: a run may be under way, /,
  ],
])("doctor says what to do if the work on a stack is %s", async (_work, makeBackend, finding) => {
  service.add({ url: url("jobs"), type: "development" });
  const made = makeBackend();
  const resources = [recorded("jobs", { id: "wh_1", url: url("jobs"), outputs: originAt(service.url) })];
  if (made.own?.dev) Object.assign(made.own.dev, { resources });
  const { status, stdout } = await run(["doctor", "--json"], { pulumi: backend(made) });
  const { findings, notChecked } = JSON.parse(stdout) as { findings: Finding[]; notChecked: string[] };
  // What may be changing cannot be checked now.
  expect(notChecked.some((each) => each.includes(" probe "))).toBe(/interrupted while/.test(finding.source));
  expect(
    findings.map(({ level, message, code, remedy }) => `${level}: ${message} (${code}) ${remedy}`),
  ).toEqual([expect.stringMatching(finding)]);
  expect(status).toBe(findings[0]?.level === "error" ? 1 : 0);
});

test("doctor sees a run by its lock before the state shows anything of it, and calls nothing that it registers nobody's", async () => {
  for (const name of ["jobs", "mails"]) service.add({ url: url(name), type: "development" });
  lock({ pid: pulumiProcess(), ageMs: 1_000 });
  const resources = [recorded("jobs", { id: "wh_1", url: url("jobs"), outputs: originAt(service.url) })];
  const { stdout } = await run(["doctor", "--json"], {
    pulumi: backend(given({ own: { dev: { resources } } })),
  });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  expect(findings.map(({ code }) => code)).toEqual(["RUN_UNDER_WAY"]);
});

/** Registers wh_1 to wh_5. */
function addAll() {
  const ages = { old: 300, half: 30, fresh: 5, jobs: 300, mails: 300 };
  for (const [name, minutes] of Object.entries(ages))
    service.add({
      url: url(name),
      type: "development",
      createdAt: new Date(Date.now() - minutes * MINUTE_MS).toISOString(),
    });
  service.add({ url: url("undated"), type: "development", createdAt: "0001-01-01T00:00:00Z" });
}
const ids = () => service.endpoints().map(({ id }) => id);
const orphans = ["delete", "--orphans", "--older-than", "0s", "--yes"];

test.each<[work: string, backend: () => Backend, deleted: string[]]>([
  [
    "a run is under way",
    () => {
      lock({ pid: pulumiProcess() });
      return given();
    },
    ["wh_1", "wh_2"],
  ],
  [
    "a run is under way, and has no operation yet",
    () => {
      lock({ pid: pulumiProcess() });
      return given({ own: { dev: {} } });
    },
    ["wh_1", "wh_2", "wh_4", "wh_5"],
  ],
  [
    "a run is under way, and a url is a secret",
    () => {
      lock({ host: "build-7" });
      const operation = interrupted("mails", { url: SECRET_URL, at: Date.now() - 300 * MINUTE_MS });
      return given({ own: { dev: open({ pending_operations: [operation] }) } });
    },
    ["wh_2"],
  ],
  ["it is unknown whether a run is under way", () => given({ url: "s3://states" }), ["wh_1"]],
  [
    "it is unknown, and no operation is open",
    () => given({ url: "s3://states", own: { dev: open({ pending_operations: [] }) } }),
    ["wh_1", "wh_2", "wh_3", "wh_4", "wh_5", "wh_6"],
  ],
  [
    "a run has ended",
    () => {
      lock({});
      return given();
    },
    ["wh_1", "wh_2", "wh_3", "wh_4", "wh_5", "wh_6"],
  ],
])(
  "delete --orphans keeps what may be of a run, and deletes the rest, if %s",
  async (_work, makeBackend, deleted) => {
    addAll();
    const all = ids();
    const { status, stderr } = await run(orphans, { pulumi: backend(makeBackend()) });
    expect(ids()).toEqual(all.filter((id) => !deleted.includes(id)));
    expect(status).toBe(0);
    for (const id of ids()) expect(stderr).toMatch(new RegExp(`^warning: ${id} is kept: .*\\bdev\\b`, "m"));
  },
);

test("what was named is kept if it may be of a run, and the rest of it is deleted", async () => {
  addAll();
  lock({ pid: pulumiProcess() });
  const { status, stdout, stderr } = await run(["delete", "wh_1", "wh_3", "--yes"], {
    pulumi: backend(given()),
  });
  expect(stderr).toMatch(
    /^warning: wh_3 is kept: it may be of that run: a run of the stack dev is under way: the process/m,
  );
  expect(stdout).toMatch(/1 endpoint deleted, 1 kept/);
  expect([status, ids().includes("wh_1"), ids().includes("wh_3")]).toEqual([1, false, true]);
});

test("a run that begins while a person decides keeps what may be its own", async () => {
  addAll();
  let exports = 0;
  const onExport = () => ++exports === 2 && lock({ host: "build-7" });
  const pulumi = backend(given({ own: { dev: open({ pending_operations: [] }) }, onExport }));
  await run(orphans, { pulumi });
  expect(ids()).toEqual(["wh_3", "wh_4", "wh_6"]);
});

test("adopt leaves out what may be of a run", async () => {
  addAll();
  lock({ host: "build-7" });
  const pulumi = backend(given());
  const all = await run(["adopt", "--json"], { pulumi });
  expect(JSON.parse(all.stdout).adoptions.map(({ id }: { id: string }) => id)).toEqual(["wh_1", "wh_2"]);
  expect(all.stderr).toMatch(
    /^warning: wh_3 is left out: it may be of that run: the stack dev is locked, .*anna@build-7/m,
  );
  const named = await run(["adopt", "wh_1", "wh_3", "--json"], { pulumi });
  expect([named.status, JSON.parse(named.stdout).adoptions.length]).toEqual([1, 1]);
  rmSync(join(folder, ".pulumi/locks"), { recursive: true });
  expect(await run(["adopt", "wh_1", "wh_3"], { pulumi })).toMatchObject({ status: 0 });
});
