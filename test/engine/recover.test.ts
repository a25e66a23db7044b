import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../src/emulator";
import { type CommandResult, type Declared, Project } from "./project";

jest.setTimeout(300_000);

const command = join(__dirname, "../../dist/cli/main.js");

/** Runs the command as in a terminal, with its arguments as the answers. */
const ASKING = `
const { Pulumi } = require(${JSON.stringify(join(__dirname, "../../dist/cli/pulumi.js"))});
const { recover } = require(${JSON.stringify(join(__dirname, "../../dist/cli/recover/recover.js"))});
const answers = process.argv.slice(1);
const ask = async (question) => {
  console.log(question);
  return answers.shift() ?? "";
};
recover({ pulumi: new Pulumi(), yes: false, dialogue: { say: console.log, ask, during: (_describe, work) => work } }).then((outcome) => {
  process.exitCode = outcome === "done" ? 0 : 2;
});
`;

let emulator: Emulator;
let project: Project;

beforeEach(async () => {
  emulator = await startEmulator();
  project = new Project({
    config: {
      "webhooks:baseUrl": emulator.url,
      "webhooks:apiKey": emulator.apiKey,
      // Registrations count as never made after 20 s.
      "webhooks:timeoutSeconds": "5",
    },
  });
});

afterEach(async () => {
  project.dispose();
  await emulator.close();
});

const endpoint = (path: string) =>
  ({ url: `https://hooks.example.com/${path}`, type: "production" }) as const;

/** What is at the service, as the program would declare it. */
const registered = () =>
  emulator
    .endpoints()
    .map(({ url }) => url)
    .sort();

const ids = () =>
  emulator
    .endpoints()
    .map(({ id }) => id)
    .sort();

/** Returns the ids of the endpoints in the state, without those that the next `up` deletes. */
async function recorded(): Promise<string[]> {
  const { resources = [] } = await project.state();
  return resources
    .flatMap(({ id, type, delete: gone }) => (id && type.endsWith(":WebhookEndpoint") && !gone ? [id] : []))
    .sort();
}

