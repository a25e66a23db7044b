import type { Endpoint } from "../client";
import type { Book } from "./book";
import { mayHaveMade, type Pending } from "./decide";
import { plainText } from "./deployment";
import { type Entry, ipHash, isAdoption, isLiving, isSameStack, traceOfEntry, windowOfSent } from "./entry";
import { keyHash, type Wanted } from "./identity";
import { ADOPTED, interruptedLike } from "./interruption";
import { mayExplain, pendingEntry } from "./pendingEntry";
import { type PendingRecord, pendingOf, recordOf } from "./pendingResource";
import type { Stack, Stacks } from "./stack";
import type { StackState } from "./stackState";
import {
  type Asker,
  type Holder,
  holderAmong,
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
    const rest = entries.filter((each) => each !== own);
    const sources = { entries, state, stack };
    const { asker, book } = this;
    const more: Pending[] = [];
    for (const entry of rest) {
      const found = await pendingEntry(entry, wanted, { asker, book, stack });
      if (found) more.push(found);
    }
    if (stack && state) {
      const wantedKey = keyHash(wanted);
      const ofOtherUrls = () => this.#openEntries(stack, state).filter(({ key }) => key !== wantedKey);
      more.push(...(await interruptedLike({ wanted, asker, stack, state, entries, ofOtherUrls })));
    }
    more.push(...this.#ofOtherResources(wanted, record, sources));
    return {
      pending: [
        ...this.#ofAsking(wanted, record, { own, ...sources }),
        ...more.map((each) => (alone ? { ...each, explainsOnly: true } : each)),
      ],
      holderOf: (endpoint) => this.#holderOf(endpoint, { ...sources, entries: rest }),
      ownId: own?.id ?? undefined,
    };
  }

  /** Returns the pending registration of the resource that asks, unless it is known to have made nothing. */
  #ofAsking(
    wanted: Wanted,
    record: PendingRecord | undefined,
    { own, entries, state, stack }: Sources & { readonly own: Entry | undefined },
  ): Pending[] {
    if (record === undefined || (own?.closed && own.id === null)) return [];
    const pending = this.#ofRecord(record, own, wanted.ip);
    const inBook = entries.filter((entry) => stack && isAdoption(entry, stack.name));
    const inState = state?.adoptedLike(wanted).map(traceOfResource) ?? [];
    const isExplained = [...inBook, ...inState].some(
      ({ id, createdAt }) => id && mayHaveMade(pending, { id, createdAt }),
    );
    return [isExplained && own === undefined ? { ...pending, doubt: ADOPTED } : pending];
  }

  /** Returns those of other resources of the stack that are pending and that no entry stands for. */
  #ofOtherResources(
    wanted: Wanted,
    record: PendingRecord | undefined,
    { entries, state }: Sources,
  ): Pending[] {
    return (state?.pendingLike(wanted) ?? [])
      .filter(({ id }) => id !== record?.id && !entries.some(({ pendingId }) => pendingId === id))
      .filter((each) => mayExplain(traceOfResource(each), this.asker))
      .map((each) => this.#ofRecord(recordOf(each), undefined, plainText(each.inputs, "ip")))
      .map((each) => ({ ...each, explainsOnly: true }));
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
    const pending = pendingOf(record, patienceMs);
    const window = entry?.sent ? windowOfSent(entry.sent, patienceMs) : pending.window;
    return { ...pending, window, id: entry?.id ?? undefined, ip: ipHash(ip), entry, pendingId: record.id };
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
