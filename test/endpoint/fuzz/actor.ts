import { readdirSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { recover } from "../../../src/cli/recovery/recovery";
import type { EmulatedEndpoint, PlantedFault } from "../../../src/emulator";
import { keyOf } from "../../../src/settlement/identity";
import { TYPE_TOKEN } from "../../../src/shared/permanent";
import { isMadeInTime, patienceMsFor } from "../../../src/endpoint/settlement";
import { isUnanswered } from "../../../src/endpoint/state";
import type { EndpointState } from "../../../src/endpoint/types";
import { FakePulumi } from "../../cli/fakePulumi";
import { skippingClock } from "../../cli/recovery/skippingClock";
import { historyOf, providerOf } from "../checkpoint";
import { type Declared, nameOf, type Problems, type Resource, type RunOptions } from "../engineModel";
import { Killed } from "../plugin";
import { timeoutSeconds, World } from "../world";
import type { LivingPlugin } from "./livingPlugin";
import { type Arguments, type Command, type Heal, type Kill, providers, type Step } from "./scenario";

/** How many times faster than it does time runs. */
const speed = 10;
/** How long the real CLI takes at least to start a run, in milliseconds: more than the history's times are exact to. */
const startMs = 2_000;
const patienceMs = patienceMsFor(timeoutSeconds * 1_000);

/** Everything that is wrong after at most two undisturbed runs, one more that changes nothing, and a destroy. */
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
  #count = 0;

  private constructor(
    private readonly world: World,
    private readonly plugin: LivingPlugin,
  ) {}

  static async play(scenario: readonly Step[], plugin: LivingPlugin): Promise<Outcome> {
    const explicit = providers.filter((name) => name !== "");
    const world = await World.start({
      plugin: () => plugin.get(),
      speed,
      providers: explicit,
      elsewhere: ["third"],
    });
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
        if (declared) this.#program.set(step.slot, { ...declared, provider: step.to });
        return;
      case "swap": {
        const [a, b] = step.slots.map((slot) => this.#program.get(slot));
        if (!a || !b) return;
        this.#program.set(step.slots[0], { ...a, args: { ...b.args, type: a.args.type } });
        this.#program.set(step.slots[1], { ...b, args: { ...a.args, type: b.args.type } });
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
        const fault = this.world
          .emulatorOf(step.elsewhere ? "third" : "")
          .fault({ ...misbehaviour, operation, times, after });
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
    const { emulators } = this.world;
    const url = `https://${what}.example.com/${++this.#count}`;
    if (what === "add") {
      const added = emulators[at % emulators.length]?.add({ url, type: "production" });
      if (added) this.#others.push(added);
      return;
    }
    // Not one that was registered and is not recorded yet: nobody could know it again.
    const known = emulators.flatMap((emulator) =>
      emulator
        .endpoints()
        .filter(({ id }) => this.#has(id) || this.#others.some((other) => other.id === id))
        .map(({ id }) => ({ emulator, id })),
    );
    const { emulator, id } = known[at % known.length] ?? {};
    if (emulator === undefined || id === undefined) return;
    if (what === "edit") emulator.edit(id, { url });
    else {
      emulator.remove(id);
      this.#others = this.#others.filter((other) => other.id !== id);
    }
  }

  async #run({ command, refresh, parallel, replace, retries, kill, declares }: Command): Promise<void> {
    for (const { slot, args } of declares) await this.#act({ do: "declare", slot, args });
    const replaced = replace === null ? undefined : this.#program.get(replace)?.name;
    const options = {
      parallel,
      refresh,
      retries,
      ...(replaced === undefined ? {} : { replace: [replaced] }),
    };
    if (kill === null) await this.#command(command, options);
    else await this.#killed(command, options, kill);
  }

  async #command(command: Command["command"], options: RunOptions): Promise<Problems> {
    const { stack } = this.world;
    const program = [...this.#program.values()];
    let problems: Problems;
    try {
      problems =
        command === "up" || command === "preview"
          ? await stack[command](program, options)
          : await stack[command](options);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      problems = ["killed"];
    }
    for (const problem of problems) this.#tell(problem);
    await this.#lateCommits();
    return problems;
  }

  /** Until the service has done what it was asked for: before that, nobody could say what results from it. */
  async #lateCommits(): Promise<void> {
    const met = this.#late.filter(({ fault, hits }) => fault.hits > hits);
    for (const late of met) late.hits = late.fault.hits;
    if (met.length > 0) await sleep(Math.max(...met.map(({ milliseconds }) => milliseconds)) + 50);
    this.#forgetTooLate();
  }

  /**
   * Takes back what a registration made too late to be told from another process's: a busy machine may have delayed its request
   * on the way to the service.
   */
  #forgetTooLate(): void {
    const { emulators, stack } = this.world;
    for (const { outputs } of stack.resources) {
      const state = outputs as unknown as EndpointState;
      if (!isUnanswered(state)) continue;
      const made = this.world.strangers().filter((each) => keyOf(each) === keyOf(state));
      for (const endpoint of made) {
        const isOther = this.#others.some(({ id }) => id === endpoint.id);
        if (isOther || isMadeInTime(endpoint, state.pending, patienceMs)) continue;
        this.#tell(`endpoint ${endpoint.id} came too late`);
        emulators.find((each) => each.endpoints().some(({ id }) => id === endpoint.id))?.remove(endpoint.id);
      }
    }
  }

  /** A command that is killed, and what the user does then. */
  async #killed(command: Command["command"], options: RunOptions, kill: Kill): Promise<void> {
    for (const [index, requests] of kill.after.entries()) {
      await sleep(this.world.clock.real(startMs));
      const isSecond = index > 0;
      if (isSecond) this.#tell("an up that is killed too");
      const stopWatching = this.#watch(requests, kill);
      try {
        await this.#command(isSecond ? "up" : command, {
          ...options,
          leavesHistory: kill.what === "interrupt",
        });
      } finally {
        stopWatching();
      }
    }
    if (command === "up" || kill.after.length > 1) await this.#heal(kill, options);
  }

  /** Kills when it is time. Returns what ends the watch. */
  #watch(count: number, { at, what }: Kill): () => void {
    const { emulators } = this.world;
    const had = () => emulators.reduce((sum, { requests }) => sum + requests.length, 0);
    const until = had() + count;
    const unanswered =
      at === "request"
        ? []
        : emulators.map((emulator) =>
            // Not after many others: most runs register few.
            emulator.fault({ operation: "register", kind: "hang-after", after: Math.max(0, count - 1) }),
          );
    const isTime = () => (at === "request" ? had() >= until : unanswered.some(({ hits }) => hits > 0));
    const watch = setInterval(() => {
      if (!isTime()) return;
      clearInterval(watch);
      this.#tell("a kill");
      this.plugin.kill({ alone: what === "plugin" });
    }, 1);
    return () => {
      clearInterval(watch);
      for (const fault of unanswered) fault.remove();
    };
  }

  async #heal({ what, heal }: Kill, { replace }: RunOptions): Promise<void> {
    const by = this.#healer(what, heal, replace);
    if (by !== "up") for (const emulator of this.world.emulators) emulator.clearFaults();
    if (by === "recover") {
      if (this.world.stack.pendingCreates.length > 0) await this.#recover(what === "interrupt");
      return;
    }
    const { first, refresh, parallel } = heal;
    // The same command again: an `up` that creates nothing for a resource takes nothing over for it.
    const options = { refresh, parallel, ...(replace === undefined ? {} : { replace }) };
    const up = () => this.#healByUp(first, options);
    await (by === "up" ? up() : this.world.machine.elsewhere(up));
  }

  #healer(what: Kill["what"], { by }: Heal, replace: RunOptions["replace"]): Heal["by"] {
    // Only this machine remembers what a plugin has registered that was killed alone.
    if (what === "plugin") return "up";
    // And that a resource was to be replaced as it is: the state looks as if the registration had been settled.
    return by === "up elsewhere" && replace !== undefined ? "recover" : by;
  }

  /** Until an `up` succeeds: only the first one is disturbed. */
  async #healByUp(first: Heal["first"], options: RunOptions): Promise<void> {
    if (first !== null) {
      this.#tell(`${first} after a kill`);
      await this.#command(first, {});
    }
    for (let runs = 0; runs < 3; runs++) {
      this.#tell("up after a kill");
      const problems = await this.#command("up", options);
      if (problems.length === 0) return;
      for (const emulator of this.world.emulators) emulator.clearFaults();
    }
  }

  /** `webhook-endpoints recover`, by a person who knows the service. */
  async #recover(leftHistory: boolean): Promise<void> {
    this.#tell("recover");
    const { stack, clock } = this.world;
    const pending = stack.pendingCreates;
    // The killed run wrote the state last: history and state are dated to the second, and time runs fast here.
    const [last] = stack.history;
    const time = leftHistory && last ? last.endTime : new Date(clock.now() + 2_000).toISOString();
    const pulumi = new FakePulumi(
      { deployment: this.world.deployment(stack, time) },
      Object.fromEntries(Object.entries(this.world.configOf("")).map(([key, value]) => [key, { value }])),
      historyOf(stack),
    );
    const ask = async (question: string) => {
      const { inputs } = pending.find(({ urn }) => question.startsWith(`${nameOf(urn)}: `)) ?? {};
      if (!inputs) return "y";
      const listed = this.world.endpoints().filter(({ id }) => question.includes(id));
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
      .map((resource: Resource) => ({ ...resource, provider: providerOf(resource.provider) }));
    stack.pendingCreates = [];
  }

  async #settle(): Promise<string[]> {
    const { stack, emulators } = this.world;
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
    for (const emulator of emulators) emulator.clearFaults();
    const program = [...this.#program.values()];
    const wrong = await undisturbed("up", program);
    for (const emulator of emulators) emulator.clearRequests();
    this.#tell("an up that changes nothing");
    wrong.push(...(await stack.up(program)));
    for (const { method, path } of emulators.flatMap((emulator) => emulator.requests))
      if (method !== "GET") wrong.push(`nothing was to be changed, and was: ${method} ${path}`);
    return wrong.length > 0 ? wrong : undisturbed("destroy", []);
  }

  #tell(event: unknown): void {
    this.#story.push(typeof event === "string" ? `    ${event}` : JSON.stringify(event));
  }
}
