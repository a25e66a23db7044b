import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../src/emulator";
import { type Declared, type Deployment, Project } from "./project";
import { killAll, processesOf } from "./session";

/** `npm run nightly` plays 200 rounds. */
const ROUNDS = Number(process.env.NIGHTLY_ROUNDS ?? 1);
/** How many are added if the commands or the runs were idle so far. */
const MORE_ROUNDS = 20;
/** How long a run lives before it is killed at most, in milliseconds. */
const LONGEST_LIFE_MS = 4_000;
const COMMAND = join(__dirname, "../../dist/cli/main.js");
const NAMES = ["a", "b", "c", "d"];
/** The names of the endpoints that nobody's stack has registered: one for each project that adopts. */
const ORPHANS = ["x", "y"];

jest.setTimeout(120_000 + ROUNDS * 60_000);

let emulator: Emulator;
let operator: Project;
let others: Project[];
/** What the commands have said that they deleted. */
let deleted: Set<string>;
/** What killed runs were deleting: if the service has done it, their states hold it still. */
let interrupted: Set<string>;
/** How many runs ended well, but for the last of each project. */
let succeeded: number;
/** What the runs did, for the message of a failure. */
let log: string[];

beforeEach(async () => {
  emulator = await startEmulator();
  operator = new Project({ config: settings() });
  operator.write("Pulumi.yaml", "name: operator\nruntime: nodejs\n");
  operator.env.PULUMI_BACKEND_URL += "?metadata=skip"; // A kill leaves no empty .attrs file (engine rule 26).
  const { PULUMI_BACKEND_URL = "", PULUMI_HOME = "" } = operator.env;
  others = ["first", "second"].map((name) => {
    const project = new Project({ config: settings(), env: { PULUMI_BACKEND_URL, PULUMI_HOME } });
    project.write("Pulumi.yaml", `name: ${name}\nruntime: nodejs\nmain: index.js\n`);
    project.declare({});
    return project;
  });
  deleted = new Set();
  interrupted = new Set();
  succeeded = 0;
  log = [];
});
afterEach(async () => {
  for (const project of [operator, ...others]) project.dispose();
  await emulator.close();
});

const settings = () => ({
  "webhooks:baseUrl": emulator.url,
  "webhooks:apiKey": emulator.apiKey,
  "webhooks:timeoutSeconds": "5",
});

/** Returns the states of all stacks in the backend, by the paths of their files. */
function states(): Map<string, Deployment> {
  const folder = join(operator.folder, "backend/.pulumi/stacks");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".json"),
  );
  return new Map(
    files.flatMap((file) => {
      try {
        const { checkpoint } = JSON.parse(readFileSync(join(folder, file), "utf8"));
        return [[file, checkpoint.latest ?? {}] as const];
      } catch {
        return []; // It was renamed meanwhile.
      }
    }),
  );
}

/** Fails if a state holds what a command has deleted. */
function expectNothingLost(): void {
  for (const [file, { resources = [] }] of states())
    for (const { id, urn } of resources)
      if (id !== undefined && deleted.has(id))
        throw new Error(`${urn} in ${file} holds ${id}, which was deleted:\n${log.slice(-60).join("\n")}`);
}

async function command(args: readonly string[], input = ""): Promise<{ status: number; stdout: string }> {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd: operator.folder,
    env: operator.env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => undefined).end(input);
  const [[status], stdout, stderr] = await Promise.all([
    once(child, "close"),
    text(child.stdout),
    text(child.stderr),
  ]);
  log.push(`${args[0]}: ${status} ${stderr.replace(/\n/g, " | ")}`);
  return { status, stdout };
}

/**
 * Plays ups, adoptions, renames and kills in a project until it is over. It adopts only the orphans of its own name, because an endpoint
 * that two stacks have adopted is gone as soon as one of them deletes it. Its last `up` finishes what a killed run has left unfinished.
 */
