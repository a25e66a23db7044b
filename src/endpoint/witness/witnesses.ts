import type { Endpoint, EndpointList } from "../../client";
import { EndpointError, undefinedIfGone } from "../errors";
import { alike, type Identity, keyOf } from "../identity";
import type { Run } from "../run";
import { candidates } from "../settlement";
import { isProvisional } from "../state";
import type { EndpointInputs } from "../types";
import { describeUrl, sameUrl } from "../url";
import { Journal, type JournalEntry } from "./journal";
import { StackReader, type StackState } from "./stackState";

/** How long after its request an endpoint may be missing from a service's list, in milliseconds. */
const LIST_LAG_MS = 600_000;

/**
 * Finds out what a killed run registered and lost from the state. Two witnesses know of it: the journal on this machine, and
 * the operations that the state holds as unfinished. An id that is in the state is never taken over.
 */
export class Witnesses {
  readonly #startedAt: number;
  readonly #stack: StackReader;
  #journal: Promise<Journal> | undefined;
  #lastRead: Promise<"none" | "read" | "unreadable"> = Promise.resolve("none");
  #nextRead: Promise<Snapshot | undefined> | undefined;
  /** How many creations of each url and type are under way or have failed: the state may hold an operation for each. */
  readonly #underWay = new Map<string, number>();

  constructor(private readonly run: Run) {
    this.#startedAt = run.clock.date();
    this.#stack = new StackReader(run.environment);
  }

  /**
   * Returns the journal. Until a program runs, the engine does not know the stack, and the journal is an empty one: the reads
   * of `up --refresh` come sooner than the program.
   */
  journal(): Promise<Journal> {
    this.#journal ??= this.#openJournal();
    return this.#journal;
  }

  /**
   * Counts a creation for as long as it is under way. One that fails counts until this run ends, because the engine takes its
   * operation out of the state only some time later: it must not look like one that another run lost.
   */
  async during<T>(identity: Identity, creation: () => Promise<T>): Promise<T> {
    const key = keyOf(identity);
    const count = (change: number) => this.#underWay.set(key, (this.#underWay.get(key) ?? 0) + change);
    count(1);
    const made = await creation();
    count(-1);
    return made;
  }

  /** Returns whether a witness may know of a registration that was declared like this, so that `create` settles it. */
  async mayKnow(inputs: EndpointInputs): Promise<boolean> {
    const snapshot = await this.#readState();
    if (snapshot === undefined) return false;
    const lost = await snapshot.state.lostOf((await this.journal()).open(inputs));
    if (lost === undefined) return false;
    if (lost.length > 0) return true;
    const hasOperations = this.#lostOperations(inputs, snapshot) > 0;
    return hasOperations && (await snapshot.state.interruptedFrom()) !== undefined;
  }

