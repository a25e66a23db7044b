import type { Endpoint } from "../client";
import type { Book } from "./book";
import { mayHaveMade, type Pending } from "./decide";
import { plainText } from "./deployment";
import { type Entry, ipHash, isLiving, isSameStack, mayTake, traceOfEntry, windowOfSent } from "./entry";
import { removeIfAbandoned, statusOf } from "./entryStatus";
import { keyHash, type Wanted } from "./identity";
import { ADOPTED, interruptedLike, interruptionOf, LATER_UP, mayHaveSent } from "./interruption";
import { type PendingRecord, pendingOf, recordOf } from "./pendingResource";
import type { Stack, Stacks } from "./stack";
import { isAmbiguous } from "./stackName";
import type { StackState } from "./stackState";
import { adoptedLike } from "./takings";
import {
  type Asker,
  type Holder,
  holderAmong,
  isSameAccount,
  strongest,
  timesAgree,
  traceOfEndpoint,
  traceOfResource,
} from "./trace";

export interface Known {
  /** The endpoint of the pending resource that asks, if a run has found it before and the state does not have it yet. */
  readonly ownId?: string | undefined;
  readonly pending: readonly Pending[];
  /** Returns who has an endpoint of this url and type, as far as the state and the book tell. */
  readonly holderOf: (endpoint: Endpoint) => Holder;
}

interface Sources {
  readonly entries: readonly Entry[];
  readonly state: StackState | undefined;
  readonly stack: Stack | undefined;
}

export interface AboutOptions {
  /** The pending resource that asks. */
  readonly record?: PendingRecord | undefined;
  /** Whether it asks for itself alone: what other registrations made explains endpoints, and is not for it. */
  readonly alone?: boolean;
}

const ELSEWHERE = "it was sent to another base URL";
const FAILED =
  "the run that registered it failed, and has not recorded it, or the state has given it up since";

/** Gathers what the state and the book tell about the pending registrations of one url and type. */
export class Evidence {
  /** By the stack's state. */
  readonly #open = new WeakMap<StackState, readonly Entry[]>();

  constructor(
    private readonly book: Book,
    private readonly stacks: Pick<Stacks, "current" | "of">,
    private readonly asker: Asker,
  ) {}

  async about(wanted: Wanted, { record, alone = false }: AboutOptions = {}): Promise<Known> {
    const stack = (await this.stacks.current()) ?? this.#stackOf(record, wanted);
    // The state first: what is under way in it is in the book by then.
    const state = await stack?.state();
    const entries = this.book.entriesLike(wanted);
    const own = record && this.#entryOf(record, entries);
    const isOver = own?.closed === true && own.id === null;
    const mine = record && !isOver ? [this.#ofRecord(record, own, wanted.ip)] : [];
    const adopted = record && !own ? adoptedLike(wanted, { entries, state, stack }) : [];
    const isExplained = (each: Pending) => adopted.some((endpoint) => mayHaveMade(each, endpoint));
    const pending: Pending[] = [];
    for (const entry of entries) {
      if (entry.closed || entry.adopted || entry === own) continue;
      const found = await this.#pendingOf(entry, wanted, stack);
      if (found) pending.push(found);
    }
    if (stack && state) {
      const key = keyHash(wanted);
      const others = () => this.#openEntries(stack, state).filter((each) => each.key !== key);
      pending.push(...(await interruptedLike(wanted, { asker: this.asker, stack, state, entries, others })));
    }
    // The pending resources of the stack that no entry stands for: each explains an endpoint.
    const others = (state?.pendingLike(wanted) ?? [])
      .filter(({ id }) => id !== record?.id && !entries.some(({ pendingId }) => pendingId === id))
      .filter((each) => this.#mayExplain(traceOfResource(each)))
      .map((each) => this.#ofRecord(recordOf(each), undefined, plainText(each.inputs, "ip")));
    pending.push(...others.map((each) => ({ ...each, others: true })));
    const theirs = alone ? pending.map((each) => ({ ...each, others: true })) : pending;
    const rest = entries.filter((each) => each !== own);
    const holderOf = (endpoint: Endpoint) => this.#holderOf(endpoint, { entries: rest, state, stack });
    const asked = mine.map((each) => (isExplained(each) ? { ...each, doubt: ADOPTED } : each));
    return { pending: [...asked, ...theirs], holderOf, ownId: own?.id ?? undefined };
  }

  /** Returns the open entries of a stack that no pending resource stands for. They are read once: each registration may ask. */
  #openEntries(stack: Stack, state: StackState): readonly Entry[] {
    const read = () =>
      this.book
        .entriesOf(stack.name)
        .filter(({ closed, pendingId }) => !closed && !(pendingId && state.hasPending(pendingId)));
    const open = this.#open.get(state) ?? read();
    this.#open.set(state, open);
    return open;
  }

  /** A command without a program does not know its stack. The entry of a pending registration names it. */
  #stackOf(record: PendingRecord | undefined, wanted: Wanted): Stack | undefined {
    const named = record && this.#entryOf(record, this.book.entriesLike(wanted));
    return named && this.stacks.of(named.stack);
  }

  /** Returns the entry of a pending resource, unless another process of this run has just taken what it made. */
  #entryOf({ id }: PendingRecord, entries: readonly Entry[]): Entry | undefined {
    const { run, sender } = this.asker;
    const entry = entries.find(({ pendingId }) => pendingId === id);
    const isTaken = entry?.takenAt !== undefined && entry.sender !== sender && isLiving(entry, run);
    return isTaken ? undefined : entry;
  }