async function disturb(project: Project, adopts: string, isOver: () => boolean): Promise<void> {
  let round = 0;
  let stack = "dev";
  const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(Math.random() * all.length)];
  const named = (name: string, round: number): Declared[string] => ({
    url: `https://hooks.example.com/${project.folder.slice(-6)}/${name}`,
    type: "development",
    opts: {
      aliases: [{ name }, ...Array.from({ length: round }, (_, number) => ({ name: `${name}-${number}` }))],
    },
  });
  await project.pulumi("stack", "ls");
  while (!isOver()) {
    round += 1;
    const kind = pick(["up", "up", "adopt", "adopt", "rename", "stack rename", "kill", "kill", "destroy"]);
    const orphan = pick(emulator.endpoints().filter(({ url }) => url.includes(`/by-hand/${adopts}/`)));
    const declared: Record<string, Declared[string]> = {};
    for (const name of NAMES.filter(() => Math.random() < 0.7))
      declared[kind === "rename" ? `${name}-${round}` : name] = named(name, round);
    if (orphan && (kind === "adopt" || kind === "kill"))
      declared[`adopted-${round}`] = { url: orphan.url, type: orphan.type, adoptId: orphan.id };
    project.declare(declared);
    if (kind === "kill") await killedUp(project);
    else if (kind === "destroy") await project.pulumi("destroy", "--yes", "--skip-preview");
    else if (kind === "stack rename") {
      stack = stack === "dev" ? "moved" : "dev";
      await project.pulumi("stack", "rename", stack);
    } else {
      const { exitCode, output } = await project.pulumi("up", "--yes", "--skip-preview");
      if (exitCode === 0) succeeded += 1;
      log.push(`${kind} ${Object.keys(declared)}: ${exitCode} ${exitCode === 0 ? "" : output.slice(-600)}`);
    }
    expectNothingLost();
  }
  project.declare(Object.fromEntries(NAMES.map((name) => [name, named(name, round + 1)])));
  await project.up();
}

async function killedUp(project: Project): Promise<void> {
  const args = ["up", "--yes", "--skip-preview", "--non-interactive"];
  const options = { cwd: project.folder, env: project.env, detached: true, stdio: "ignore" } as const;
  const child = spawn("pulumi", args, options);
  const ended = once(child, "exit");
  await Promise.race([ended, sleep(Math.random() * LONGEST_LIFE_MS)]);
  killAll(processesOf(child));
  await ended;
  await project.pulumi("cancel", "--yes");
  for (const { pending_operations = [] } of states().values())
    for (const { type, resource } of pending_operations)
      if (type === "deleting" && resource.id !== undefined) interrupted.add(resource.id);
}

test(`in ${ROUNDS} rounds of list, delete and prune beside other runs, nothing is deleted that a state holds or will hold`, async () => {
  await operator.pulumi("stack", "ls");
  let isOver = false;
  const disturbed = others.map((project, index) => disturb(project, ORPHANS[index] ?? "", () => isOver));
  const failed = Promise.all(disturbed).then(() => undefined);
  failed.catch(() => undefined);
  try {
    const wasIdle = () => deleted.size === 0 || succeeded === 0;
    for (let round = 1; round <= ROUNDS || (wasIdle() && round <= ROUNDS + MORE_ROUNDS); round += 1) {
      for (const name of ORPHANS)
        emulator.add({ url: `https://hooks.example.com/by-hand/${name}/${round % 5}`, type: "development" });
      const listed = await command(["list", "--orphans", "--json"]);
      for (const [args, input] of [
        [["delete", "--yes", "--json", "-"], listed.stdout],
        [["prune", "--older-than", "0s", "--yes", "--json"], ""],
      ] as const) {
        const { stdout } = await command(args, input);
        const { deleted: ids = [] }: { deleted?: { id: string }[] } = JSON.parse(stdout);
        for (const { id } of ids) deleted.add(id);
      }
      expectNothingLost();
      if (round % 10 === 0) process.stderr.write(`round ${round} of ${ROUNDS}: ${deleted.size} deleted\n`);
      // A disturber that has failed ends the test.
      await Promise.race([failed, sleep(0)]);
    }
  } finally {
    isOver = true;
    await Promise.allSettled(disturbed);
  }
  await failed;
  expectNothingLost();
  const ids = new Set(emulator.endpoints().map(({ id }) => id));
  const held = [...states().values()].flatMap(({ resources = [] }) =>
    resources.filter(({ id, type }) => type.endsWith(":WebhookEndpoint") && id?.startsWith("wh_")),
  );
  const gone = held.filter(({ id = "" }) => !ids.has(id) && !interrupted.has(id));
  if (gone.length > 0) process.stderr.write(`${log.join("\n")}\n`);
  expect(gone).toEqual([]);
  // Neither the commands nor the runs were idle.
  expect(deleted.size).toBeGreaterThan(0);
  expect(succeeded).toBeGreaterThan(0);
  console.info(`${ROUNDS} rounds: ${deleted.size} deleted, ${succeeded} successful runs`);
});