describe("after an interrupted run", () => {
  it("recover --yes and up give exactly what is declared after SIGINT and then SIGTERM, in a new stack and in an old one", async () => {
    const declared: Record<string, ReturnType<typeof endpoint>> = {};
    for (const round of [1, 2]) {
      for (const name of ["a", "b", "c"]) declared[`${round}${name}`] = endpoint(`${round}${name}`);
      project.declare(declared);
      emulator.fault({ operation: "register", kind: "hang-after", times: 2 });
      await interruptedUp(() => emulator.endpoints().length === 3 * round);
      emulator.clearFaults();
      expect((await project.state()).pending_operations).toHaveLength(2 * round);
      // Without `pulumi cancel`: the run has released its lock.
      const { exitCode, output } = await recover("--yes");
      expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
      expect(output.match(/The next `pulumi up` takes it over/g)).toHaveLength(2);
      await project.up();
      await expectExactly(declared);
    }
    expect(emulator.endpoints()).toHaveLength(6);
  });

  it("recover finds what each kill left, so that the next up ends with exactly what is declared", async () => {
    const declared: Record<string, ReturnType<typeof endpoint>> = {};
    for (let index = 0; index < 12; index++) declared[`e${index}`] = endpoint(`${index}`);
    for (const [round, made] of [2, 4].entries()) {
      for (const name of Object.keys(declared)) declared[name] = endpoint(`${round}/${name}`);
      project.declare(declared);
      // Early in its registrations, and where their answers never come.
      if (round === 1) emulator.fault({ operation: "register", kind: "hang-after", times: 5 });
      const before = emulator.endpoints().length;
      await killedUp({ when: () => emulator.endpoints().length >= before + made });
      emulator.clearFaults();
      await recoverAndCancel();
      await project.up();
      await expectExactly(declared);
      emulator.clearRequests();
      await project.up();
      expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    }
  });

  it("recover asks nobody and changes nothing when there is nothing to do", async () => {
    project.declare({ a: endpoint("a") });
    await project.up();
    const before = await project.state();
    const { exitCode, output } = await recover("--yes");
    expect(exitCode).toBe(0);
    expect(output).toMatch(/Nothing to recover/);
    expect(await project.state()).toEqual(before);
  });

  it("recover reads the state while the lock of the killed run is there, and changes nothing in it", async () => {
    await killedWithOneAnswerLost({ a: endpoint("a") });
    const before = await project.state();
    const { exitCode, output } = await recover("--yes");
    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
    expect(output).toMatch(new RegExp(`^a .*${ids()[0]}.*takes it over`));
    expect(output).toContain("`pulumi refresh --clear-pending-creates --yes`");
    expect(await project.state()).toEqual(before);
  });

  it.each([
    ["the machine of the killed run", false],
    ["another machine", true],
  ])(
    "on %s, recover lets a person say which endpoint is somebody else's, and up does as said",
    async (_, isElsewhere) => {
      await killedWithOneAnswerLost({ a: endpoint("a") });
      const stranger = emulator.add(endpoint("a"));
      const [own = ""] = ids().filter((id) => id !== stranger.id);
      if (isElsewhere) await moveToAnotherMachine();
      await project.succeed("cancel", "--yes");
      const undecided = await recover("--yes");
      expect(undecided.exitCode).toBe(2);
      const messages = [undecided.output];
      // Elsewhere only the state tells when the run was killed, and a failed `up` writes it.
      if (!isElsewhere) {
        const stopped = await project.pulumi("up", "--yes", "--skip-preview");
        expect(stopped.exitCode).not.toBe(0);
        messages.push(stopped.output);
      }
      for (const message of messages) {
        expect(message).toMatch(/REGISTRATION_IN_DOUBT/);
        for (const id of ids()) expect(message).toContain(id);
      }
      expect(emulator.endpoints()).toHaveLength(2);
      // The older one is its own.
      expect(await recover("leave", "keep")).toMatchObject({ exitCode: 2 });
      await project.up();
      expect(await recorded()).toEqual([own]);
      await project.destroy();
      expect(ids()).toEqual([stranger.id]);
    },
  );

  it("after a person has said that all are somebody else's, up registers one", async () => {
    await killedWithOneAnswerLost({ a: endpoint("a") });
    emulator.add(endpoint("a"));
    const before = ids();
    await project.succeed("cancel", "--yes");
    expect(await recover("keep", "keep")).toMatchObject({ exitCode: 0 });
    await project.up();
    expect(before).not.toContain((await recorded())[0]);
    expect(ids()).toHaveLength(3);
  });

  it("up names what a killed --replace left, and recover deletes it after a question", async () => {
    const left = await killedReplacement();
    expect(await project.up()).toMatch(new RegExp(`${left}.*webhook-endpoints recover`));
    expect((await recover("--yes")).exitCode).toBe(2);
    expect(ids()).toHaveLength(2);
    const { exitCode, output } = await recover("delete");
    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
    expect(output).toContain(`Deleted ${left}`);
    await project.succeed("refresh", "--clear-pending-creates", "--yes", "--skip-preview");
    const after = await project.up();
    expect(after).not.toMatch(/interrupted|pending operations/);
    await expectExactly({ a: endpoint("a") });
  });

  it("on another machine, recover deletes what a killed --replace left, or forgets it", async () => {
    const left = await killedReplacement();
    await moveToAnotherMachine();
    await project.up();
    expect((await recover("--yes")).exitCode).toBe(2);
    expect(await recover("keep")).toMatchObject({ exitCode: 0 });
    expect(ids()).toContain(left);
    expect(await recover("--yes")).toMatchObject({ exitCode: 0 });
    expect(await project.up()).not.toContain(left);
  });

  it("what recover has found outlives the operations in the state", async () => {
    await killedWithOneAnswerLost({ a: endpoint("a") });
    await moveToAnotherMachine();
    await project.succeed("cancel", "--yes");
    expect(await recover("--yes")).toMatchObject({ exitCode: 0 });
    await project.succeed("refresh", "--clear-pending-creates", "--yes", "--skip-preview");
    expect((await project.state()).pending_operations ?? []).toEqual([]);
    await project.up();
    await expectExactly({ a: endpoint("a") });
  });

  it("recover waits until a registration that was never made cannot be made any more", async () => {
    project.declare({ a: endpoint("a") });
    emulator.fault({ operation: "register", kind: "hang-before", times: 1 });
    await killedUp({ when: () => emulator.requests.some(({ operation }) => operation === "register") });
    await project.succeed("cancel", "--yes");
    const { exitCode, output } = await recover("--yes");
    expect(output).toMatch(/^Waiting up to (1\d|20) s /m);
    expect(output).toMatch(/it left nothing behind/);
    expect(exitCode).toBe(0);
    await project.up();
    expect(registered()).toHaveLength(1);
  });

  it("on another machine, recover finds out about a secret url of an explicit provider, shows neither it nor the key, and up takes over", async () => {
    project.write(
      "index.js",
      `const { WebhookEndpoint, WebhooksProvider } = require("pulumi-webhook-endpoints");
const pulumi = require("@pulumi/pulumi");
const other = new WebhooksProvider("default-account", { timeoutSeconds: 20 });
new WebhookEndpoint("a", { url: pulumi.secret("https://hooks.example.com/t0ken"), type: "production" }, { provider: other });
`,
    );
    emulator.fault({ operation: "register", kind: "hang-after", times: 1 });
    await killedUp({ when: () => emulator.endpoints().length > 0 });
    await moveToAnotherMachine();
    await project.succeed("cancel", "--yes");
    emulator.clearRequests();
    const { exitCode, output } = await recover("--yes");
    expect(output).toMatch(new RegExp(`${ids()[0]}.*takes it over`));
    expect(exitCode).toBe(0);
    expect(emulator.requests.map(({ operation }) => operation)).toEqual(["list"]);
    for (const hidden of ["t0ken", emulator.apiKey]) expect(output).not.toContain(hidden);
    emulator.clearRequests();
    await project.up();
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    await project.destroy();
    expect(registered()).toEqual([]);
  });

  it("recover names what a killed run left also once destroy has emptied the state, and the next up takes it over", async () => {
    await killedAndDestroyed({ a: endpoint("a") });
    const { exitCode, output } = await recover("--yes");
    expect({ exitCode, output }).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining(`${ids()[0]}`),
    });
    await project.up();
    await expectExactly({ a: endpoint("a") });
  });

  it("on another machine, up makes no second one of what a killed run left before a destroy", async () => {
    await killedAndDestroyed({ a: endpoint("a") });
    await moveToAnotherMachine();
    const [id = ""] = ids();
    const { exitCode, output } = await project.pulumi("up", "--yes", "--skip-preview");
    expect(output).toMatch(new RegExp(`${id}[\\s\\S]*REGISTRATION_IN_DOUBT`));
    expect(exitCode).not.toBe(0);
    expect(await recover("--yes")).toMatchObject({ exitCode: 0, output: expect.stringContaining(id) });
    await project.up();
    await expectExactly({ a: endpoint("a") });
  });

  it("recover repairs a file backend whose attributes file was left empty", async () => {
    await killedWithOneAnswerLost({ a: endpoint("a") });
    await project.succeed("cancel", "--yes");
    const attributes = join(project.folder, "backend/.pulumi/stacks/test/dev.json.attrs");
    statSync(attributes);
    writeFileSync(attributes, "");
    expect((await project.pulumi("stack", "export")).exitCode).not.toBe(0);
    const { exitCode, output } = await recover("--yes");
    expect(output).toMatch(/empty \.attrs files[\s\S]*takes it over/);
    expect(exitCode).toBe(0);
    await project.up();
    expect(registered()).toHaveLength(1);
  });
});

