import { type Evidence, isFit } from "../../../src/provider/decide";
import { isPendingId, keyOf } from "../../../src/provider/identity";
import { interruptedEvidence, pendingEvidence, StackState, wantedBy } from "../../../src/provider/stackState";
import { nameOf } from "../../../src/shared/urn";
import {
  type Command,
  type Declared,
  deploymentOf,
  type PendingCreate,
  type Problems,
  type RunOptions,
} from "../engineModel";
import type { Registered } from "../fakeService";
import { names, wayOn } from "../person";
import { Killed } from "../process";
import { PATIENCE_MS, World } from "../world";
import type { Arguments, Kill, Run, Step } from "./scenario";

/** How long the real CLI takes at least to start a run, in milliseconds. */
const START_MS = 2_000;
/** An endpoint is dated a little before its registration at most: what is older is nobody's doubt. */
const CLEARLY_OLDER_MS = 6_000;

/** Everything that is wrong after at most two undisturbed runs, one more that changes nothing, and a destroy. */
export interface Outcome {
  readonly wrong: readonly string[];
  /** What the user, the engine and everybody else did, for the report of a failure. */
  readonly story: readonly string[];
}

/** Carries out scenarios: it is the user, who follows the ways on that a stop names, and everybody else at the services. */
export class Actor {
  readonly #world = new World({ providers: { second: "account", third: "service" } });
  /** By slot: a resource keeps its place in the program, whatever it is called. */
  readonly #program = new Map<number, Declared>();
  readonly #story: { at: number; event: string }[] = [];
  /** What is at the services and nobody's of the program. */
  #others: Registered[] = [];
  /** The stops about which a person has decided. */
  readonly #stops: string[] = [];
  #count = 0;
  #warned = 0;

  static async play(scenario: readonly Step[]): Promise<Outcome> {
    const actor = new Actor();
    for (const step of scenario) await actor.#act(step);
    const wrong = await actor.#settle();
    return { wrong, story: wrong.length === 0 ? [] : actor.#report() };
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
      case "change":
        if (declared) this.#program.set(step.slot, { ...declared, ...step.to });
        return;
      case "stranger":
        return this.#stranger(step.args);
      case "behind":
        return this.#meddle(step.what, step.at);
      case "rotate":
        this.#world.rotateKey(step.provider);
        return;
      case "fault":
        this.#world.serviceOf(step.elsewhere ? "third" : "").fault(step.fault);
        return;
      case "run":
        return this.#run(step);
    }
  }

  /** Sentence 1: not within the window of a registration without an answer. */
  async #stranger(args: Arguments): Promise<void> {
    if (this.#isInDoubt("", args)) return;
    this.#others.push(this.#world.service.add({ ...args }));
    await this.#world.time.pass(CLEARLY_OLDER_MS);
  }

