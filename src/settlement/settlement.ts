import type { Endpoint, EndpointList, WebhookRegistrationError } from "../client";
import type { Book } from "./book";
import { type Decision, decide, mayHaveMade } from "./decide";
import { type Entry, ipHash } from "./entry";
import type { AboutOptions, Evidence, Known } from "./evidence";
import { keyOf, type Wanted } from "./identity";
import { newRecord, type PendingRecord, pendingOf } from "./pendingResource";
import { registerOnce, type SendingService } from "./register";
import { listWith, type Outcome, settle, type Waiting } from "./settle";
import type { Stacks } from "./stack";
import { closeAbsent, type Takings } from "./takings";
import type { Asker } from "./trace";

interface SettlingRun extends Waiting, Asker {
  readonly service: SendingService;
  /** Returns whether a resource that this run has met has this endpoint. */
  readonly holds: (id: string) => boolean;
  /** Returns whether a resource has this endpoint after this run. */
  readonly keeps: (id: string) => boolean;
  /** Told how long a wait may take, in milliseconds. */
  readonly onWait: (wanted: Wanted, milliseconds: number) => void;
}

interface SettlementParts {
  readonly book: Book;
  readonly stacks: Stacks;
  readonly evidence: Evidence;
  readonly takings: Takings;
}

/** A registration of this run whose outcome is unknown. */
export interface PendingHere extends PendingRecord {
  readonly error: WebhookRegistrationError;
}

/**
 * Decides which endpoint a registration made: the only owner of what is pending. Everything that it does for one url and type
 * happens in that one's turn.
 */
export class Settlement {
  /** The urls and types of which something stays pending in this run, with the registrations that this run has sent, by ip. */
  readonly #unsettled = new Map<string, Map<string, PendingHere>>();

  constructor(
    private readonly parts: SettlementParts,
    private readonly run: SettlingRun,
  ) {}

  /**
   * Writes down that something is about to be registered or adopted, while the work goes on: until it is sent, another process must
   * not take the engine's record of it for an interrupted operation.
   */
  async announced<T>(wanted: Wanted, work: (entry: Entry | undefined) => Promise<T>): Promise<T> {
    const { book, stacks } = this.parts;
    const { clock, origin, run, sender } = this.run;
    const stack = await stacks.current();
    const stackBegan = await stack?.began();
    const fields = { ...origin, run, sender, ip: ipHash(wanted.ip), begunAt: clock.date(), stackBegan };
    const entry = stack && book.begin({ ...fields, stack: stack.name }, wanted);
    try {
      return await work(entry);
    } finally {
      if (entry) book.removeUnsent(entry);
    }
  }

  /** Returns what `create` would decide now, or undefined when nothing is pending. Waits for nothing. */
  async preview(wanted: Wanted, list: EndpointList): Promise<Decision | undefined> {
    const known = await this.parts.evidence.about(wanted);
    const isPending = known.pending.some(({ explainsOnly }) => !explainsOnly);
    return isPending ? this.#decide(wanted, known, list) : undefined;
  }

  /**
   * Finds out what became of the pending registrations that an endpoint of these inputs may come from. Returns undefined when nothing
   * is pending.
   *
   * @throws WebhookError when the service's list fails
   */
  async settle(wanted: Wanted, options?: AboutOptions): Promise<Outcome | undefined> {
    const known = await this.parts.evidence.about(wanted, options);
    const ours = known.pending.filter(({ explainsOnly }) => !explainsOnly);
    if (ours.length === 0) return undefined;
    const { clock, cancelled, service } = this.run;
    const ids = ours.flatMap(({ id }) => id ?? []);
    const onWait = (milliseconds: number) => this.run.onWait(wanted, milliseconds);
    const look = (list: EndpointList) => this.#decide(wanted, known, list);
    const outcome = await settle(() => listWith(service, ids), look, { clock, cancelled, onWait });
    const asked = ours.filter(({ sameIp }) => sameIp);
    if (outcome.kind === "absent") closeAbsent(asked, this.parts.book, this.run);
    return outcome;
  }