/** What a kill leaves of the file backend may stop even `cancel`, until `recover` has mended it. */
async function recoverAndCancel(): Promise<void> {
  const { exitCode, output } = await recover("--yes");
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
  await project.pulumi("cancel", "--yes");
}

/** The next command runs on a machine that has only the stack's backend in common with the one before. */
async function moveToAnotherMachine(): Promise<void> {
  rmSync(join(project.folder, "home"), { recursive: true, force: true });
  await project.succeed("stack", "select", "dev");
}

/** Kills an `up --replace` once it has registered the new endpoint. Returns its id. */
async function killedReplacement(): Promise<string> {
  project.declare({ a: endpoint("a") });
  await project.up();
  const [old] = ids();
  emulator.fault({ operation: "register", kind: "hang-after", times: 1 });
  await killedUp({ when: () => emulator.endpoints().length === 2, args: ["--replace", project.urn("a")] });
  emulator.clearFaults();
  await project.succeed("cancel", "--yes");
  return ids().find((id) => id !== old) ?? "";
}

async function expectExactly(declared: Declared): Promise<void> {
  expect(await recorded()).toEqual(ids());
  expect(registered()).toEqual(
    Object.values(declared)
      .map(({ url }) => url)
      .sort(),
  );
}

async function killedWithOneAnswerLost(declared: Declared, { registered = 1 } = {}): Promise<void> {
  project.declare(declared);
  emulator.fault({ operation: "register", kind: "hang-after", times: 1 });
  await killedUp({ when: () => emulator.endpoints().length >= registered });
}

