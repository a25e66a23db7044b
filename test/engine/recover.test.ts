import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../src/emulator";
import { type CommandResult, type Declared, Project } from "./project";

jest.setTimeout(300_000);

const command = join(__dirname, "../../dist/cli/main.js");

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
  it.each<[string, NodeJS.Signals[]]>([
    ["Ctrl-C twice", ["SIGINT", "SIGINT"]],
    ["SIGINT and then SIGTERM", ["SIGINT", "SIGTERM"]],
  ])(
    "recover --yes and up give exactly what is declared after %s, in a new stack and in an old one",
    async (_, signals) => {
      const declared: Record<string, ReturnType<typeof endpoint>> = {};
      for (const round of [1, 2]) {
        for (const name of ["a", "b", "c"]) declared[`${round}${name}`] = endpoint(`${round}${name}`);
        project.declare(declared);
        emulator.fault({ operation: "register", kind: "hang-after", times: 2 });
        await interruptedUp({ when: () => emulator.endpoints().length === 3 * round, signals });
        emulator.clearFaults();
        expect((await project.state()).pending_operations).toHaveLength(2);
        // Without `pulumi cancel`: the run has released its lock.
        const { exitCode, output } = await recover("--yes");
        expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
        expect(output).toMatch(/Recovered 2 endpoints and cleared 2 interrupted registrations/);
        await project.up();
        expect(await recorded()).toEqual(ids());
        expect(registered()).toEqual(
          Object.values(declared)
            .map(({ url }) => url)
            .sort(),
        );
      }
      expect(emulator.endpoints()).toHaveLength(6);
    },
  );

  it("recover finds what each kill left, so that the next up ends with exactly what is declared", async () => {
    const declared: Record<string, ReturnType<typeof endpoint>> = {};
    for (let index = 0; index < 12; index++) declared[`e${index}`] = endpoint(`${index}`);
    let recovered = 0;
    for (const [round, made] of [9, 2, 4].entries()) {
      for (const name of Object.keys(declared)) declared[name] = endpoint(`${round}/${name}`);
      project.declare(declared);
      // Late in its registrations, early, and where their answers never come.
      if (round === 2) emulator.fault({ operation: "register", kind: "hang-after", times: 5 });
      const before = emulator.endpoints().length;
      await killedUp({ when: () => emulator.endpoints().length >= before + made });
      emulator.clearFaults();
      recovered += await cancelAndRecover();
      await project.up();
      expect(registered()).toEqual(
        Object.values(declared)
          .map(({ url }) => url)
          .sort(),
      );
      expect(await recorded()).toEqual(ids());
      emulator.clearRequests();
      await project.up();
      expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    }
    expect(recovered).toBeGreaterThan(0);
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

  it("recover names pulumi cancel while the lock of the killed run is there, and leaves no backup behind", async () => {
    await killedWithOneAnswerLost({ a: endpoint("a") });
    const { exitCode, output } = await recover("--yes");
    expect(exitCode).toBe(1);
    expect(output).toMatch(/pulumi cancel.*STACK_LOCKED/s);
    expect(savedStates()).toEqual([]);
  });

  it("recover changes nothing and exits with 2 when it cannot tell which endpoint it is, or cannot ask", async () => {
    await killedWithOneAnswerLost({ a: endpoint("a") });
    await project.succeed("cancel", "--yes");
    emulator.add(endpoint("a"));
    const before = await project.state();
    const { exitCode, output } = await recover("--yes");
    expect(exitCode).toBe(2);
    for (const { id } of emulator.endpoints()) expect(output).toContain(id);
    expect(await project.state()).toEqual(before);
    emulator.remove(emulator.endpoints().at(-1)?.id ?? "");
    const piped = await recover();
    expect(piped.exitCode).toBe(2);
    expect(piped.output).toMatch(/The state was not changed, because the command has no terminal.*--yes/);
    expect(await project.state()).toEqual(before);
  });

  it("recover asks when another run has ended since, because it cannot date the interrupted run then", async () => {
    project.declare({ kept: endpoint("kept") });
    await project.up();
    await killedWithOneAnswerLost({ kept: endpoint("kept"), a: endpoint("a") }, { registered: 2 });
    await project.pulumi("cancel", "--yes");
    // Longer than clocks may differ.
    await sleep(6_000);
    await project.refresh();
    const { exitCode, output } = await recover("--yes");
    expect(output).not.toMatch(/never completed/);
    expect(output).toContain(emulator.endpoints().at(-1)?.id ?? "none");
    expect(exitCode).toBe(2);
    expect((await project.state()).pending_operations).toHaveLength(1);
  });

  it("recover waits before it clears a registration that was never made", async () => {
    project.declare({ a: endpoint("a") });
    emulator.fault({ operation: "register", kind: "hang-before", times: 1 });
    await killedUp({ when: () => emulator.requests.some(({ operation }) => operation === "register") });
    await project.succeed("cancel", "--yes");
    const { exitCode, output } = await recover("--yes");
    expect(output).toMatch(/^Waiting up to (1\d|20) s /m);
    expect(output).toMatch(/never completed/);
    expect(exitCode).toBe(0);
    expect((await project.state()).pending_operations ?? []).toEqual([]);
    await project.up();
    expect(registered()).toHaveLength(1);
  });

  it("recover keeps the old state with its secrets encrypted, and sends nothing that changes the service", async () => {
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
    await project.succeed("cancel", "--yes");
    emulator.clearRequests();
    const { exitCode, output } = await recover("--yes");
    expect(output).toMatch(/Recovered 1 endpoint/);
    expect(exitCode).toBe(0);
    expect(emulator.requests.map(({ operation }) => operation)).toEqual(["list"]);
    const [saved = ""] = savedStates();
    const text = readFileSync(saved, "utf8");
    expect(output).toContain(saved);
    expect(readdirSync(project.folder).filter((name) => name.includes("recover"))).toEqual([]);
    expect(JSON.parse(text).deployment.pending_operations).toHaveLength(1);
    const state = JSON.stringify(await project.state());
    for (const shown of [text, state, output]) {
      expect(shown).not.toContain("t0ken");
      expect(shown).not.toContain(emulator.apiKey);
    }
    emulator.clearRequests();
    await project.up();
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    await project.destroy();
    expect(registered()).toEqual([]);
  });

  it("recover repairs a file backend whose attributes file was left empty", async () => {
    await killedWithOneAnswerLost({ a: endpoint("a") });
    await project.succeed("cancel", "--yes");
    const attributes = join(project.folder, "backend/.pulumi/stacks/test/dev.json.attrs");
    statSync(attributes);
    writeFileSync(attributes, "");
    expect((await project.pulumi("stack", "export")).exitCode).not.toBe(0);
    const { exitCode, output } = await recover("--yes");
    expect(output).toMatch(/Recovered 1 endpoint/);
    expect(exitCode).toBe(0);
    await project.up();
    expect(registered()).toHaveLength(1);
  });
});

