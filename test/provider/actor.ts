import { type Evidence, evidenceOf } from "../../src/provider/facts/registrationEvidence";
import type { EndpointInputs } from "../../src/provider/state";
import { isPendingId, TYPE_TOKEN } from "../../src/shared/permanent";
import { nameOf } from "../../src/shared/urn";
import {
  type Command,
  type Declared,
  Killed,
  type Operation,
  type Problems,
  type RunOptions,
} from "./engineModel";
import { excusedOrphans, namesId } from "./excuses";
import type { Fault, Habits, Logged, Registered } from "./fakeService";
import type { Shows } from "./pulumiModel";
import { EDITED, GRACE_MS, World } from "./world";

export interface Kill {
  /** How many of these pass first: with two numbers, a second `up` is killed, too. */
  readonly after: readonly number[];
  readonly at: "request" | "registration";
  /** Whether it is the user who cancels, once. Default: everything is killed. */
  readonly isCtrlC?: boolean;
}

export type Step =
  /** A resource is added to the program, or declared otherwise. It keeps its place, whatever it is called. */
  | { readonly do: "declare"; readonly slot: number; readonly to: Partial<Declared> }
  | { readonly do: "rename"; readonly slot: number; readonly alias: boolean }
  | { readonly do: "remove"; readonly slot: number }
  /** Somebody else registers what the program may declare, too. */
  | { readonly do: "other"; readonly args: EndpointInputs }
  /** A resource is to adopt one of what is at the service. Its `adoptId` stays in the program until an error says that it must not. */
  | { readonly do: "adopt"; readonly slot: number; readonly at: number }
  /** Behind Pulumi's back, to one of what is registered. */
  | { readonly do: "behind"; readonly what: "delete" | "edit"; readonly at: number }
  | { readonly do: "rotate"; readonly provider: string }
  | { readonly do: "fault"; readonly fault: Fault }
  | ({ readonly do: "run" } & Run);

interface Run extends Omit<RunOptions, "replace"> {
  readonly command: Command;
  /** By slot. */
  readonly replace?: number | undefined;
  readonly kill?: Kill | undefined;
}

/** How long the real CLI takes at least to start a run, in milliseconds. */
const START_MS = 2_000;
/** How long a list and a get may lag behind, in milliseconds. */
const LAG_MS = 5_000;
/** An endpoint is dated a little before its registration at most, also where clocks differ: what is older is nobody's doubt. */
const CLEARLY_OLDER_MS = 12_000;
/** A person who decides so often goes in a circle. */
const MOST_STOPS = 200;
const ADOPTION = /NOT_FOUND|ADOPT_TAKEN|ADOPT_MISMATCH/;
const STOP = new RegExp(`REGISTRATION_IN_DOUBT|ENDPOINT_EXISTS|STILL_PENDING|${ADOPTION.source}`);

/** Plays scenarios: it is the user, who follows the ways on that a stop names, and everybody else at the service. */
export class Actor {
  readonly world: World;
  /** Everything that is wrong after at most two undisturbed runs, one more that changes nothing, and a destroy. */
  wrong: readonly string[] = [];
  /** What the user, the engine, the service and everybody else did, for the report of a failure. */
  readonly story: string[] = [];
  /** The stops about which a person has decided. */
  readonly stops: string[] = [];
  /** By slot. */
  readonly #program = new Map<number, Declared>();
  /** Every url that was ever declared. */
  readonly #urls = new Set<string>();
  /** What is at the service and nobody's of the program. */
  #others: Registered[] = [];
  #count = 0;
  #warned = 0;
  /** The warnings of endpoints that Pulumi leaves to a person. */
  readonly #left: string[] = [];
  #kill: (Omit<Kill, "after"> & { left: number }) | undefined;
  /**
   * What nobody could know again: a list and a response of its own denied it in one command, which is believed; or it got the id of
   * something that the state still had.
   */
  readonly #unknowable = new Set<Registered>();
  /** What nobody asked for, whatever comes of it: an endpoint left the state without a word, or an `adoptId` that is done had an effect. */
  readonly #unasked: string[] = [];

  constructor(habits: Habits, shows?: Shows) {
    this.world = new World(habits, shows);
    this.world.service.watch = (request, moment) => this.#watch(request, moment);
  }