/** A destroy empties the state, but for the operation of the killed run. */
async function killedAndDestroyed(declared: Declared): Promise<void> {
  await killedWithOneAnswerLost(declared);
  await project.succeed("cancel", "--yes");
  await project.succeed("destroy", "--yes", "--skip-preview");
  const { resources = [], pending_operations = [] } = await project.state();
  expect([resources.length, pending_operations.length]).toEqual([0, 1]);
}

/** Starts an `up`, and returns at the moment. */
async function upUntil(
  when: () => boolean,
  more: readonly string[] = [],
): Promise<{ child: ChildProcess; ended: Promise<unknown> }> {
  await project.pulumi("stack", "ls");
  const args = ["up", "--yes", "--skip-preview", "--non-interactive", ...more];
  const child = spawn("pulumi", args, { cwd: project.folder, env: project.env, stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("close", resolve));
  while (!when() && child.exitCode === null) await sleep(2);
  return { child, ended };
}

/** Starts an `up`, and ends it as CI systems cancel: the second signal ends it at once (engine rule 35). */
async function interruptedUp(when: () => boolean): Promise<void> {
  const { child, ended } = await upUntil(when);
  child.kill("SIGINT");
  // The CLI would take two signals that arrive together for one.
  await sleep(500);
  child.kill("SIGTERM");
  await ended;
}

/** Starts an `up`, and kills every process of it at the moment. */
async function killedUp({ when, args }: { when: () => boolean; args?: readonly string[] }): Promise<void> {
  const { child, ended } = await upUntil(when, args);
  for (const pid of family(child)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
  await ended;
}

/** A process and all that it started. */
function family({ pid }: ChildProcess): number[] {
  const processes = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found = pid === undefined ? [] : [pid];
  for (const parent of found) for (const [id = 0, of] of processes) if (of === parent) found.push(id);
  return found;
}

/** Runs the command. @param args options, or the answers of a person at the terminal */
function recover(...args: string[]): Promise<CommandResult> {
  const asks = args.some((arg) => !arg.startsWith("--"));
  const child = spawn(process.execPath, asks ? ["-e", ASKING, ...args] : [command, "recover", ...args], {
    cwd: project.folder,
    env: project.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text) => {
      output += text;
    });
  return new Promise((resolve) => child.once("close", (code) => resolve({ exitCode: code ?? 1, output })));
}
