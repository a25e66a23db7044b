import type { Endpoint, EndpointList, WebhookRegistrationError } from "../client";
import { type Book, type Entry, isLiving, type StackName } from "./book";
import { type Decision, decide, type Pending } from "./decide";
import {
  type Asker,
  type Evidence,
  ipHash,
  isSameEndpoint,
  isSameStack,
  originHashes,
  type Wanted,
} from "./evidence";
import { isProvisional, keyOf, provisionalId } from "./identity";
import type { HandedOver } from "./pendingResource";
import { thisProcess } from "./processes";
import { registerOnce, type SendingService } from "./register";
import { type Outcome, settle, type Waiting } from "./settle";
import type { Stacks } from "./stacks";
import { placeIn, windowOf } from "./time";

/** What the settlement needs of the run. */
export interface SettlingRun extends Waiting, Asker {
  readonly service: SendingService & {
    /** Undefined if the service has none with this id. */
    find(id: string): Promise<Endpoint | undefined>;
  };
  /** Returns whether a resource that this run has met has this endpoint. */
  readonly holds: (id: string) => boolean;
  /** Told how long a wait may take, in milliseconds. */
  readonly onWait: (wanted: Wanted, milliseconds: number) => void;
}

/** A registration of this run whose outcome is unknown. */
export interface PendingHere extends HandedOver {
  readonly error: WebhookRegistrationError;
}

/**
 * Decides which endpoint a registration made: the only owner of what is pending. Everything that it does for one url and type
 * happens in that one's turn.
 */
export class Settlement {
  /** The registrations of this run that are pending, by url, type and ip. */
  readonly #here = new Map<string, PendingHere>();
  /** The urls and types of which something is pending and stays so in this run. */
  readonly #unsettled = new Set<string>();
  readonly #startedAt: number;

  constructor(
    private readonly book: Book,
    private readonly stacks: Stacks,
    private readonly evidence: Evidence,
    private readonly run: SettlingRun,
  ) {
    this.#startedAt = run.clock.date();
  }

  /**
   * Writes down that something is about to be registered or adopted, while the work goes on: until it is sent, another process must
   * not take the engine's record of it for an interrupted operation.
   */
  async announced<T>(wanted: Wanted, work: (entry: Entry | undefined) => Promise<T>): Promise<T> {
    const stack = await this.stacks.current();
    const entry = stack && this.book.begin(this.#begun(stack.name, wanted), wanted);
    try {
      return await work(entry);
    } finally {
      if (entry) this.book.removeUnsent(entry);
    }
  }

  /** Returns what `create` would decide now, or undefined when nothing is pending. Waits for nothing. */
  async preview(wanted: Wanted, list: EndpointList): Promise<Decision | undefined> {
    const { pending, holderOf } = await this.evidence.about(wanted);
    if (pending.every(({ others }) => others)) return undefined;
    return this.#decide(wanted, { pending, holderOf }, list);
  }

  /**
   * Finds out what became of the pending registrations that an endpoint of these inputs may come from, and takes it. Returns
   * undefined when nothing is pending.
   *
   * @throws WebhookError when the service's list fails
   */
  async settle(wanted: Wanted, handedOver?: HandedOver): Promise<Outcome | undefined> {
    const known = await this.evidence.about(wanted, handedOver);
    const ours = known.pending.filter(({ others }) => !others);
    if (ours.length === 0) return undefined;
    const { clock, cancelled, onWait } = this.run;
    const list = () =>
      listWith(
        this.run.service,
        ours.flatMap(({ id }) => id ?? []),
      );
    const outcome = await settle(list, (found) => this.#decide(wanted, known, found), {
      clock,
      cancelled,
      onWait: (milliseconds) => onWait(wanted, milliseconds),
    });
    const own = originHashes(this.run);
    if (outcome.kind === "absent")
      // Absence in another account shows nothing.
      for (const { entry } of ours)
        if (entry && entry.service === own.service && entry.fingerprint === own.fingerprint)
          this.book.close(entry);
    return outcome;
  }