  /** @param restMs how long nothing happens after the last step */
  static async play(
    scenario: readonly Step[],
    habits: Habits = {},
    restMs = GRACE_MS,
    shows?: Shows,
  ): Promise<Actor> {
    const actor = new Actor(habits, shows);
    for (const step of scenario) {
      actor.#tell(JSON.stringify(step));
      await actor.#act(step);
      for (const { args } of actor.#declared) actor.#urls.add(args.url);
    }
    actor.wrong = await actor.#settle(restMs);
    return actor;
  }

  get #declared(): readonly Declared[] {
    return [...this.#program.values()];
  }

  async #act(step: Step): Promise<void> {
    const { service } = this.world;
    if (step.do === "remove") {
      this.#program.delete(step.slot);
    } else if (step.do === "declare" || step.do === "rename") {
      const { slot } = step;
      const old = this.#program.get(slot);
      const aliases = old && step.do === "rename" && step.alias ? [...(old.aliases ?? []), old.name] : [];
      const to = step.do === "declare" ? step.to : { name: `r${slot}-${++this.#count}`, aliases };
      const { adoptId } = { ...old?.args, ...to.args };
      const args = to.args ? { ...to.args, ...(adoptId && { adoptId }) } : old?.args;
      if (args) this.#program.set(slot, { name: `r${slot}`, ...old, ...to, args });
    } else if (step.do === "other") {
      // Sentence 1: not within the window of a registration without a response.
      if (this.#isInDoubt(step.args)) return;
      const other = service.add({ ...step.args });
      if (this.world.isTakenForOurs(other)) return service.remove(other);
      this.#others.push(other);
      await this.world.time.pass(CLEARLY_OLDER_MS);
    } else if (step.do === "adopt") {
      const { slot } = step;
      const old = this.#program.get(slot);
      const found = service.endpoints.filter(({ account }) => account === (old?.provider || "default"));
      const { id: adoptId, url, type } = found[step.at % found.length] ?? {};
      // Of two with one url, type and adoptId, nothing tells which is to adopt: an error asks to name it in only one of them.
      const isNamed = [...this.#program].some(([at, { args }]) => at !== slot && args.adoptId === adoptId);
      // Once a killed replacement has deleted first, an `adoptId` has an effect that had none before: such a resource gets another name,
      // as the page says of each that has an endpoint.
      const renamed = old?.deleteBeforeReplace && { name: `r${slot}-${++this.#count}`, aliases: [] };
      if (adoptId && url && type && !isNamed)
        this.#program.set(slot, { name: `r${slot}`, ...old, ...renamed, args: { url, type, adoptId } });
    } else if (step.do === "behind") {
      // Not one that was registered and is not recorded yet: nobody could know it again. What is written by hand would not notice.
      const isKnown = (each: Registered) => this.world.has(each, TYPE_TOKEN) || this.#others.includes(each);
      const known = service.endpoints.filter(isKnown);
      const endpoint = known[step.at % known.length];
      if (endpoint && step.what === "edit") endpoint.url = `${EDITED}${++this.#count}`;
      else if (endpoint) this.#remove(endpoint);
    } else if (step.do === "rotate") {
      this.world.rotateKey(step.provider);
    } else if (step.do === "fault") {
      service.fault(step.fault);
    } else {
      await this.#run(step);
    }
  }

  /** Whether a registration of this url and type that got no response may still be made, also one that a run has healed. */
  #isInDoubt(args: EndpointInputs): boolean {
    const { resources, pendingCreates } = this.world.stack;
    const now = this.world.time.date();
    const isIts = (each: Operation) => this.world.keyOf(each) === this.world.keyIn("", args);
    const pending = resources.filter((each) => isPendingId(each.id) && isIts(each)).map(evidenceOf);
    const interrupted = pendingCreates.filter(isIts).map(evidenceOf);
    const isSoon = ({ earliestSentAt = now }: Evidence) =>
      now <= earliestSentAt + GRACE_MS + CLEARLY_OLDER_MS;
    return [...pending, ...interrupted].some(isSoon);
  }

  async #run({ command, replace, kill, ...rest }: Run): Promise<void> {
    const name = this.#program.get(replace ?? -1)?.name;
    const options = { ...rest, replace: name === undefined ? [] : [name] };
    for (const [index, left] of (kill?.after ?? []).entries()) {
      this.#kill = { at: "request", ...kill, left };
      await this.#command(index > 0 ? "up" : command, options);
      this.#kill = undefined;
    }
    if (kill === undefined) return void (await this.#command(command, options));
    if (command !== "up" && kill.after.length === 1) return;
    // The same again, twice if faults remain: an `up` that creates nothing for a resource takes nothing over for it.
    if ((await this.#command("up", { ...options, retries: 0 })).length === 0) return;
    this.world.service.clearFaults();
    await this.#command("up", { ...options, retries: 0 });
  }

  async #command(command: Command, options: RunOptions): Promise<Problems> {
    // Sentence 8: refresh and destroy do not know the state, and could take an equal resource's endpoint for a pending resource's.
    const isBlind = command === "refresh" || command === "destroy" || options.refresh;
    if (isBlind && this.#hasPendingDuplicate()) return this.#command("up", { ...options, refresh: false });
    const problems = await this.#attempt(command, this.#declared, options);
    if (command !== "up") return problems;
    if (problems.some((problem) => /cannot move to another provider/.test(problem))) {
      this.#tell("a person refreshes, as the stop says");
      // Beside an equal one, too: what was asked for is there by then.
      await this.world.time.pass(GRACE_MS);
      const left = await this.#attempt("refresh", this.#declared, {});
      return left.some((problem) => STOP.test(problem)) ? left : this.#command("up", options);
    }
    return this.#decide(this.#declared, problems, options);
  }

  async #attempt(command: Command, program: readonly Declared[], options: RunOptions): Promise<Problems> {
    await this.world.time.pass(START_MS);
    const { service } = this.world;
    const [before, { length }] = [service.endpoints.filter((each) => this.world.has(each)), this.world.shown];
    const unowned = this.world.unowned();
    const problems = await this.world.run(command, program, options).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
      return ["killed"];
    });
    // No operation tells the next run to wait for what this one has sent.
    if (problems.includes("killed") && !this.world.pulumi.showsOperations)
      await this.world.time.pass(GRACE_MS);
    // Without an operation, nothing but lists tells of what a killed run made, and one that lacks it is believed (docs/resource.md).
    if (!this.world.pulumi.showsOperations)
      for (const each of unowned) if (service.denied.byList.has(each)) this.#unknowable.add(each);
    this.#noteDropped(before, [...problems, ...this.world.shown.slice(length).map(({ message }) => message)]);
    for (const problem of problems) this.#tell(problem);
    for (const warning of this.world.warnings.slice(this.#warned)) {
      this.#tell(`warning: ${warning}`);
      if (/these endpoints are left|is left as it is|is not in the account of today's API key/.test(warning))
        this.#left.push(warning);
    }
    const hasForgotten = await this.#forget(problems);
    this.#warned = this.world.warnings.length;
    for (const endpoint of service.endpoints)
      if (this.#isAdopted(endpoint, program)) {
        this.#others = this.#others.filter((other) => other !== endpoint);
        // Whatever its ip is.
        endpoint.by = undefined;
      }
    // Also what an earlier run warned of: it was killed when the state still had the endpoint, and no later run names it.
    this.#deleteNamed(this.#left);
    return hasForgotten ? this.#attempt(command, program, options) : problems;
  }

  /**
   * What has lost all endpoints of a key that was rotated, or had them edited, looks like another account's: the person knows better, and goes
   * the third way on, which ends with the same command again. Returns whether that is so.
   */
  async #forget(problems: Problems): Promise<boolean> {
    let hasForgotten = false;
    for (const problem of problems) {
      const [, key] = /registered with the key ([0-9a-f]{6}): it is another account/.exec(problem) ?? [];
      if (key === undefined) continue;
      // By then everything is there that was asked for.
      await this.world.time.pass(GRACE_MS);
      const { stack } = this.world;
      const forgotten = stack.resources.filter(({ outputs }) => outputs?.account === key);
      if (forgotten.length === 0) continue;
      hasForgotten = true;
      this.#tell(`a person forgets what was registered with the key ${key}`);
      const had = this.world.service.endpoints.filter((each) => this.world.has(each));
      stack.resources = stack.resources.filter((each) => !forgotten.includes(each));
      // What was edited is still there: the person knows that it was this stack's.
      for (const each of had) if (!this.world.has(each) && !this.#others.includes(each)) this.#remove(each);
      // Also what a registration without a response has made.
      const keys = forgotten.map((each) => isPendingId(each.id) && this.world.keyOf(each));
      const made = this.world.unowned().filter((each) => keys.includes(this.world.keyIn(each.account, each)));
      for (const each of made) if (!this.#others.includes(each)) this.#remove(each);
      this.#left.push(problem);
    }
    return hasForgotten;
  }

  /** Notes what a command left at the service, and no state has any more: it must have said so. */
  #noteDropped(before: readonly Registered[], messages: readonly string[]): void {
    const { denied, endpoints } = this.world.service;
    for (const each of denied.alone) if (denied.byList.has(each)) this.#unknowable.add(each);
    for (const each of Object.values(denied)) each.clear();
    if (messages.includes("killed")) return;
    const isNamed = ({ id }: Registered) => messages.some((each) => namesId(each, id));
    const isTheirs = (each: Registered) => this.#others.includes(each) || this.#unknowable.has(each);
    for (const each of before)
      if (endpoints.includes(each) && !this.world.has(each) && !isTheirs(each) && !isNamed(each))
        this.#unasked.push(`${each.id} left the state without a word`);
  }

  /** Whether the stack may have an endpoint because a resource says "adopt", or names it. */
  #isAdopted(endpoint: Registered, program: readonly Declared[]): boolean {
    const key = this.world.keyIn(endpoint.account, endpoint);
    const isIts = ({ provider, args }: Declared) =>
      this.world.keyIn(provider, args) === key && (args.ifExists === "adopt" || args.adoptId === endpoint.id);
    return this.world.has(endpoint) && program.some(isIts);
  }

  #hasPendingDuplicate(): boolean {
    const { resources } = this.world.stack;
    const names = resources.map(({ urn }) => nameOf(urn));
    const added = this.#declared.filter(({ name }) => !names.includes(name));
    const keys = resources.map((each) => this.world.keyOf(each));
    keys.push(...added.map(({ provider, args }) => this.world.keyIn(provider, args)));
    const pending = resources.filter(({ id }) => isPendingId(id)).map((each) => this.world.keyOf(each));
    return pending.some((key) => keys.indexOf(key) !== keys.lastIndexOf(key));
  }