  /** Notes that something stays pending: nothing equal is registered in this run, because it could be mistaken for that. */
  leave(wanted: Wanted, pending?: PendingHere): void {
    const left = this.#unsettled.get(keyOf(wanted)) ?? new Map<string, PendingHere>();
    this.#unsettled.set(keyOf(wanted), left);
    if (pending) left.set(wanted.ip ?? "", pending);
  }

  isUnsettled(wanted: Wanted): boolean {
    return this.#unsettled.has(keyOf(wanted));
  }

  pendingHere(wanted: Wanted): PendingHere | undefined {
    return this.#unsettled.get(keyOf(wanted))?.get(wanted.ip ?? "");
  }

  /**
   * Registers an endpoint once. `existing` is one that was there before and that this run does not give up: the service answered with it.
   *
   * @param alsoThere endpoints that are known to be there, and that the baseline may lack
   * @throws WebhookRegistrationError when it was certainly not made
   */
  async register(
    wanted: Wanted,
    options: { entry: Entry | undefined; baseline: EndpointList; alsoThere: readonly string[] },
  ): Promise<
    { readonly endpoint: Endpoint } | { readonly existing: Endpoint } | { readonly pending: PendingHere }
  > {
    const { book, evidence, takings } = this.parts;
    const { entry, baseline, alsoThere } = options;
    const { ip, ...identity } = wanted;
    let current = entry;
    const change = (fields: Partial<Entry>) => {
      current = current && book.change(current, fields);
    };
    const registered = await registerOnce(ip == null ? identity : { ...identity, ip }, {
      ...this.run,
      baseline,
      alsoThere: [...alsoThere, ...takings.idsInBook(wanted)],
      onSend: (sent) => change({ sent }),
      evidence: async () => {
        const { pending, holderOf } = await evidence.about(wanted);
        // Its own entry is this very registration.
        return { pending: pending.filter((each) => !entry || each.entry?.name !== entry.name), holderOf };
      },
    }).catch((error: unknown) => {
      if (current) book.remove(current);
      throw error;
    });
    if (registered.kind === "made") {
      const { id, createdAt } = registered.endpoint;
      if (this.run.keeps(id) || (registered.wasThere === true && !this.run.holds(id))) {
        if (current) book.remove(current);
        return { existing: registered.endpoint };
      }
      change({ id, createdAt, madeAt: this.run.clock.date() });
      return registered;
    }
    const { sent, error } = registered;
    const pending = { ...newRecord(sent), error };
    change({ sent, pendingId: pending.id });
    this.leave(wanted, pending);
    return { pending };
  }

  /** Looks once more for the endpoint of a registration of this run. Returns undefined while nothing shows. */
  async lookAgain(wanted: Wanted, pending: PendingHere): Promise<Endpoint | undefined> {
    const known = await this.parts.evidence.about(wanted, { record: pending });
    const decision = this.#decide(wanted, known, await this.run.service.list());
    if (decision.kind !== "found") return undefined;
    const left = this.#unsettled.get(keyOf(wanted));
    left?.delete(wanted.ip ?? "");
    if (left?.size === 0) this.#unsettled.delete(keyOf(wanted));
    this.parts.takings.takeOver(decision.by, undefined, decision.endpoint);
    return decision.endpoint;
  }

  mayHaveMade(pending: PendingRecord, endpoint: Endpoint): boolean {
    return mayHaveMade(pendingOf(pending, this.run.patienceMs), endpoint);
  }

  /** Returns the listed endpoints that a pending registration may have made, and that nobody has. */
  async madeBy(pending: PendingRecord, wanted: Wanted, { endpoints }: EndpointList): Promise<Endpoint[]> {
    const { holderOf } = await this.parts.evidence.about(wanted, { record: pending });
    return endpoints.filter((each) => this.mayHaveMade(pending, each) && holderOf(each) === "nobody");
  }

  #decide(wanted: Wanted, { ownId, pending, holderOf }: Known, list: EndpointList): Decision {
    const { holds, patienceMs } = this.run;
    const holder = (endpoint: Endpoint) =>
      endpoint.id !== ownId && holds(endpoint.id) ? "somebody" : holderOf(endpoint);
    return decide({ identity: wanted, pending, list, holderOf: holder, patienceMs });
  }
}