  /** Notes that something stays pending: nothing equal is registered in this run, because it could be mistaken for that. */
  leave(wanted: Wanted): void {
    this.#unsettled.add(keyOf(wanted));
  }

  isUnsettled(wanted: Wanted): boolean {
    return this.#unsettled.has(keyOf(wanted));
  }

  /** Returns the registration of this run with these inputs that is pending. */
  pendingHere(wanted: Wanted): PendingHere | undefined {
    return this.#here.get(hereKey(wanted));
  }

  /**
   * Registers an endpoint once.
   *
   * @param known endpoints that are known to be there, and that the baseline may lack
   * @throws WebhookRegistrationError when it was certainly not made
   */
  async register(
    wanted: Wanted,
    {
      entry,
      baseline,
      known,
    }: { entry: Entry | undefined; baseline: EndpointList; known: readonly string[] },
  ): Promise<{ readonly endpoint: Endpoint } | { readonly pending: PendingHere }> {
    const { ip, ...identity } = wanted;
    const own = originHashes(this.run);
    const inBook = this.book
      .entriesLike(wanted)
      // An id of another account says nothing here, and one from before this run may be used again.
      .filter(({ service, fingerprint }) => service === own.service && fingerprint === own.fingerprint)
      .filter((each) => isLiving(each, this.run.run) || (each.sent?.at ?? 0) >= this.#startedAt)
      .flatMap(({ id }) => (id === null || isProvisional(id) ? [] : [id]));
    let current = entry;
    const change = (fields: Partial<Entry>) => {
      current = current && this.book.change(current, fields);
    };
    const registered = await registerOnce(ip == null ? identity : { ...identity, ip }, {
      ...this.run,
      baseline,
      known: [...known, ...inBook],
      onSend: (sent) => change({ sent }),
      others: async () => {
        const { pending, holderOf } = await this.evidence.about(wanted);
        // Its own entry is this very registration.
        const others = pending.filter((each) => entry === undefined || each.entry?.name !== entry.name);
        return { pending: others, holderOf };
      },
    }).catch((error: unknown) => {
      if (current) this.book.remove(current);
      throw error;
    });
    if (registered.kind === "made") {
      change({ id: registered.endpoint.id, createdAt: registered.endpoint.createdAt });
      return registered;
    }
    const { sent, error } = registered;
    const { before, complete, serviceTime: attemptedAt } = sent;
    const pending = { id: provisionalId(), before, complete, attemptedAt, error };
    change({ sent, id: pending.id });
    this.#here.set(hereKey(wanted), pending);
    this.leave(wanted);
    return { pending };
  }

  /** Looks once more for the endpoint of a registration of this run. Returns undefined while nothing shows. */
  async retry(wanted: Wanted, pending: PendingHere): Promise<Endpoint | undefined> {
    const known = await this.evidence.about(wanted, pending);
    const decision = await this.#decide(wanted, known, await this.run.service.list());
    if (decision.kind !== "found") return undefined;
    this.#here.delete(hereKey(wanted));
    this.take(wanted, decision.endpoint, { entry: decision.by.entry });
    return decision.endpoint;
  }

  /**
   * Writes down that a resource takes an existing endpoint. That settles the registrations that it came from or stands for.
   *
   * @param entry the resource's own
   * @param from the registration that made it
   * @param adopted whether a person named the endpoint
   */
  take(
    wanted: Wanted,
    endpoint: Endpoint,
    { entry, from, adopted = false }: { entry: Entry | undefined; from?: Pending; adopted?: boolean },
  ): void {
    if (entry === undefined) return;
    const { id, createdAt } = endpoint;
    const sent = adopted
      ? null
      : { at: this.run.clock.date(), serviceTime: null, before: [], complete: false };
    const { run, sender } = this.run;
    this.book.change(entry, {
      id,
      createdAt,
      adopted,
      sent: entry.sent ?? sent,
      run,
      sender,
      process: thisProcess(),
      ...originHashes(this.run),
    });
    const others = this.book
      .entriesLike(wanted)
      .filter((each) => each.name !== entry.name && !each.closed && isSameStack(each.stack, entry.stack))
      .filter((each) => !isLiving(each, run));
    for (const each of others)
      if (each.id === id && isSameEndpoint(each, endpoint, this.run.patienceMs)) this.book.close(each);
    // One registration made it: of several that may have, the others stay open.
    const settled = adopted
      ? others
          .filter((each) => each.id === null || isProvisional(each.id))
          .filter((each) => each.sent?.before.includes(id) === false)
          .find((each) => isSameEndpoint(each, endpoint, this.run.patienceMs))
      : others.find(({ name }) => name === from?.entry?.name);
    if (settled) this.book.close(settled);
  }

  /** Returns whether a pending registration may have made an endpoint. */
  mayHaveMade({ before, attemptedAt }: HandedOver, { id, createdAt }: Endpoint): boolean {
    return (
      !before.includes(id) && placeIn(windowOf(attemptedAt, this.run.patienceMs), createdAt) !== "outside"
    );
  }

  /** Notes that nothing is left of what a pending registration made. */
  forget({ entry }: Pending): void {
    if (entry) this.book.close(entry);
  }

  /** Returns whether a resource on this machine has or had this endpoint. */
  hasHad(wanted: Wanted, id: string): boolean {
    return this.book.entriesLike(wanted).some((entry) => entry.id === id);
  }

  /** Returns whether another process of this run has an endpoint for a resource of its own (engine rule 34). */
  async isTakenBeside(endpoint: Pick<Endpoint, "id" | "url" | "type">): Promise<boolean> {
    const own = originHashes(this.run);
    const takers = this.book
      .entriesLike(endpoint)
      .filter(
        (entry) =>
          entry.id === endpoint.id &&
          !entry.closed &&
          entry.sender !== this.run.sender &&
          isLiving(entry, this.run.run),
      );
    if (takers.some(({ service, fingerprint }) => service === own.service && fingerprint === own.fingerprint))
      return true;
    // With another key or base URL, the id may be another endpoint's.
    const actual = takers.length === 0 ? undefined : await this.run.service.find(endpoint.id);
    return actual !== undefined && takers.some((entry) => isSameEndpoint(entry, actual, this.run.patienceMs));
  }

  #begun(stack: StackName, wanted: Partial<Wanted> = {}) {
    const { run, sender } = this.run;
    const fields = { stack, run, sender, ...originHashes(this.run), ip: ipHash(wanted.ip) };
    return { ...fields, sent: null, id: null, createdAt: null, adopted: false, closed: false };
  }

  #decide(
    wanted: Wanted,
    { pending, holderOf }: Awaited<ReturnType<Evidence["about"]>>,
    list: EndpointList,
  ): Decision {
    return decide({
      identity: wanted,
      pending,
      list,
      holderOf: (endpoint) => (this.run.holds(endpoint.id) ? "somebody" : holderOf(endpoint)),
      patienceMs: this.run.patienceMs,
    });
  }
}

/** Lists, and asks for what the list may not show yet. */
export async function listWith(
  { list, find }: Pick<SettlingRun["service"], "list" | "find">,
  ids: readonly string[],
): Promise<EndpointList> {
  const listed = await list();
  const missing = ids.filter((id) => !listed.endpoints.some((endpoint) => endpoint.id === id));
  if (missing.length === 0) return listed;
  const found = await Promise.all(missing.map(find));
  return {
    ...listed,
    endpoints: [...listed.endpoints, ...found.filter((endpoint) => endpoint !== undefined)],
  };
}

function hereKey(wanted: Wanted): string {
  return `${keyOf(wanted)} ${wanted.ip ?? ""}`;
}