  /** Returns the id that the state holds for the resource of this name, if exactly one resource has that name. */
  async recordedId(name: string): Promise<string | undefined> {
    return (await this.#readState())?.state.idOf(name);
  }

  /** Returns the provider that has an endpoint, without a name if it is the default one, if the state shows it. */
  async providerOf(id: string): Promise<{ readonly name: string | undefined } | undefined> {
    return (await this.#readState())?.state.providerOf(id);
  }

  /**
   * Returns the endpoint that a killed run registered for these inputs and lost, or undefined when there is none. Waits as
   * long as it may still be made. Call it within the queue.
   *
   * @throws EndpointError `STILL_PENDING` when the service's list is partial
   */
  async findLost(inputs: EndpointInputs, baseline: EndpointList): Promise<Endpoint | undefined> {
    const journal = await this.journal();
    const entries = journal.open(inputs);
    const isStranger = ({ id }: Endpoint) => this.run.ledger.mayBeLost(id);
    if (entries.length === 0 && !alike(baseline, inputs).some(isStranger)) return undefined;
    const snapshot = await this.#readState();
    // The state of another organization's stack with the same name does not hold this creation.
    if (!snapshot?.state.isRegistering || journal.isAmbiguous(inputs)) return undefined;
    const lost = await snapshot.state.lostOf(entries);
    if (lost === undefined) return undefined;
    for (const each of entries) if (!lost.includes(each)) journal.close(each.entry);
    for (const each of lost) {
      const endpoint = await this.#endpointOf(each, journal, inputs, baseline);
      if (endpoint) {
        journal.became(each.entry, endpoint.id);
        return endpoint;
      }
      journal.close(each.entry);
    }
    return lost.length > 0 ? undefined : this.#recoverOperation(inputs, snapshot);
  }

  /** Returns the endpoint of an entry in the journal. */
  async #endpointOf(
    { id, at, registration }: JournalEntry,
    journal: Journal,
    inputs: EndpointInputs,
    baseline: EndpointList,
  ): Promise<Endpoint | undefined> {
    const { clock, service, settler } = this.run;
    if (id === undefined || isProvisional(id)) {
      const ifAbsent = `delete ${journal.path ?? "the journal"} and run the command again`;
      return settler.settle(inputs, registration, { ifAbsent });
    }
    const listed = baseline.endpoints.find((endpoint) => endpoint.id === id);
    const mayBeUnlisted = !baseline.complete || clock.date() - at < LIST_LAG_MS;
    const endpoint = listed ?? (mayBeUnlisted ? await service.get(id).catch(undefinedIfGone) : undefined);
    const isSame = endpoint && sameUrl(endpoint.url, inputs.url) && endpoint.type === inputs.type;
    return isSame && (await settler.mayBeLost())(id) ? endpoint : undefined;
  }

  /**
   * Returns the endpoint of an operation that another machine's run left unfinished. Only one that was certainly made since
   * the last run that finished is taken, and only if no more of them are there than operations.
   */
  async #recoverOperation(inputs: EndpointInputs, snapshot: Snapshot): Promise<Endpoint | undefined> {
    const { clock, log, patienceMs, service, settler } = this.run;
    const operations = this.#lostOperations(inputs, snapshot);
    if (operations <= 0 || service.skew === null) return undefined;
    const interruptedFrom = await snapshot.state.interruptedFrom();
    if (interruptedFrom === undefined) return undefined;
    const registration = { before: [], attemptedAt: interruptedFrom + service.skew, complete: false };
    const until = this.#startedAt + patienceMs;
    const leftMs = until - clock.date();
    if (leftMs > 0)
      log.info(
        `waiting up to ${Math.ceil(leftMs / 1000)} s in case a killed run's registration of ${describeUrl(inputs.url)} completes late`,
      );
    const decision = await settler.watch(inputs, registration, until);
    if (decision.kind === "unknowable") {
      throw new EndpointError(
        "STILL_PENDING",
        `cannot tell whether a killed run registered ${describeUrl(inputs.url)}, because the service lists only a part of its endpoints. ` +
          "Look for the endpoint at the service. If it is there, set adoptId to its id. If not, run `pulumi refresh " +
          "--clear-pending-creates`.",
      );
    }
    if (decision.kind !== "found") return undefined;
    const possible = candidates(inputs, registration, await service.list(), await settler.mayBeLost());
    return possible.length <= operations ? decision.endpoint : undefined;
  }

  /** Returns how many unfinished operations like these inputs earlier runs have left in the state. */
  #lostOperations(inputs: EndpointInputs, { state, underWay }: Snapshot): number {
    const { ledger, origin } = this.run;
    // The engine records an endpoint a moment after this run has made it.
    const unrecorded = ledger.madeLike(inputs).filter((id) => !state.ids.has(id));
    return state.operationsLike(inputs, origin.provider) - underWay(keyOf(inputs)) - unrecorded.length;
  }

  async #openJournal(): Promise<Journal> {
    const { engine, environment, origin } = this.run;
    const rootUrn = await engine.rootUrn();
    if (rootUrn === undefined) this.#journal = undefined;
    const key = rootUrn === undefined ? undefined : { rootUrn, origin, environment };
    return new Journal(engine.run ?? "", engine.run === undefined ? undefined : key);
  }

  /**
   * Reads the state. A read that has begun may miss the operation of a creation that began later, so those who ask
   * meanwhile share the next one. Undefined when the state cannot be read: then nothing is taken over.
   */
  #readState(): Promise<Snapshot | undefined> {
    this.#nextRead ??= this.#lastRead.then((last) => {
      this.#nextRead = undefined;
      if (last === "unreadable") return undefined;
      const reading = this.#snapshot();
      this.#lastRead = reading.then((snapshot) => (snapshot ? "read" : "unreadable"));
      return reading;
    });
    return this.#nextRead;
  }

  async #snapshot(): Promise<Snapshot | undefined> {
    const { engine, ledger } = this.run;
    const before = new Map(this.#underWay);
    const rootUrn = await engine.rootUrn();
    const state = rootUrn === undefined ? undefined : await this.#stack.read(rootUrn);
    // A creation that began meanwhile may be in the state already: it is not counted as lost.
    const after = new Map(this.#underWay);
    const underWay = (key: string) => Math.max(before.get(key) ?? 0, after.get(key) ?? 0);
    for (const id of state?.ids ?? []) ledger.note(id, "recorded");
    return state && { state, underWay };
  }
}

/** The state, with how many creations of this run were under way when it was read. */
type Snapshot = { readonly state: StackState; readonly underWay: (key: string) => number };