  /** Follows the ways on that stops name, one after the other. */
  async #decide(program: readonly Declared[], problems: Problems, options: RunOptions): Promise<Problems> {
    const stopOf = ({ name, args }: Declared) =>
      problems.find(
        (each) => each.startsWith(`${name}: `) && (args.ifExists === "register" ? ADOPTION : STOP).test(each),
      );
    const stopped = program.find(stopOf);
    if (stopped === undefined) {
      // What is not needed is deleted by hand.
      if (problems.length === 0) this.#deleteNamed(this.stops);
      return problems;
    }
    const stop = stopOf(stopped) ?? "";
    this.stops.push(stop);
    if (this.stops.length > MOST_STOPS)
      throw new Error(["it stops again and again", ...this.story].join("\n"));
    if (ADOPTION.test(stop) && this.#hasNoEffect(stopped))
      this.#unasked.push(`adoptId has no effect once there is an endpoint: ${stop}`);
    this.#tell(`a person decides about ${stopped.name}`);
    // Whoever decides looks at the service, where by then everything is that was asked for.
    await this.world.time.pass(GRACE_MS);
    const way = ADOPTION.test(stop) ? this.#withoutAdoptId(stopped) : this.#wayOn(stopped);
    const decided = program.map((each) => (each === stopped ? way : each));
    const rest = await this.#attempt("up", decided, { ...options, refresh: false });
    // After a kill, what was decided may be wrong.
    return rest.includes("killed") ? rest : this.#decide(decided, rest, options);
  }