  #ofRecord(record: PendingRecord, entry: Entry | undefined, ip: string | null | undefined): Pending {
    const { patienceMs } = this.asker;
    const id = entry?.id ?? undefined;
    const pending = {
      ...pendingOf(record, patienceMs),
      id,
      ip: ipHash(ip),
      entry,
      pendingId: record.id,
    };
    return entry?.sent ? { ...pending, window: windowOfSent(entry.sent, patienceMs) } : pending;
  }

  /** Returns a pending registration of an open entry. Closes or removes an entry whose outcome is known. */
  async #pendingOf(entry: Entry, wanted: Wanted, stack: Stack | undefined): Promise<Pending | undefined> {
    const { sent, ip } = entry;
    const isOurs = stack !== undefined && isSameStack(entry.stack, stack.name);
    if (isOurs && sent === null) await removeIfAbandoned(entry, stack, this.book);
    if (sent === null) return undefined;
    const { before, complete } = sent;
    const window = windowOfSent(sent, this.asker.patienceMs);
    const base = { window, before, complete, sameIp: ip === ipHash(wanted.ip), ip, entry };
    const id = entry.id ?? undefined;
    const { origin } = this.asker;
    const explains = this.#mayExplain(entry);
    const explaining = explains ? { ...base, others: true } : undefined;
    if (!isOurs || isLiving(entry, this.asker.run)) return id === undefined ? explaining : undefined;
    const status = await statusOf(entry, stack);
    // Without an id, nothing shows that a request to another service made an endpoint of this one.
    const isElsewhere = id === undefined && entry.service !== origin.service;
    const isUnseen = status.kind !== "recorded" && status.kind !== "another" && status.kind !== "pending";
    if (isElsewhere && isUnseen) return explains ? { ...base, doubt: ELSEWHERE } : undefined;
    if (!mayTake(entry, origin) && status.kind !== "recorded") return explaining && { ...explaining, id };
    switch (status.kind) {
      case "recorded":
        this.book.close(entry);
        return undefined;
      case "another": // It explains what the renamed stack has.
      case "pending":
        return explaining && { ...explaining, id };
      case "later up":
        // That `up` would have taken over what it made, had the program still declared it.
        return { ...base, id, doubt: LATER_UP, unwanted: true };
      case "unknown":
        // If it was answered, its run has probably recorded it.
        return { ...base, id, others: id !== undefined, doubt: status.why };
      case "failed":
        return { ...base, id, doubt: FAILED };
      case "lost":
        return { ...base, id, doubt: await this.#doubtOfName(sent.at, stack, wanted) };
    }
  }

  /** What was sent to another account explains nothing in this one. To a command, it may have been this one, with an older key. */
  #mayExplain(origin: Parameters<typeof isSameAccount>[0]): boolean {
    return this.asker.countsAll === true || isSameAccount(origin, this.asker.origin);
  }

  /** In a backend with organizations, only an operation that was interrupted at that time shows that an entry is this stack's. */
  async #doubtOfName(at: number, stack: Stack, wanted: Wanted): Promise<string | undefined> {
    if (!isAmbiguous(stack.name)) return undefined;
    const state = await stack.state();
    if (state !== undefined && state.operations.like(wanted).length > 0) {
      const { sent } = await interruptionOf(stack, state, this.asker.timeoutMs + this.asker.patienceMs);
      if (sent !== undefined && mayHaveSent({ from: sent.sureFrom, until: sent.until }, at)) return undefined;
    }
    return "it may be that of a stack with the same name in another organization or backend";
  }

  #holderOf(endpoint: Endpoint, { entries, state, stack }: Sources): Holder {
    const { origin, patienceMs, run } = this.asker;
    const trace = traceOfEndpoint(endpoint, origin);
    // An open entry of this stack is evidence, and no holder, unless the process of this run that wrote it lives.
    const isHolder = (entry: Entry) =>
      entry.closed || !stack || !isSameStack(entry.stack, stack.name) || isLiving(entry, run);
    const holders = entries.filter(isHolder).map((entry) => traceOfEntry(entry, patienceMs));
    const ofTime = holders.filter((each) => timesAgree(each, trace) !== false);
    return strongest(holderAmong(ofTime, trace), state?.holderOf(trace) ?? "nobody");
  }
}
