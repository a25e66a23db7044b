import { type Evidence, evidenceOf, isFit } from "../../src/provider/facts/evidence";
import { isPendingId, keyOf } from "../../src/provider/facts/identity";
import { providerNameOf, wantedBy } from "../../src/provider/facts/resource";
import { StackState } from "../../src/provider/facts/stackState";
import type { EndpointInputs } from "../../src/provider/state";
import { nameOf } from "../../src/shared/urn";
import {
  type Command,
  type Declared,
  Killed,
  type Operation,
  type Problems,
  type RunOptions,
} from "./engineModel";
import type { Fault, Habits, Logged, Registered } from "./fakeService";
import type { Shows } from "./pulumiModel";
import { GRACE_MS, World } from "./world";

export interface Kill {
  /** How many of these pass first: with two numbers, a second `up` is killed, too. */
  readonly after: readonly number[];
  readonly at: "request" | "registration";
}

export type Step =
  /** A resource is added to the program, or declared otherwise. It keeps its place, whatever it is called. */
  | { readonly do: "declare"; readonly slot: number; readonly to: Partial<Declared> }
  | { readonly do: "rename"; readonly slot: number; readonly alias: boolean }
  | { readonly do: "remove"; readonly slot: number }
  /** Somebody else registers what the program may declare, too. */
  | { readonly do: "other"; readonly args: EndpointInputs }
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
/** An endpoint is dated a little before its registration at most: what is older is nobody's doubt. */
const CLEARLY_OLDER_MS = 6_000;
const STOP = /REGISTRATION_IN_DOUBT|ENDPOINT_EXISTS|STILL_PENDING/;

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
  /** What is at the service and nobody's of the program. */
  #others: Registered[] = [];
  #count = 0;
  #warned = 0;
  /** The warnings of endpoints that Pulumi leaves to a person. */
  readonly #left: string[] = [];
  #kill: { left: number; readonly at: Kill["at"] } | undefined;

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
      const args = to.args ?? old?.args;
      if (args) this.#program.set(slot, { name: `r${slot}`, ...old, ...to, args });
    } else if (step.do === "other") {
      // Sentence 1: not within the window of a registration without a response.
      if (this.#isInDoubt(step.args)) return;
      this.#others.push(service.add({ ...step.args }));
      await this.world.time.pass(CLEARLY_OLDER_MS);
    } else if (step.do === "behind") {
      // Not one that was registered and is not recorded yet: nobody could know it again.
      const known = service.endpoints.filter((each) => this.world.has(each) || this.#others.includes(each));
      const endpoint = known[step.at % known.length];
      if (endpoint && step.what === "edit") endpoint.url = `https://edited.example.com/${++this.#count}`;
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
    const isIts = (each: Operation) => keyOfIts(each) === keyIn("", args);
    const pending = resources.filter((each) => isPendingId(each.id) && isIts(each)).map(evidenceOf);
    const interrupted = pendingCreates.filter(isIts).map(evidenceOf);
    const isSoon = ({ serviceSentAt = now }: Evidence) => now <= serviceSentAt + GRACE_MS + CLEARLY_OLDER_MS;
    return [...pending, ...interrupted].some(isSoon);
  }

  async #run({ command, replace, kill, ...rest }: Run): Promise<void> {
    const name = this.#program.get(replace ?? -1)?.name;
    const options = { ...rest, replace: name === undefined ? [] : [name] };
    for (const [index, left] of (kill?.after ?? []).entries()) {
      this.#kill = { left, at: kill?.at ?? "request" };
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
    const problems = await this.world.run(command, program, options).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
      return ["killed"];
    });
    // No operation tells the next run to wait for what this one has sent.
    if (problems.includes("killed") && !this.world.pulumi.showsOperations)
      await this.world.time.pass(GRACE_MS);
    for (const problem of problems) this.#tell(problem);
    for (const warning of this.world.warnings.slice(this.#warned)) {
      this.#tell(`warning: ${warning}`);
      if (/these endpoints are left|is not in the account of today's API key/.test(warning))
        this.#left.push(warning);
    }
    await this.#forget(problems);
    this.#warned = this.world.warnings.length;
    for (const endpoint of this.world.service.endpoints)
      if (this.#isAdopted(endpoint, program)) {
        this.#others = this.#others.filter((other) => other !== endpoint);
        // Whatever its ip is.
        endpoint.by = undefined;
      }
    // Also what an earlier run warned of: it was killed when the state still had the endpoint, and no later run names it.
    this.#deleteNamed(this.#left);
    return problems;
  }

  /**
   * What has lost all endpoints of a key that was rotated, or had them edited, looks like another account's: the person knows better, and goes
   * the third way on.
   */
  async #forget(problems: Problems): Promise<void> {
    for (const problem of problems) {
      const [, key] = /registered with the key ([0-9a-f]{6}): it is another account/.exec(problem) ?? [];
      if (key === undefined) continue;
      // By then everything is there that was asked for.
      await this.world.time.pass(GRACE_MS);
      const { stack } = this.world;
      this.#tell(`a person forgets what was registered with the key ${key}`);
      stack.resources = stack.resources.filter(({ outputs }) => outputs?.account !== key);
      this.#left.push(problem);
    }
  }

  /** Whether the stack may have an endpoint because a resource says "adopt". */
  #isAdopted(endpoint: Registered, program: readonly Declared[]): boolean {
    const isIts = ({ provider, args }: Declared) =>
      args.ifExists === "adopt" && keyIn(provider, args) === keyIn(endpoint.account, endpoint);
    return this.world.has(endpoint) && program.some(isIts);
  }

  #hasPendingDuplicate(): boolean {
    const { resources } = this.world.stack;
    const names = resources.map(({ urn }) => nameOf(urn));
    const added = this.#declared.filter(({ name }) => !names.includes(name));
    const keys = resources.map(keyOfIts);
    keys.push(...added.map(({ provider, args }) => keyIn(provider, args)));
    const pending = resources.filter(({ id }) => isPendingId(id)).map(keyOfIts);
    return pending.some((key) => keys.indexOf(key) !== keys.lastIndexOf(key));
  }

  /** Follows the ways on that stops name, one after the other. */
  async #decide(program: readonly Declared[], problems: Problems, options: RunOptions): Promise<Problems> {
    const stopOf = ({ name, args }: Declared) =>
      problems.find(
        (each) => args.ifExists !== "register" && each.startsWith(`${name}: `) && STOP.test(each),
      );
    const stopped = program.find(stopOf);
    if (stopped === undefined) {
      // What is not needed is deleted by hand.
      if (problems.length === 0) this.#deleteNamed(this.stops);
      return problems;
    }
    this.stops.push(stopOf(stopped) ?? "");
    this.#tell(`a person decides about ${stopped.name}`);
    // Whoever decides looks at the service, where by then everything is that was asked for.
    await this.world.time.pass(GRACE_MS);
    const way = this.#wayOn(stopped);
    const decided = program.map((each) => (each === stopped ? way : each));
    const rest = await this.#attempt("up", decided, { ...options, refresh: false });
    // After a kill, what was decided may be wrong.
    return rest.includes("killed") ? rest : this.#decide(decided, rest, options);
  }

  /** Goes a way on that a stop names: `adoptId`, a deletion if the resource has one already, or another one on purpose. */
  #wayOn(stopped: Declared): Declared {
    const { name, args, provider } = stopped;
    const own = this.world.stack.resources.find(({ urn, delete: gone }) => nameOf(urn) === name && !gone);
    const key = keyIn(provider, args);
    const made = this.world
      .unowned()
      .filter((each) => !this.#others.includes(each) && each.ip === args.ip)
      .find((each) => keyIn(each.account, each) === key);
    if (made && own && !isPendingId(own.id)) {
      this.#remove(made);
      return stopped;
    }
    return { ...stopped, args: { ...(made && { adoptId: made.id }), ...args, ifExists: "register" } };
  }

  /** Deletes what messages name, no resource has, and is nobody else's. */
  #deleteNamed(messages: readonly string[]): void {
    for (const endpoint of this.world.unowned()) {
      const isNamed = messages.some((message) => new RegExp(`\\b${endpoint.id}\\b`).test(message));
      if (isNamed && !this.#others.includes(endpoint)) this.#remove(endpoint);
    }
  }

  #remove(endpoint: Registered): void {
    this.#tell(`${endpoint.id} is deleted by hand`);
    const { service } = this.world;
    service.endpoints = service.endpoints.filter((each) => each !== endpoint);
    this.#others = this.#others.filter((other) => other !== endpoint);
  }

  /** Kills when it is time, once. */
  #watch({ operation, path, account, body, fault }: Logged, moment: "arrived" | "done"): void {
    if (operation === "register" || operation === "delete")
      this.#tell(`    ${moment}: ${account} ${operation} ${path} ${fault} ${body ?? ""}`);
    const isCounted =
      this.#kill?.at === "request" ? moment === "arrived" : moment === "done" && operation === "register";
    if (this.#kill === undefined || !isCounted || this.#kill.left-- !== 0) return;
    this.#tell("a kill");
    this.world.kill();
  }

  /** What the eight sentences leave to `list` and `doctor`: what an operation made that no run has healed (sentence 3). */
  #excusedOrphans(): Registered[] {
    let operations = new StackState(this.world.stack.deployment).interrupted;
    return this.world.unowned().filter((found) => {
      if (found.by === undefined) return false;
      // Without an operation, it is still listed when the next run registers: that must stop, and name it.
      const isNamed = this.stops.some((stop) => new RegExp(`\\b${found.id}\\b`).test(stop));
      const isDeclared = this.#declared.some(
        ({ provider, args }) => keyIn(provider, args) === keyIn(found.account, found),
      );
      if (!this.world.pulumi.showsOperations && isDeclared && !isNamed) return false;
      const endpoint = { ...found, createdAt: new Date(found.made).toISOString(), updatedAt: null };
      const its = operations.find((each) => {
        const isIts = keyOfIts(each) === keyIn(found.account, found);
        return isIts && isFit(endpoint, evidenceOf(each), GRACE_MS);
      });
      // Each resource stands for at most one endpoint.
      operations = operations.filter(({ urn }) => urn !== its?.urn);
      return its !== undefined || this.#isTooLate(found) || this.#isUndated(found);
    });
  }

  /**
   * Whether a killed run's registration was made when no run waited for it any more, because it was sent long after its `check` (sentence
   * 7). Another one's, which a pending resource looked for, may have been taken in its place.
   */
  #isTooLate({ account, made, ...rest }: Registered): boolean {
    const its = this.world.stack.pendingCreates.filter((each) => keyOfIts(each) === keyIn(account, rest));
    const ends = its.map((each) => (evidenceOf(each).serviceSentAt ?? made) + GRACE_MS);
    // It waits no longer for its turn than for what another one may still make.
    return ends.some((end) => made > end && made <= end + GRACE_MS);
  }

  /** Whether its creation is undated, because `check` could not list: then what its resource had before counts as made by it (sentence 6). */
  #isUndated({ account, ...rest }: Registered): boolean {
    const its = this.world.stack.pendingCreates.filter((each) => keyOfIts(each) === keyIn(account, rest));
    return its.some((each) => evidenceOf(each).serviceSentAt === undefined);
  }

  #differences(program: readonly Declared[]): string[] {
    const adopted = this.#declared.map(({ args }) => args.adoptId);
    const others = this.#others.filter(({ id }) => !adopted.includes(id));
    return this.world.differences(program, [...others, ...this.#excusedOrphans()]);
  }

  async #settle(restMs: number): Promise<string[]> {
    const { service, time } = this.world;
    service.clearFaults();
    await time.pass(restMs);
    let wrong: string[] = [];
    for (const refresh of [false, true, false]) {
      this.#tell("undisturbed up");
      const before = service.changes.length;
      wrong = [...(await this.#command("up", { refresh })), ...this.#differences(this.#declared)];
      wrong.push(
        ...service.changes.slice(before).map((each) => `the last up was to change nothing: ${each}`),
      );
    }
    if (wrong.length > 0) return wrong;
    return [...(await this.#command("destroy", {})), ...this.#differences([])];
  }

  #tell(event: string): void {
    this.story.push(`${(this.world.time.date() / 1000).toFixed(3).slice(-8)} ${event}`);
  }
}

function keyIn(provider: string | undefined, wanted: EndpointInputs | ReturnType<typeof wantedBy>) {
  return wanted && `${provider || "default"} ${keyOf(wanted)}`;
}

function keyOfIts(resource: Parameters<typeof wantedBy>[0]): string | undefined {
  return keyIn(providerNameOf(resource), wantedBy(resource));
}