  /** Goes a way on that a stop names: `adoptId`, a deletion if the resource has one already, or another one on purpose. */
  #wayOn(stopped: Declared): Declared {
    const { name, args, provider } = stopped;
    const own = this.world.stack.resources.find(({ urn, delete: gone }) => nameOf(urn) === name && !gone);
    const key = this.world.keyIn(provider, args);
    const made = this.world
      .unowned()
      .filter((each) => !this.#others.includes(each) && each.ip === args.ip)
      .find((each) => this.world.keyIn(each.account, each) === key);
    if (made && own && !isPendingId(own.id)) {
      this.#remove(made);
      return stopped;
    }
    const named = { ...args, ...(made && { adoptId: made.id }) };
    this.#redeclare(name, named);
    return { ...stopped, args: { ...named, ifExists: "register" } };
  }

  /** Whether an `adoptId` is done: its resource has an endpoint, or has registered one in spite of it. */
  #hasNoEffect({ name, args: { adoptId } }: Declared): boolean {
    return this.world.stack.resources.some(
      (each) =>
        nameOf(each.urn) === name &&
        !each.delete &&
        !each.pendingReplacement &&
        (!isPendingId(each.id) || each.inputs.adoptId === adoptId),
    );
  }

  /** Removes an `adoptId`, as an error advises. */
  #withoutAdoptId(stopped: Declared): Declared {
    const without = ({ adoptId: _, ...args }: EndpointInputs) => args;
    const declared = this.#declared.find(({ name }) => name === stopped.name);
    if (declared) this.#redeclare(stopped.name, without(declared.args));
    return { ...stopped, args: without(stopped.args) };
  }

  /** Changes the program for good. */
  #redeclare(name: string, args: EndpointInputs): void {
    for (const [slot, each] of this.#program)
      if (each.name === name) this.#program.set(slot, { ...each, args });
  }

  /** Deletes what messages name, no resource has, and is nobody else's. */
  #deleteNamed(messages: readonly string[]): void {
    for (const endpoint of this.world.unowned()) {
      const isNamed = messages.some((message) => namesId(message, endpoint.id));
      if (isNamed && !this.#others.includes(endpoint)) this.#remove(endpoint);
    }
  }

  #remove(endpoint: Registered): void {
    this.#tell(`${endpoint.id} is deleted by hand`);
    this.world.service.remove(endpoint);
    this.#others = this.#others.filter((other) => other !== endpoint);
  }

  /** Kills when it is time, once. */
  #watch({ operation, path, account, body, fault }: Logged, moment: "arrived" | "done"): void {
    if (operation === "register" || operation === "delete")
      this.#tell(`    ${moment}: ${account} ${operation} ${path} ${fault} ${body ?? ""}`);
    const isCounted =
      this.#kill?.at === "request" ? moment === "arrived" : moment === "done" && operation === "register";
    const made = this.world.service.endpoints.at(-1);
    const isReused = this.world.stack.resources.some(({ id }) => id === made?.id);
    if (operation === "register" && moment === "done" && made && isReused) this.#unknowable.add(made);
    if (this.#kill === undefined || !isCounted || this.#kill.left-- !== 0) return;
    this.#tell(this.#kill.isCtrlC ? "Ctrl-C" : "a kill");
    if (this.#kill.isCtrlC) this.world.cancel();
    else this.world.kill();
  }

  #differences(program: readonly Declared[]): string[] {
    const excused = excusedOrphans(this.world, {
      declared: this.#declared,
      urls: this.#urls,
      stops: this.stops,
      unknowable: this.#unknowable,
    });
    return this.world.differences(program, [...this.#others, ...excused]);
  }

  async #settle(restMs: number): Promise<string[]> {
    const { service, time } = this.world;
    service.clearFaults();
    await time.pass(restMs);
    let wrong: string[] = [];
    for (const refresh of [false, true, false]) {
      // What a replica still shows for a while could be adopted, although it was deleted.
      await time.pass(LAG_MS);
      this.#tell("undisturbed up");
      const before = service.changes.length;
      wrong = [...(await this.#command("up", { refresh })), ...this.#differences(this.#declared)];
      wrong.push(
        ...service.changes.slice(before).map((each) => `the last up was to change nothing: ${each}`),
      );
    }
    if (wrong.length > 0 || this.#unasked.length > 0) return [...this.#unasked, ...wrong];
    return [...(await this.#command("destroy", {})), ...this.#differences([]), ...this.#unasked];
  }

  #tell(event: string): void {
    this.story.push(`${(this.world.time.date() / 1000).toFixed(3).slice(-8)} ${event}`);
  }
}
