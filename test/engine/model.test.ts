import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../src/emulator";
import { type Declared, nameOf, type PastRun, type RunOptions } from "../provider/engineModel";
import { LivingPlugin } from "../provider/fuzz/livingPlugin";
import { Plugin } from "../provider/plugin";
import { World } from "../provider/world";
import { Project } from "./project";
import { killAll, processesOf } from "./session";

jest.setTimeout(300_000);

/** Writes down the verbs that the plugin is called with, each with the path of the url that it is about. */
const tracer = `
const Module = require("node:module"), fs = require("node:fs");
const { require: load } = Module.prototype;
const traced = new WeakSet();
Module.prototype.require = function (id) {
  const loaded = load.call(this, id);
  if (id !== "pulumi-webhook-endpoints/provider" || traced.has(loaded.provider)) return loaded;
  traced.add(loaded.provider);
  for (const [verb, call] of Object.entries(loaded.provider)) {
    if (verb === "configure") continue;
    loaded.provider[verb] = (...args) => {
      const { url } = args.findLast((each) => typeof each === "object" && each.url !== undefined);
      fs.appendFileSync(process.env.TRACE, verb + new URL(url).pathname.replace("/", " ") + "\\n");
      return call(...args);
    };
  }
  return loaded;
};`;

interface Step {
  readonly command: "up" | "preview" | "refresh" | "destroy";
  readonly options?: RunOptions;
  /** What happens before it. */
  readonly meanwhile?: (emulator: Emulator) => void;
  /** The program from here on. */
  readonly program?: readonly Declared[];
}

/** A resource whose url has its name: by that the two traces are held against each other. */
const declared = (name: string, args: object = {}, more: object = {}): Declared => ({
  name,
  args: { url: `https://hooks.example.com/${name}`, type: "production", ...args },
  ...more,
});
const removeFirst = (emulator: Emulator) => {
  const [first] = emulator.endpoints();
  if (first) emulator.remove(first.id);
};

const runs: Record<string, readonly Step[]> = {
  "from the first up to destroy": [
    { command: "preview", program: [declared("a"), declared("b"), declared("c")] },
    { command: "up" },
    { command: "up" },
    { command: "refresh", meanwhile: removeFirst },
    { command: "up" },
    // One is replaced, one is gone, one is new.
    { command: "up", program: [declared("a", { ip: "192.0.2.1" }), declared("b"), declared("d")] },
    { command: "up", meanwhile: removeFirst, options: { refresh: true } },
    { command: "up", options: { replace: ["b"] } },
    { command: "up", program: [declared("a"), declared("b"), declared("d")], options: { targets: ["b"] } },
    { command: "destroy" },
  ],
  "with one that is deleted before it is replaced": [
    { command: "up", program: [declared("a", {}, { deleteBeforeReplace: true }), declared("b")] },
    {
      command: "up",
      program: [declared("a", { type: "development" }, { deleteBeforeReplace: true }), declared("b")],
      meanwhile: (emulator) => emulator.fault({ operation: "register", kind: "status", status: 422 }),
    },
    { command: "up" },
    { command: "destroy" },
  ],
  "with a registration that is left pending": [
    {
      command: "up",
      program: [declared("a"), declared("b"), declared("c")],
      meanwhile: (emulator) => emulator.fault({ operation: "register", kind: "reset-before", after: 1 }),
    },
    { command: "refresh" },
    { command: "up" },
    {
      command: "up",
      program: [declared("a", { ip: "192.0.2.1" }), declared("b"), declared("c")],
      meanwhile: (emulator) => emulator.fault({ operation: "register", kind: "reset-before" }),
    },
    { command: "up" },
    { command: "destroy" },
  ],
};

/** A program that registers one resource after the other: Node's SDK registers them all at once, in any order. */
function inOrder(program: readonly Declared[]): string {
  const declarations = program.map(({ name, args, deleteBeforeReplace }) => [
    name,
    args,
    { deleteBeforeReplace },
  ]);
  return `module.exports = async () => {
  for (const declaration of ${JSON.stringify(declarations)}) {
    const endpoint = new WebhookEndpoint(...declaration);
    await new Promise((resolve) => endpoint.urn.apply(resolve));
  }
};`;
}

/** The engine deletes what does not depend on each other in any order, and last. */
function settled(trace: readonly string[]): string[] {
  const isDelete = (call: string) => call.startsWith("delete ");
  const last = 1 + trace.findLastIndex((call) => !isDelete(call));
  return [...trace.slice(0, last), ...trace.slice(last).sort()];
}

/** What the real engine calls, step by step. */
async function traceOfEngine(steps: readonly Step[]): Promise<string[][]> {
  const emulator = await startEmulator();
  const project = new Project({
    config: {
      "webhooks:baseUrl": emulator.url,
      "webhooks:apiKey": emulator.apiKey,
      "webhooks:timeoutSeconds": "1",
    },
  });
  const file = join(project.folder, "trace.txt");
  project.write("tracer.cjs", tracer);
  Object.assign(project.env, {
    TRACE: file,
    NODE_OPTIONS: `${project.env.NODE_OPTIONS} --require ${join(project.folder, "tracer.cjs")}`,
  });
  try {
    const traces: string[][] = [];
    for (const { command, options = {}, meanwhile, program } of steps) {
      if (program) project.inlineProgram(inOrder(program));
      meanwhile?.(emulator);
      writeFileSync(file, "");
      await project.pulumi(
        command,
        ...(command === "preview" ? [] : ["--yes", "--skip-preview"]),
        "--parallel=1",
        ...(options.refresh ? ["--refresh"] : []),
        ...(options.replace ?? []).flatMap((name) => ["--replace", project.urn(name)]),
        ...(options.targets ?? []).flatMap((name) => ["--target", project.urn(name)]),
      );
      traces.push(settled(readFileSync(file, "utf8").split("\n").filter(Boolean)));
    }
    return traces;
  } finally {
    project.dispose();
    await emulator.close();
  }
}

