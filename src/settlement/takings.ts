import type { Endpoint } from "../client";
import type { Clock } from "../client/clock";
import { thisProcess } from "../shared/processes";
import type { Book } from "./book";
import { mayHaveMade, type Pending } from "./decide";
import { type Entry, isLiving, isSameStack, mayTake, type StackName, traceOfEntry } from "./entry";
import type { Identity } from "./identity";
import { LAG_MS } from "./lag";
import { type PendingRecord, pendingOf } from "./pendingResource";
import { type Asker, type Holder, holderAmong, isSameAccount, type Trace, traceOfEndpoint } from "./trace";

/** Which endpoints the resources of this run and of others on this machine take, as the book tells. */
export class Takings {
  readonly #startedAt: number;

  constructor(
    private readonly book: Book,
    private readonly asker: Asker,
    private readonly clock: Clock,
  ) {
    this.#startedAt = clock.date();
  }

  /**
   * Writes down that a resource takes what a registration made, in one file: a kill leaves nothing half done.
   *
   * @param own the resource's entry
   */
  takeOver(pending: Pending, own: Entry | undefined, { id, createdAt }: Endpoint): void {
    const { entry: by, pendingId, sentAt } = pending;
    // The resource may have been moved here from the stack that sent it: that one has it no more.
    const isMoved = by !== undefined && own !== undefined && !isSameStack(by.stack, own.stack);
    const entry = isMoved ? own : (by ?? own);
    if (entry === undefined) return;
    const takenAt = this.clock.date();
    // It stands for the operation, for every other resource of this run.
    const sent = entry.sent ?? { at: sentAt ?? takenAt, serviceTime: null, before: [], complete: false };
    const { sentBy = entry.provider } = entry;
    // The stack may have been destroyed since it was sent.
    const { stackBegan } = own ?? entry;
    this.#take(entry, { id, createdAt, sent, takenAt, sentBy, stackBegan, ...(pendingId && { pendingId }) });
    if (isMoved) this.book.close(by);
  }

  /**
   * Writes down that a resource takes an endpoint that a person named. One registration may have made it, and is settled by that.
   *
   * @param replaced the pending registration of the resource that it replaces
   */
  adopt(entry: Entry | undefined, endpoint: Endpoint, replaced?: PendingRecord): void {
    if (entry === undefined) return;
    const { id, createdAt } = endpoint;
    const { origin, patienceMs, run } = this.asker;
    const mayHaveMadeIt = (each: Entry) =>
      holderAmong([traceOfEntry({ ...each, id }, patienceMs)], traceOfEndpoint(endpoint, origin)) ===
      "somebody";
    const settled = this.book
      .entriesLike(endpoint)
      .filter((each) => each.name !== entry.name && !each.closed && isSameStack(each.stack, entry.stack))
      .filter((each) => !isLiving(each, run) && each.id === null)
      .filter((each) => each.sent?.before.includes(id) === false && mayHaveMadeIt(each));
    const by = (replaced && settled.find(({ pendingId }) => pendingId === replaced.id)) ?? settled[0];
    const isOfReplaced = replaced && mayHaveMade(pendingOf(replaced, patienceMs), endpoint);
    const pendingId = by?.pendingId ?? (isOfReplaced ? replaced.id : undefined);
    this.#take(entry, { id, createdAt, adopted: true, ...(pendingId && { pendingId }) });
    if (by) this.book.close(by);
  }

  /** Returns whether a resource of this run has what a pending registration made. */
  hasTaken(pendingId: string, identity: Identity): boolean {
    return this.book
      .entriesLike(identity)
      .filter((each) => each.pendingId === pendingId && isLiving(each, this.asker.run))
      .some(({ adopted, takenAt }) => adopted || takenAt !== undefined);
  }

  /** Returns whether a resource of the stack has or had this endpoint, as its entries on this machine tell. @param own one of them */
  hasHad(own: Entry | undefined, identity: Identity, id: string): boolean {
    const isOurs = (entry: Entry) =>
      own !== undefined && isSameStack(entry.stack, own.stack) && mayTake(entry, this.asker.origin);
    return this.book.entriesLike(identity).some((entry) => entry.id === id && isOurs(entry));
  }

  /** Returns whether another process of this run has an endpoint for a resource of its own (engine rule 34). */
  holderBeside(identity: Identity, endpoint: Trace): Holder {
    const { run, sender } = this.asker;
    const beside = (entry: Entry) => !entry.closed && entry.sender !== sender && isLiving(entry, run);
    return holderAmong(this.#tracesOf(identity, beside), endpoint);
  }

  /** Returns what the runs of a stack on this machine registered or took. */
  ofStack(stack: StackName, identity: Identity): Trace[] {
    return this.#tracesOf(identity, (entry) => isSameStack(entry.stack, stack));
  }

  /** Returns what runs of this machine with this account registered or took under an id. */
  ofId(id: string, identity: Identity): Trace[] {
    return this.#tracesOf(identity, (entry) => entry.id === id && isSameAccount(entry, this.asker.origin));
  }

  /** Returns the ids of a url and type that runs of this account wrote down since `lagMs` before this run. Older ones may be used again. */
  idsInBook(identity: Identity, lagMs = 0): string[] {
    const moment = this.#startedAt - lagMs;
    return this.book
      .entriesLike(identity)
      .filter((each) => isSameAccount(each, this.asker.origin))
      .filter((each) => isLiving(each, this.asker.run) || (each.sent?.at ?? 0) >= moment)
      .flatMap(({ id }) => id ?? []);
  }

  /** Returns how much longer the service may not know an endpoint that this machine registered, in milliseconds; 0 if it must. */
  newForMs(id: string, identity: Identity): number {
    const now = this.clock.date();
    const left = this.book
      .entriesLike(identity)
      .filter((each) => each.id === id && isSameAccount(each, this.asker.origin))
      // A clock that was put back must not make it longer.
      .map(({ madeAt = 0 }) => (madeAt > now ? 0 : madeAt + LAG_MS - now));
    return Math.max(0, ...left);
  }

  /** Notes that an endpoint is deleted: no resource is to take it over from a list that shows it still. */
  noteDeleted(id: string, identity: Identity): void {
    for (const entry of this.book.entriesLike(identity))
      if (entry.id === id && !entry.closed && isSameAccount(entry, this.asker.origin)) this.book.close(entry);
  }

  /** Notes that nothing is left of what a pending registration made. */
  forget({ entry }: Pending): void {
    if (entry) this.book.close(entry);
  }

  /** Notes that nobody takes what a pending registration may have made: a person has another one registered. */
  giveUp({ id }: PendingRecord, identity: Identity): void {
    for (const entry of this.book.entriesLike(identity))
      if (entry.pendingId === id && !entry.closed) this.book.close(entry);
  }

  #tracesOf(identity: Identity, wanted: (entry: Entry) => boolean): Trace[] {
    const entries = this.book.entriesLike(identity).filter(wanted);
    return entries.map((entry) => traceOfEntry(entry, this.asker.patienceMs));
  }

  #take(entry: Entry, fields: Partial<Entry>): void {
    const { origin, run, sender } = this.asker;
    this.book.change(entry, { ...origin, ...fields, run, sender, process: thisProcess() });
  }
}

/** Closes the entries of registrations that made nothing. Absence in another account shows nothing. */
export function closeAbsent(by: readonly Pending[], book: Book, { origin }: Pick<Asker, "origin">): void {
  for (const { entry } of by) if (entry && isSameAccount(entry, origin)) book.close(entry);
}
