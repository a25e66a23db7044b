import { readdirSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { recover } from "../../../src/cli/recovery";
import type { EmulatedEndpoint, PlantedFault } from "../../../src/emulator";
import { TYPE_TOKEN } from "../../../src/endpoint/permanent";
import { FakePulumi } from "../../cli/fakePulumi";
import { skippingClock } from "../../cli/skippingClock";
import { type Declared, nameOf, type Problems, type Resource, type RunOptions } from "../engineModel";
import { Killed } from "../plugin";
import { World } from "../world";
import type { LivingPlugin } from "./livingPlugin";
import { type Arguments, type Command, providers, type Step } from "./scenario";

/** How many times faster than it does time runs. */
const speed = 10;

/** What is not as it must be after at most two undisturbed runs, one more that changes nothing, and a destroy. */
export interface Outcome {
  readonly wrong: readonly string[];
  /** What the user, the engine and everybody else did, for the report of a failure. */
  readonly story: readonly string[];
}

/** Carries out scenarios: it is the user, the engine and everybody else at the service. */
export class Actor {
  /** By slot: a resource keeps its place in the program, whatever it is called. */
  readonly #program = new Map<number, Declared>();
  readonly #story: string[] = [];
  /** What is at the service and nobody's of the program. */
  #others: EmulatedEndpoint[] = [];
  readonly #late: { fault: PlantedFault; hits: number; milliseconds: number }[] = [];
  /** When the last run ended that was not killed: the stack's history. */
  #lastRun: string | undefined;
  #count = 0;

  private constructor(
    private readonly world: World,
    private readonly plugin: LivingPlugin,
  ) {}

  static async play(scenario: readonly Step[], plugin: LivingPlugin): Promise<Outcome> {
    const explicit = providers.filter((name) => name !== "");
    const world = await World.start({ plugin: () => plugin.get(), speed, providers: explicit });
    try {
      const actor = new Actor(world, plugin);
      for (const step of scenario) await actor.#act(step);
      const wrong = await actor.#settle();
      return { wrong, story: actor.#story };
    } finally {
      await world.close();
    }
  }

  async #act(step: Step): Promise<void> {
    this.#tell(step);
    const { emulator } = this.world;
    const declared = "slot" in step ? this.#program.get(step.slot) : undefined;
    switch (step.do) {
      case "declare":
        this.#program.set(step.slot, { name: `r${step.slot}`, ...declared, args: { ...step.args } });
        return;
      case "remove":
        this.#program.delete(step.slot);
        return;
      case "rename": {
        if (!declared) return;
        const aliases = step.alias ? [...(declared.aliases ?? []), declared.name] : [];
        this.#program.set(step.slot, { ...declared, name: `r${step.slot}-${++this.#count}`, aliases });
        return;
      }
      case "delete first":
        if (declared) this.#program.set(step.slot, { ...declared, deleteBeforeReplace: true });
        return;
      case "move":
        if (declared)
          this.#program.set(step.slot, { ...declared, provider: declared.provider ? "" : "second" });
        return;
      case "swap": {
        const [a, b] = step.slots.map((slot) => this.#program.get(slot));
        if (!a || !b) return;
        this.#program.set(step.slots[0], { ...a, args: { ...a.args, url: b.args.url } });
        this.#program.set(step.slots[1], { ...b, args: { ...b.args, url: a.args.url } });
        return;
      }
      case "adopt":
        return this.#adopt(step.slot, step.args);
      case "steal":
        return this.#steal(...step.slots);
      case "behind":
        return this.#meddle(step.what, step.at);
      case "rotate":
        this.world.rotateKey(step.provider);
        return;
      case "fault": {
        const { operation, misbehaviour, times, after } = step;
        const fault = emulator.fault({ ...misbehaviour, operation, times, after });
        if (misbehaviour.kind === "late-commit")
          this.#late.push({ fault, hits: 0, milliseconds: misbehaviour.delayMs });
        return;
      }
      case "run":
        return this.#run(step);
    }
  }

  /** Takes over an endpoint that somebody has made, in a run; afterwards the program says no more of it. */
  async #adopt(slot: number, args: Arguments): Promise<void> {
    const name = `r${slot}`;
    if (this.#program.has(slot) || this.world.stack.resources.some(({ urn }) => nameOf(urn) === name)) return;
    const { id } = this.world.emulator.add(args);
    this.#others.push(...this.world.emulator.endpoints().filter((endpoint) => endpoint.id === id));
    this.#program.set(slot, { name, args: { ...args, adoptId: id } });
    await this.#command("up", {});
    this.#others = this.#others.filter((other) => other.id !== id || !this.#has(id));
    if (this.#has(id)) this.#program.set(slot, { name, args: { ...args } });
    else this.#program.delete(slot);
  }

  /** Wants what another resource has; afterwards the program says no more of it. */
  async #steal(slot: number, from: number): Promise<void> {
    const victim = this.#program.get(from);
    const its = this.world.stack.resources.find(
      ({ urn, delete: gone }) => nameOf(urn) === victim?.name && !gone,
    );
    if (slot === from || !victim || !its || its.initErrors) return;
    const declared = this.#program.get(slot) ?? { name: `r${slot}` };
    this.#program.set(slot, { ...declared, args: { ...victim.args, adoptId: its.id } });
    await this.#command("up", {});
    this.#program.set(slot, { ...declared, args: { ...victim.args } });
  }

  #has(id: string): boolean {
    return this.world.stack.resources.some((resource) => resource.id === id);
  }

  #meddle(what: "add" | "delete" | "edit", at: number): void {
    const { emulator } = this.world;
    const url = `https://${what}.example.com/${++this.#count}`;
    if (what === "add") {
      this.#others.push(emulator.add({ url, type: "production" }));
      return;
    }
    // Not one that was registered and is not recorded yet: nobody could know it again.
    const known = emulator
      .endpoints()
      .filter(({ id }) => this.#has(id) || this.#others.some((other) => other.id === id));
    const { id } = known[at % known.length] ?? {};
    if (id === undefined) return;
    if (what === "edit") emulator.edit(id, { url });
    else {
      emulator.remove(id);
      this.#others = this.#others.filter((other) => other.id !== id);
    }
  }

  async #run({ command, refresh, parallel, replace, killAfter }: Command): Promise<void> {
    const replaced = replace === null ? undefined : this.#program.get(replace)?.name;
    const options = { parallel, refresh, ...(replaced === undefined ? {} : { replace: [replaced] }) };
    if (killAfter === null) await this.#command(command, options);
    else await this.#killed(command, options, killAfter);
  }

  async #command(command: Command["command"], options: RunOptions): Promise<Problems> {
    const { stack, clock } = this.world;
    const program = [...this.#program.values()];
    let problems: Problems;
    try {
      problems =
        command === "up" || command === "preview"
          ? await stack[command](program, options)
          : await stack[command](options);
      if (command !== "preview") this.#lastRun = new Date(clock.now()).toISOString();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      problems = ["killed"];
    }
    for (const problem of problems) this.#tell(problem);
    await this.#lateCommits();
    if (stack.pendingCreates.length > 0) await this.#recover();
    return problems;
  }

  /** Until the service has done what it was asked for: sooner, nobody could say what comes of it. */
  async #lateCommits(): Promise<void> {
    const met = this.#late.filter(({ fault, hits }) => fault.hits > hits);
    for (const late of met) late.hits = late.fault.hits;
    if (met.length > 0) await sleep(Math.max(...met.map(({ milliseconds }) => milliseconds)) + 50);
  }

  /** A command that is killed when the service has had so many requests of it. */
  async #killed(command: Command["command"], options: RunOptions, requests: number): Promise<void> {
    const { emulator } = this.world;
    const had = emulator.requests.length + requests;
    const watch = setInterval(() => {
      if (emulator.requests.length < had) return;
      clearInterval(watch);
      this.plugin.kill();
    }, 1);
    try {
      await this.#command(command, options);
    } finally {
      clearInterval(watch);
    }
  }

  /** `webhook-endpoints recover`, by a person who knows the service. */
  async #recover(): Promise<void> {
    const { stack, emulator, clock } = this.world;
    emulator.clearFaults();
    const pending = stack.pendingCreates;
    const pulumi = new FakePulumi(
      { deployment: this.#deployment() },
      Object.fromEntries(Object.entries(this.world.configOf("")).map(([key, value]) => [key, { value }])),
      this.#lastRun === undefined ? [] : [{ endTime: this.#lastRun }],
    );
    const ask = async (question: string) => {
      const { inputs } = pending.find(({ urn }) => question.startsWith(`${nameOf(urn)}: `)) ?? {};
      if (!inputs) return "y";
      const listed = emulator.endpoints().filter(({ id }) => question.includes(id));
      return listed.find(({ ip }) => ip === inputs.ip)?.id ?? "none";
    };
    const say = (line: string) => this.#tell(line);
    const result = await recover({
      pulumi,
      dialogue: { say, ask },
      yes: false,
      // For the backup of the state.
      environment: { PULUMI_HOME: "." },
      clock: skippingClock(clock.now),
    });
    for (const file of readdirSync(".")) rmSync(file, { recursive: true });
    if (result !== "done" || pulumi.imported === undefined) throw new Error("the recovery did not end");
    const { resources } = JSON.parse(pulumi.imported).deployment;
    stack.resources = resources
      .filter(({ type }: Resource) => type === TYPE_TOKEN)
      .map((resource: Resource) => ({ ...resource, provider: resource.provider.split("::").at(-2) }))
      .map((resource: Resource) => ({ ...resource, provider: resource.provider.replace("default", "") }));
    stack.pendingCreates = [];
  }

  /** The state as the real engine would export it. */
  #deployment(): Record<string, unknown> {
    const { stack } = this.world;
    const urnOfProvider = (name: string) =>
      `urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::${name === "" ? "default" : name}`;
    const exported = <T extends { provider: string }>(resource: T) => ({
      ...resource,
      provider: `${urnOfProvider(resource.provider)}::1`,
    });
    const accounts = providers.map((name) => ({
      urn: urnOfProvider(name),
      id: "1",
      type: "pulumi:providers:pulumi-nodejs",
      inputs: this.world.configOf(name),
    }));
    // The killed run was the last one: history and state are dated to the second, and time runs fast here.
    const time = new Date(this.world.clock.now() + 2_000).toISOString();
    return {
      manifest: { time },
      resources: [...accounts, ...stack.resources.map(exported)],
      pending_operations: stack.pendingCreates.map((each) => ({
        type: "creating",
        resource: exported(each),
      })),
    };
  }

  async #settle(): Promise<string[]> {
    const { stack, emulator } = this.world;
    const undisturbed = async (command: "up" | "destroy", program: readonly Declared[]) => {
      let wrong: string[] = [];
      for (let runs = 0; runs < 2; runs++) {
        this.#tell(`undisturbed ${command}`);
        const problems = await this.#command(command, command === "up" ? { refresh: true } : {});
        wrong = [...problems, ...this.world.differences(program, this.#others)];
        if (wrong.length === 0) break;
      }
      return wrong;
    };
    emulator.clearFaults();
    const program = [...this.#program.values()];
    const wrong = await undisturbed("up", program);
    emulator.clearRequests();
    this.#tell("an up that changes nothing");
    wrong.push(...(await stack.up(program)));
    for (const { method, path } of emulator.requests)
      if (method !== "GET") wrong.push(`nothing was to be changed, and was: ${method} ${path}`);
    return wrong.length > 0 ? wrong : undisturbed("destroy", []);
  }

  #tell(event: unknown): void {
    this.#story.push(typeof event === "string" ? `    ${event}` : JSON.stringify(event));
  }
}