/** What the model of it calls. */
async function traceOfModel(steps: readonly Step[]): Promise<string[][]> {
  const plugin = await Plugin.start();
  const world = await World.start({ plugin: async () => plugin });
  try {
    const traces: string[][] = [];
    let program: readonly Declared[] = [];
    for (const step of steps) {
      program = step.program ?? program;
      step.meanwhile?.(world.emulator);
      const options = { ...step.options, parallel: 1 };
      if (step.command === "up" || step.command === "preview")
        await world.stack[step.command](program, options);
      else await world.stack[step.command](options);
      traces.push(settled(world.calls.splice(0)));
    }
    return traces;
  } finally {
    await world.close();
    await plugin.stop();
  }
}

test.each(Object.entries(runs))(
  "the model of the engine calls the verbs in the order of the real one: %s",
  async (_name, steps) => {
    expect(await traceOfModel(steps)).toEqual(await traceOfEngine(steps));
  },
);

/** What two kills of an `up` leave behind, after one that succeeded and one that failed. */
interface Left {
  /** The unfinished operations while the first `up` waits, while the second one does, and after a refresh. */
  readonly operations: readonly (readonly string[])[];
  /** The last run first. */
  readonly history: readonly Pick<PastRun, "kind" | "result">[];
}

/** An `up` whose registrations all hang, so many of them. */
interface Hanging {
  readonly program: readonly Declared[];
  readonly count: number;
}
const hanging: readonly Hanging[] = [
  { program: [declared("a"), declared("b"), declared("c")], count: 2 },
  // Another type: for the same one the second run would first wait for what the first one sent.
  {
    program: [declared("a"), declared("c", { type: "development" }), declared("d"), declared("e")],
    count: 3,
  },
];

/** The order within one run is the engine's own: all operations of a run begin at once. */
function sortedByRun(names: readonly string[], left: readonly string[] = []): string[] {
  const own = names.length - left.length;
  return [...names.slice(0, own).sort(), ...names.slice(own).sort()];
}

const registrations = (emulator: Emulator) =>
  emulator.requests.filter(({ method }) => method === "POST").length;

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10);
}

async function leftByEngine(): Promise<Left> {
  const emulator = await startEmulator();
  const project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
  });
  // A kill can leave a file of attributes empty, and then no command can read the state (engine rule 26).
  project.env.PULUMI_BACKEND_URL += "?metadata=skip";
  const declare = (program: readonly Declared[]) =>
    project.declare(Object.fromEntries(program.map(({ name, args }) => [name, args])));
  const unfinished = async () => {
    const { pending_operations: operations = [] } = await project.state();
    return operations.filter(({ type }) => type === "creating").map(({ resource }) => nameOf(resource.urn));
  };
  try {
    declare([declared("a")]);
    await project.up();
    emulator.fault({ operation: "register", kind: "status", status: 422 });
    declare([declared("a"), declared("refused")]);
    await project.pulumi("up", "--yes", "--skip-preview");
    const operations: string[][] = [await unfinished()];
    for (const { program, count } of hanging) {
      declare(program);
      emulator.clearFaults();
      emulator.fault({ operation: "register", kind: "hang-before", times: count });
      const before = registrations(emulator);
      const args = ["up", "--yes", "--skip-preview", "--non-interactive"];
      const options = { cwd: project.folder, env: project.env, detached: true, stdio: "ignore" } as const;
      const child = spawn("pulumi", args, options);
      const ended = new Promise((resolve) => child.once("exit", resolve));
      try {
        await until(() => registrations(emulator) === before + count);
        operations.push(sortedByRun(await unfinished(), operations.at(-1)));
      } finally {
        killAll(processesOf(child));
      }
      await ended;
      await project.succeed("cancel", "--yes");
    }
    await project.refresh();
    operations.push(sortedByRun(await unfinished(), operations.at(-2)));
    const history: PastRun[] = JSON.parse(await project.succeed("stack", "history", "--json"));
    return { operations, history: history.map(({ kind, result }) => ({ kind, result })) };
  } finally {
    project.dispose();
    await emulator.close();
  }
}

async function leftByModel(): Promise<Left> {
  const plugin = new LivingPlugin();
  const world = await World.start({ plugin: () => plugin.get() });
  const { emulator, stack } = world;
  const unfinished = () => stack.pendingCreates.map(({ urn }) => nameOf(urn));
  try {
    await stack.up([declared("a")]);
    emulator.fault({ operation: "register", kind: "status", status: 422 });
    await stack.up([declared("a"), declared("refused")]);
    const operations: string[][] = [unfinished()];
    for (const { program, count } of hanging) {
      emulator.clearFaults();
      emulator.fault({ operation: "register", kind: "hang-before", times: count });
      const before = registrations(emulator);
      const run = stack.up(program).catch(() => {});
      await until(() => registrations(emulator) === before + count);
      operations.push(sortedByRun(unfinished(), operations.at(-1)));
      plugin.kill({ alone: false });
      await run;
    }
    await stack.refresh();
    operations.push(sortedByRun(unfinished(), operations.at(-2)));
    return { operations, history: stack.history.map(({ kind, result }) => ({ kind, result })) };
  } finally {
    await world.close();
    await plugin.stop();
  }
}

test("the model of the engine keeps what killed runs left unfinished, and a history, as the real one does", async () => {
  const left = await leftByModel();
  expect(left.operations).toEqual([[], ["b", "c"], ["c", "d", "e", "b", "c"], ["c", "d", "e", "b", "c"]]);
  expect(left).toEqual(await leftByEngine());
});