/** Does what a person does: what a kill leaves of the file backend may stop even `cancel`, until it is repaired. */
async function cancelAndRecover(): Promise<number> {
  const cancelled = await project.pulumi("cancel", "--yes");
  let { exitCode, output } = await recover("--yes");
  if (cancelled.exitCode !== 0 || output.includes("STACK_LOCKED")) {
    await project.succeed("cancel", "--yes");
    if (exitCode !== 0) ({ exitCode, output } = await recover("--yes"));
  }
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
  return Number(/Recovered (\d+)/.exec(output)?.[1] ?? 0);
}

async function killedWithOneAnswerLost(declared: Declared, { registered = 1 } = {}): Promise<void> {
  project.declare(declared);
  emulator.fault({ operation: "register", kind: "hang-after", times: 1 });
  await killedUp({ when: () => emulator.endpoints().length >= registered });
}

/** Starts an `up`, and returns at the moment. */
async function upUntil(when: () => boolean): Promise<{ child: ChildProcess; ended: Promise<unknown> }> {
  await project.pulumi("stack", "ls");
  const args = ["up", "--yes", "--skip-preview", "--non-interactive"];
  const child = spawn("pulumi", args, { cwd: project.folder, env: project.env, stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("close", resolve));
  while (!when() && child.exitCode === null) await sleep(2);
  return { child, ended };
}

/** Starts an `up`, and sends the CLI two signals: the second one ends it at once. */
async function interruptedUp({
  when,
  signals: [first, second],
}: {
  when: () => boolean;
  signals: NodeJS.Signals[];
}): Promise<void> {
  const { child, ended } = await upUntil(when);
  child.kill(first);
  // The CLI would take two signals that arrive together for one.
  await sleep(500);
  child.kill(second);
  await ended;
}

/** Starts an `up`, and kills every process of it at the moment. */
async function killedUp({ when }: { when: () => boolean }): Promise<void> {
  const { child, ended } = await upUntil(when);
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

function recover(...args: string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [command, "recover", ...args], {
    cwd: project.folder,
    env: project.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  child.stderr.on("data", (text) => {
    output += text;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ exitCode: code ?? 1, output })));
}

function savedStates(): string[] {
  const folder = join(project.folder, "home", "webhook-endpoints", "backups");
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}
