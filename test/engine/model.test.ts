import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import type { Declared, RunOptions } from "../endpoint/engineModel";
import { Plugin } from "../endpoint/plugin";
import { World } from "../endpoint/world";
import { Project } from "./project";

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
    NODE_OPTIONS: `--require ${join(project.folder, "tracer.cjs")}`,
  });
  try {
    const traces: string[][] = [];
    for (const { command, options = {}, meanwhile, program } of steps) {
      if (program) project.program(inOrder(program));
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
