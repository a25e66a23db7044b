import type { EmulatedEndpoint, PlantedFault } from "../../../src/emulator";
import { sameUrl } from "../../../src/shared/url";
import { type Declared, nameOf, type Problems, type RunOptions } from "../engineModel";
import { Killed } from "../plugin";
import { World } from "../world";
import type { LivingPlugin } from "./livingPlugin";
import { type Arguments, type Command, type Heal, type Kill, providers, type Step } from "./scenario";

/** How many times faster than it does time runs. */
const speed = 10;
/** How long the real CLI takes at least to start a run, in milliseconds: more than the history's times are exact to. */
const startMs = 2_000;

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
  readonly #story: { at: number; event: string }[] = [];
  /** What is at the service and nobody's of the program. */
  #others: EmulatedEndpoint[] = [];
  readonly #late: { fault: PlantedFault; hits: number; milliseconds: number }[] = [];
  #count = 0;
  /** How many warnings the story has. */
  #warned = 0;

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
      actor.#warned = (await plugin.warnings()).length;
      for (const step of scenario) await actor.#act(step);
      const wrong = await actor.#settle();
      return { wrong, story: wrong.length === 0 ? [] : actor.#report() };
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
      const provider = at % 2 === 0 ? "" : "third";
      const account = provider || "default";
      this.#others.push(this.world.emulatorOf(provider).add({ url, type: "production" }, account));
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
    if (what === "edit") {
      emulator.edit(id, { url });
      this.#others = this.#others.map((other) => (other.id === id ? { ...other, url } : other));
    } else {
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
    const problems = await orKilled(
      command === "up" || command === "preview" ? stack[command](program, options) : stack[command](options),
    );
    for (const problem of problems) this.#tell(problem);
    const warnings = await this.plugin.warnings();
    for (const warning of warnings.slice(this.#warned)) this.#tell(`warning: ${warning}`);
    this.#warned = warnings.length;
    await this.#lateCommits();
    // docs/architecture.md, limits: an interrupted operation that nobody has cleared puts it in doubt.
    await this.#deleteNamed(/differs only in ip .* these endpoints are left/);
    return command === "up" && problems.some((problem) => problem.includes("REGISTRATION_IN_DOUBT"))
      ? this.#decide(program, options, problems.join("\n"))
      : problems;
  }

  /**
   * Does what `REGISTRATION_IN_DOUBT` says, as a person who knows the service: names each resource's endpoint in `adoptId`, or else
   * registers another one on purpose.
   */
  async #decide(program: readonly Declared[], options: RunOptions, doubts: string): Promise<Problems> {
    this.#tell("a person decides");
    const taken = this.#others.map(({ id }) => id);
    const decided = program.map((declared): Declared => {
      const { args, provider = "" } = declared;
      const made = this.#strangersAt(provider).find(
        ({ id, url, type, ip }) =>
          !taken.includes(id) && sameUrl(url, String(args.url)) && type === args.type && ip === args.ip,
      );
      if (made) taken.push(made.id);
      return { ...declared, args: { ifExists: "register", ...(made && { adoptId: made.id }), ...args } };
    });
    const problems = await orKilled(this.world.stack.up(decided, options));
    for (const problem of problems) this.#tell(problem);
    await this.#lateCommits();
    // A replacement adopts nothing: what it left is deleted by hand.
    this.#delete((id) => doubts.includes(id));
    await this.#deleteNamed(/these endpoints are left/);
    return problems;
  }

  /** Deletes what no resource has, and is nobody else's. */
  #delete(condemned: (id: string) => boolean): void {
    const strangers = this.world.strangers();
    for (const emulator of this.world.emulators)
      for (const { id } of strangers) {
        const isThere = emulator.endpoints().some((each) => each.id === id);
        if (!isThere || this.#others.some((other) => other.id === id) || !condemned(id)) continue;
        this.#tell(`deletes ${id} by hand`);
        emulator.remove(id);
      }
  }

  #strangersAt(provider: string): EmulatedEndpoint[] {
    const known = new Set(this.world.stack.resources.map(({ id }) => id));
    const account = provider === "" ? "default" : provider;
    return this.world
      .emulatorOf(provider)
      .endpoints(account)
      .filter(({ id }) => !known.has(id));
  }

  /** Until the service has done what it was asked for: before that, nobody could say what results from it. */
  async #lateCommits(): Promise<void> {
    const met = this.#late.filter(({ fault, hits }) => fault.hits > hits);
    for (const late of met) late.hits = late.fault.hits;
    if (met.length === 0) return;
    await this.world.clock.sleep((Math.max(...met.map(({ milliseconds }) => milliseconds)) + 50) * speed);
  }

  /** A command that is killed, and what the user does then. */
  async #killed(command: Command["command"], options: RunOptions, kill: Kill): Promise<void> {
    for (const [index, requests] of kill.after.entries()) {
      await this.world.clock.sleep(startMs);
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
    // Only this machine remembers what a plugin has registered that was killed alone.
    const isElsewhere = heal.by === "up elsewhere" && what !== "plugin";
    if (isElsewhere) for (const emulator of this.world.emulators) emulator.clearFaults();
    const { first, refresh, parallel } = heal;
    // The same command again: an `up` that creates nothing for a resource takes nothing over for it.
    const options = { refresh, parallel, ...(replace === undefined ? {} : { replace }) };
    const up = () => this.#healByUp(first, options);
    await (isElsewhere ? this.world.machine.elsewhere(up) : up());
    // Elsewhere, the state looks as if a resource that was to be replaced as it is had been settled.
    if (isElsewhere && replace !== undefined) await this.#deleteNamed(/the service already has /);
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

  /** Deletes by hand what such a warning named and no resource has. */
  async #deleteNamed(kind: RegExp): Promise<void> {
    const warnings = (await this.plugin.warnings()).filter((warning) => kind.test(warning));
    this.#delete((id) => warnings.some((warning) => warning.includes(id)));
  }

  async #settle(): Promise<string[]> {
    const { stack, emulators } = this.world;
    const undisturbed = async (command: "up" | "destroy", program: readonly Declared[]) => {
      let wrong: string[] = [];
      for (let runs = 0; runs < 2; runs++) {
        this.#tell(`undisturbed ${command}`);
        const problems = await this.#command(command, command === "up" ? { refresh: true } : {});
        // An endpoint that was edited before its time was known looks like another account's, or like what has its id now.
        await this.#deleteNamed(/is not in the account of the current API key|has used this id again/);
        wrong = [...problems, ...this.world.differences(program, this.#others)];
        if (wrong.length === 0) break;
      }
      return wrong;
    };
    for (const emulator of emulators) emulator.clearFaults();
    const program = [...this.#program.values()];
    const wrong = await undisturbed("up", program);
    const before = emulators.map((emulator) => emulator.requests.length);
    this.#tell("an up that changes nothing");
    wrong.push(...(await stack.up(program)));
    for (const { method, path } of emulators.flatMap((emulator, at) => emulator.requests.slice(before[at])))
      if (method !== "GET") wrong.push(`nothing was to be changed, and was: ${method} ${path}`);
    return wrong.length > 0 ? wrong : undisturbed("destroy", []);
  }

  #tell(event: unknown): void {
    this.#story.push({
      at: this.world.clock.date(),
      event: typeof event === "string" ? `    ${event}` : JSON.stringify(event),
    });
  }

  /** Returns what happened, with every request that could change the service, in the order of the scenario's time. */
  #report(): string[] {
    const requests = this.world.emulators.flatMap((emulator, service) =>
      emulator.requests
        .filter(({ method }) => method !== "GET")
        .map(({ at, method, path, statusCode, fault = "", account, body = "" }) => ({
          at,
          event: `        ${service} ${account} ${method} ${path} ${statusCode} ${fault} ${JSON.stringify(body)}`,
        })),
    );
    return [...this.#story, ...requests]
      .sort((one, other) => one.at - other.at)
      .map(({ at, event }) => `${(at / 1000).toFixed(3).slice(-8)} ${event}`);
  }
}

/** A run may be killed at any moment, also that in which a person decides. */
function orKilled(running: Promise<Problems>): Promise<Problems> {
  return running.catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
    return ["killed"];
  });
}