  /** Whether a registration of this url and type that got no answer may still be made, also one that a run has healed. */
  #isInDoubt(provider: string, args: Arguments): boolean {
    const { resources, pendingCreates } = this.#world.stack;
    const now = this.#world.time.date();
    const isSoon = ({ sentAt }: Evidence) =>
      sentAt === undefined || now <= sentAt + PATIENCE_MS + CLEARLY_OLDER_MS;
    const isIts = (each: PendingCreate) => keyIn(each.provider, wantedBy(each)) === keyIn(provider, args);
    const pending = resources.filter((each) => isPendingId(each.id) && isIts(each)).map(pendingEvidence);
    const interrupted = pendingCreates.filter(isIts).map(interruptedEvidence);
    return [...pending, ...interrupted].some(isSoon);
  }

  #has({ id, account }: Registered): boolean {
    return this.#world.stack.resources.some(
      (each) => each.id === id && this.#world.accountOf(each.provider) === account,
    );
  }

  #meddle(what: "delete" | "edit", at: number): void {
    // Not one that was registered and is not recorded yet: nobody could know it again.
    const known = this.#world.services.flatMap((service) =>
      service.endpoints
        .filter((each) => this.#has(each) || this.#others.includes(each))
        .map((endpoint) => ({ service, endpoint })),
    );
    const { service, endpoint } = known[at % known.length] ?? {};
    if (service === undefined || endpoint === undefined) return;
    if (what === "edit") {
      endpoint.url = `https://edited.example.com/${++this.#count}`;
    } else {
      service.remove(endpoint.id);
      this.#others = this.#others.filter((other) => other !== endpoint);
    }
  }

  async #run({ command, refresh, parallel, replace, retries, kill, declares }: Run): Promise<void> {
    for (const { slot, args } of declares) await this.#act({ do: "declare", slot, args });
    const replaced = replace === null ? undefined : this.#program.get(replace)?.name;
    const options = {
      ...{ parallel, refresh, retries },
      ...(replaced === undefined ? {} : { replace: [replaced] }),
    };
    if (kill === null) await this.#command(command, options);
    else await this.#killed(command, options, kill);
  }

  async #command(command: Command, options: RunOptions): Promise<Problems> {
    const { time } = this.#world;
    // Sentence 8: refresh and destroy do not know the state, and could take an equal twin's endpoint for a pending resource's.
    const isBlind = command === "refresh" || command === "destroy" || options.refresh;
    if (isBlind && this.#hasPendingTwin()) return this.#command("up", { ...options, refresh: false });
    await time.pass(START_MS);
    const program = [...this.#program.values()];
    const problems = await orKilled(this.#world.run(command, program, options));
    for (const problem of problems) this.#tell(problem);
    this.#read();
    if (command !== "up") return problems;
    if (problems.some((problem) => /cannot move to another provider/.test(problem))) {
      this.#tell("a person refreshes, as the stop says");
      await this.#command("refresh", {});
      return this.#command("up", options);
    }
    return this.#decide(program, problems, options);
  }

  #hasPendingTwin(): boolean {
    const { resources } = this.#world.stack;
    const wanted = [
      ...resources.map((each) => ({ key: keyIn(each.provider, wantedBy(each)), each })),
      ...[...this.#program.values()].map(({ provider = "", args, name }) => {
        const isItself = resources.some(({ urn }) => nameOf(urn) === name);
        return { key: isItself ? "" : keyIn(provider, args as unknown as Arguments), each: undefined };
      }),
    ];
    return resources
      .filter(({ id }) => isPendingId(id))
      .some((own) =>
        wanted.some(({ key, each }) => each !== own && key === keyIn(own.provider, wantedBy(own))),
      );
  }

  /** Follows the ways on that stops name, one after the other. */
  async #decide(program: readonly Declared[], problems: Problems, options: RunOptions): Promise<Problems> {
    const way = await wayOn(this.#world, program, { problems, others: this.#others });
    if (way === undefined) {
      // What is not needed is deleted by hand.
      if (problems.length === 0)
        this.#delete((endpoint) => this.#stops.some((stop) => names(stop, endpoint)));
      return problems;
    }
    this.#stops.push(way.stop);
    this.#tell(`a person decides about ${way.name}`);
    await this.#world.time.pass(START_MS);
    const rest = await orKilled(this.#world.up(way.program, { ...options, refresh: false }));
    for (const problem of rest) this.#tell(problem);
    this.#read();
    // After a kill, what was decided may be wrong.
    return rest.includes("killed") ? rest : this.#decide(way.program, rest, options);
  }

  /** Reads the new warnings, and deletes what one says that is left. */
  #read(): void {
    const { warnings } = this.#world;
    for (const warning of warnings.slice(this.#warned)) {
      this.#tell(`warning: ${warning}`);
      // An endpoint that was edited, too, looks like another account's under a rotated key.
      if (/these endpoints are left|is not in the account of the current API key/.test(warning))
        this.#delete((endpoint) => names(warning, endpoint));
    }
    this.#warned = warnings.length;
  }

  /** Deletes what no resource has, and is nobody else's. */
  #delete(isCondemned: (endpoint: Registered) => boolean): void {
    for (const stranger of this.#world.strangers())
      if (!this.#others.includes(stranger) && isCondemned(stranger)) {
        this.#tell(`deletes ${stranger.id} by hand`);
        for (const service of this.#world.services)
          service.endpoints = service.endpoints.filter((each) => each !== stranger);
      }
  }

  /** A command that is killed, perhaps an `up` that is killed, too, and what the user does then. */
  async #killed(command: Command, options: RunOptions, kill: Kill): Promise<void> {
    for (const [index, count] of kill.after.entries()) {
      if (index > 0) this.#tell("an up that is killed, too");
      const stopWatching = this.#watch(count, kill);
      await this.#command(index > 0 ? "up" : command, options);
      stopWatching();
    }
    if (command !== "up" && kill.after.length === 1) return;
    // The same command again: an `up` that creates nothing for a resource takes nothing over for it.
    for (let runs = 0; runs < 3; runs++) {
      this.#tell("up after a kill");
      if ((await this.#command("up", { ...options, retries: 0 })).length === 0) return;
      for (const service of this.#world.services) service.clearFaults();
    }
  }

  /** Kills when it is time, once. Returns what ends the watch. */
  #watch(count: number, { at }: Kill): () => void {
    let left = count;
    const { services } = this.#world;
    for (const service of services)
      service.watch = (operation, moment) => {
        const isCounted =
          at === "request" ? moment === "arrived" : moment === "done" && operation === "register";
        if (!isCounted || left-- !== 0) return;
        this.#tell("a kill");
        this.#world.kill();
      };
    return () => {
      for (const service of services) service.watch = () => {};
    };
  }

  /** What the eight sentences leave to `list` and `doctor`: what an operation made that no run has healed (sentence 3). */
  #excusedOrphans(): Registered[] {
    const { stack } = this.#world;
    let operations = new StackState(deploymentOf(stack)).interrupted;
    return this.#world.strangers().filter((stranger) => {
      if (stranger.by === undefined) return false;
      const provider = stranger.account === "default" ? "" : stranger.account;
      const endpoint = { ...stranger, createdAt: new Date(stranger.made).toISOString(), updatedAt: null };
      const its = operations.find((each) => {
        const name = nameOf(each.provider?.replace(/::[^:]*$/, "") ?? "").replace(/^default$/, "");
        const isIts = name === provider && keyIn(name, wantedBy(each)) === keyIn(provider, stranger);
        return isIts && isFit(endpoint, interruptedEvidence(each), PATIENCE_MS);
      });
      // Each resource stands for at most one endpoint.
      operations = operations.filter(({ urn }) => urn !== its?.urn);
      return its !== undefined;
    });
  }

  #differences(program: readonly Declared[]): string[] {
    return this.#world.differences(program, [...this.#others, ...this.#excusedOrphans()]);
  }

  async #settle(): Promise<string[]> {
    const { services, time } = this.#world;
    for (const service of services) service.clearFaults();
    await time.pass(PATIENCE_MS);
    const program = [...this.#program.values()];
    let wrong: string[] = [];
    for (const refresh of [false, true]) {
      this.#tell("undisturbed up");
      wrong = [...(await this.#command("up", { refresh })), ...this.#differences(program)];
    }
    if (wrong.length > 0) return wrong;
    const before = services.map(({ changes }) => changes.length);
    this.#tell("an up that changes nothing");
    wrong = [...(await this.#world.up(program))];
    const changes = services.flatMap((service, at) => service.changes.slice(before[at]));
    wrong.push(...changes.map((change) => `nothing was to be changed, and was: ${change}`));
    if (wrong.length > 0) return wrong;
    const problems = await this.#command("destroy", {});
    return [...problems, ...this.#differences([])];
  }

  #tell(event: unknown): void {
    this.#story.push({
      at: this.#world.time.date(),
      event: typeof event === "string" ? `    ${event}` : JSON.stringify(event),
    });
  }

  /** Returns what happened, with every request that could change the services, in its order. */
  #report(): string[] {
    const requests = this.#world.services.flatMap(({ requests }, service) =>
      requests
        .filter(({ operation }) => operation === "register" || operation === "delete")
        .map(({ at, operation, path, account, fault, body = "" }) => ({
          at,
          event: `        ${service} ${account} ${operation} ${path} ${fault} ${body}`,
        })),
    );
    return [...this.#story, ...requests]
      .sort((one, other) => one.at - other.at)
      .map(({ at, event }) => `${(at / 1000).toFixed(3).slice(-8)} ${event}`);
  }
}

function keyIn(provider: string, wanted: Arguments | ReturnType<typeof wantedBy>): string {
  return wanted === undefined ? "" : `${provider} ${keyOf(wanted)}`;
}

/** A run may be killed at any moment, also that in which a person decides. */
function orKilled(running: Promise<Problems>): Promise<Problems> {
  return running.catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
    return ["killed"];
  });
}
