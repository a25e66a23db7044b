import type { Endpoint } from "../client";
import { type Book, type Entry, isLiving, type StackName } from "./book";
import type { Holder, Pending } from "./decide";
import { plainText, providerNameOf, type Resource } from "./deployment";
import { hashOf } from "./files";
import { isWholeUp, wasUnderWay } from "./history";
import { type Identity, isProvisional } from "./identity";
import { type HandedOver, handedOverOf } from "./pendingResource";
import {
  type Account,
  type Interruption,
  interruptionOf,
  LATER_UP,
  type Stack,
  type StackState,
  type Undated,
} from "./stack";
import { isAmbiguous } from "./stackName";
import type { Stacks } from "./stacks";
import { CLOCK_TOLERANCE_MS, mayBeSameTime, placeIn, windowOf } from "./time";

/** The run that asks. */
export interface Asker extends Account {
  /** The name of the WebhooksProvider; absent for the default one. */
  readonly provider?: string | undefined;
  /** What all processes of one command have in common. */
  readonly run: string;
  /** What each provider of a command has for itself. */
  readonly sender: string;
  readonly timeoutMs: number;
  readonly patienceMs: number;
  /** The service's clock less this machine's, in milliseconds; null if unknown. */
  readonly skew: () => number | null;
  /** Whether healed operations count too: nothing takes what they made, so only a person's command asks for that. */
  readonly countsHealed?: boolean;
}

export interface Known {
  readonly pending: readonly Pending[];
  /** Returns who has an endpoint of this url and type, as far as the state and the book tell. */
  readonly holderOf: (endpoint: Endpoint) => Holder;
}

/** Wanted: an endpoint with this url, type and ip. */
export type Wanted = Identity & {
  readonly ip?: string | null | undefined;
  /** True if the ip is unknown: then it makes no difference. */
  readonly anyIp?: boolean;
};

const SECRET_URL = "the state keeps the url of an interrupted registration as a secret";
const EARLIER_RUN = "it was created long before the interrupted run ended, and perhaps before that run began";

/** Gathers what the state and the book tell about the pending registrations of one url and type. */
export class Evidence {
  constructor(
    private readonly book: Book,
    private readonly stacks: Pick<Stacks, "current" | "of">,
    private readonly asker: Asker,
  ) {}

  async about(wanted: Wanted, handedOver?: HandedOver): Promise<Known> {
    const stack = (await this.stacks.current()) ?? this.#stackOf(handedOver, wanted);
    // The state first: what is under way in it is in the book by then.
    const state = await stack?.state();
    const entries = this.book.entriesLike(wanted);
    const pending: Pending[] =
      handedOver === undefined ? [] : [this.#handedOver(handedOver, entries, wanted.ip)];
    for (const entry of entries) {
      if (entry.closed || entry.adopted || (handedOver && entry.id === handedOver.id)) continue;
      const found = await this.#pendingOf(entry, wanted, { stack, handedOver });
      if (found) pending.push(found);
    }
    if (stack && state) pending.push(...(await this.#interrupted(wanted, stack, state, entries)));
    pending.push(...this.#pendingElsewhere(state?.pendingLike(wanted) ?? [], entries, handedOver));
    return { pending, holderOf: (endpoint) => this.#holderOf(endpoint, { entries, state, stack }) };
  }

  /** A command without a program does not know its stack. The entry of a pending registration names it. */
  #stackOf(handedOver: HandedOver | undefined, wanted: Wanted): Stack | undefined {
    const named = handedOver && this.book.entriesLike(wanted).find(({ id }) => id === handedOver.id);
    return named && this.stacks.of(named.stack);
  }

  /** The pending resources of the stack that no entry stands for: each explains an endpoint. */
  #pendingElsewhere(
    resources: readonly Resource[],
    entries: readonly Entry[],
    handedOver: HandedOver | undefined,
  ): Pending[] {
    return resources
      .filter(({ id }) => id !== handedOver?.id && !entries.some((entry) => entry.id === id))
      .map((resource) => ({
        ...this.#handedOver(handedOverOf(resource), [], plainText(resource.inputs, "ip")),
        others: true,
      }));
  }

  #handedOver(
    { id, before, complete, attemptedAt }: HandedOver,
    entries: readonly Entry[],
    ip: string | null | undefined,
  ): Pending {
    return {
      window: windowOf(attemptedAt, this.asker.patienceMs),
      before,
      complete,
      sameIp: true,
      ip: ipHash(ip),
      own: false,
      others: false,
      entry: entries.find((entry) => entry.id === id),
    };
  }

  /** Returns a pending registration of an open entry. Closes or removes an entry whose outcome is known. */
  async #pendingOf(
    entry: Entry,
    wanted: Wanted,
    { stack, handedOver }: { stack: Stack | undefined; handedOver: HandedOver | undefined },
  ): Promise<Pending | undefined> {
    const { sent, id } = entry;
    const isOurs = stack !== undefined && isSameStack(entry.stack, stack.name);
    const living = isLiving(entry, this.asker.run);
    if (isOurs && sent === null) await removeIfAbandoned(entry, stack, this.book);
    if (sent === null) return undefined;
    const { serviceTime, before, complete } = sent;
    const real = id === null || isProvisional(id) ? undefined : id;
    const base = {
      window: windowOf(serviceTime, this.asker.patienceMs),
      before,
      complete,
      sameIp: wanted.anyIp === true || entry.ip === ipHash(wanted.ip),
      ip: entry.ip,
      own: false,
      entry,
    };
    const others = { ...base, others: true };
    if (!isOurs || living) return real === undefined ? others : undefined;
    const status = await statusOf(entry, stack);
    switch (status.kind) {
      case "recorded":
        this.book.close(entry);
        return undefined;
      case "another":
        return undefined;
      case "pending":
        return others;
      case "later up":
        // That `up` would have taken over what it made, had the program still declared it.
        return { ...base, id: real, others: !mayTake(entry, this.asker), doubt: LATER_UP, unwanted: true };
      default: {
        const doubt =
          status.kind === "unknown"
            ? status.why
            : handedOver
              ? undefined
              : await this.#doubtAboutName(stack, wanted);
        return { ...base, id: real, others: !mayTake(entry, this.asker), doubt };
      }
    }
  }

  /** In a backend with organizations, only an interrupted operation shows that an entry is this stack's. */
  async #doubtAboutName(stack: Stack, wanted: Wanted): Promise<string | undefined> {
    if (!isAmbiguous(stack.name)) return undefined;
    const operations = (await stack.state())?.operationsLike(wanted) ?? [];
    return operations.length > 0
      ? undefined
      : "it may be that of a stack with the same name in another organization or backend";
  }

  /** Returns the interrupted operations that no entry stands for, as those of other machines. */
  async #interrupted(
    wanted: Wanted,
    stack: Stack,
    state: StackState,
    entries: readonly Entry[],
  ): Promise<Pending[]> {
    const left = [...state.operationsLike(wanted)];
    const healed = this.asker.countsHealed === true ? state.healedLike(wanted) : [];
    if (left.length + healed.length === 0) return [];
    const { timeoutMs, patienceMs } = this.asker;
    const { startedAt } = stack;
    const interruption = await interruptionOf(stack, state, timeoutMs + patienceMs);
    const standsFor = ({ adopted, closed, sender, sent, stack: name }: Entry): boolean => {
      // The state was read before this provider began to create anything.
      if (adopted || !isSameStack(name, stack.name) || sender === this.asker.sender) return false;
      // A registration counts once, also when its entry was closed since.
      return !closed || (!("doubt" in interruption) && sent !== null && wasSentIn(interruption, sent.at));
    };
    for (const { provider } of entries.filter(standsFor)) {
      const index = left.findIndex((operation) => hashOf(providerNameOf(operation) ?? "") === provider);
      if (index >= 0) left.splice(index, 1);
      else healed.shift();
    }
    return [
      ...left.flatMap((operation) =>
        this.#interruptedOperation(operation, wanted, { interruption, startedAt }),
      ),
      ...healed.flatMap(({ operation, since }) => {
        const until = state.times.written;
        const dated = "doubt" in interruption ? { certain: { from: since, until } } : interruption;
        const from = Math.max(since, dated.certain.from);
        const window = { certain: { from, until }, possible: { from: since, until: from } };
        const pending = this.#interruptedOperation(operation, wanted, { interruption: window, startedAt });
        return pending.map((each) => ({
          ...each,
          ...("doubt" in interruption && interruption),
          unwanted: true,
        }));
      }),
    ];
  }

  #interruptedOperation(
    operation: Resource,
    { ip, anyIp = false }: Wanted,
    { interruption, startedAt }: { interruption: Interruption | Undated; startedAt: number },
  ): Pending[] {
    const { timeoutMs, patienceMs, provider } = this.asker;
    const skew = this.asker.skew();
    const base = {
      before: [],
      complete: false,
      sameIp: anyIp || plainText(operation.inputs, "ip") === (ip ?? undefined),
      ip: ipHash(plainText(operation.inputs, "ip")),
      own: false,
      others: providerNameOf(operation) !== provider,
      operation,
    };
    const { id } = operation;
    if (id && !isProvisional(id)) return [{ ...base, id, ...provenBy(interruption) }];
    if (skew === null) return [{ ...base, window: undefined, doubt: "the service does not tell its time" }];
    if ("doubt" in interruption) {
      // It was sent before this run began.
      const until = startedAt + skew + patienceMs;
      const mayComplete = interruption.unwanted !== true;
      return [{ ...base, ...interruption, window: undefined, ...(mayComplete && { until }) }];
    }
    const isSecret = plainText(operation.inputs, "url") === undefined;
    const { certain, possible } = interruption;
    const from = certain.from + skew - CLOCK_TOLERANCE_MS;
    const until = certain.until + skew + timeoutMs + patienceMs;
    return [
      { ...base, window: { from, until }, doubt: isSecret ? SECRET_URL : undefined },
      {
        ...base,
        window: { from: possible.from + skew - CLOCK_TOLERANCE_MS, until: from - 1 },
        doubt: EARLIER_RUN,
      },
    ];
  }

  #holderOf(
    endpoint: Endpoint,
    {
      entries,
      state,
      stack,
    }: { entries: readonly Entry[]; state: StackState | undefined; stack: Stack | undefined },
  ): Holder {
    const own = originHashes(this.asker);
    const holders = entries.map((entry): Holder => {
      if (entry.id !== endpoint.id || !isSameEndpoint(entry, endpoint, this.asker.patienceMs))
        return "nobody";
      const isOurs = stack !== undefined && isSameStack(entry.stack, stack.name);
      // An open entry of this stack whose process is dead is evidence, and no holder.
      if (isOurs && !entry.closed && !entry.foreign && !isLiving(entry, this.asker.run)) return "nobody";
      return entry.service === own.service && entry.fingerprint === own.fingerprint ? "somebody" : "unclear";
    });
    holders.push(state?.holderOf(endpoint, this.asker) ?? "nobody");
    return holders.includes("somebody") ? "somebody" : holders.includes("unclear") ? "unclear" : "nobody";
  }
}

/** An operation that was answered right before the kill holds the id: then it matters only whether an `up` has done without it. */
function provenBy(interruption: Interruption | Undated): Pick<Pending, "window" | "doubt" | "unwanted"> {
  const isUnwanted = "doubt" in interruption && interruption.unwanted === true;
  return { window: undefined, ...(isUnwanted && interruption) };
}

function wasSentIn({ certain, possible }: Interruption, at: number): boolean {
  return at >= possible.from - CLOCK_TOLERANCE_MS && at <= certain.until + CLOCK_TOLERANCE_MS;
}

/** Returns whether the endpoint with an entry's id is the one of that entry: ids may be used again, and count for each account. */
export function isSameEndpoint({ createdAt, sent }: Entry, endpoint: Endpoint, patienceMs: number): boolean {
  if (createdAt !== null) return mayBeSameTime(createdAt, endpoint.createdAt);
  return sent === null || placeIn(windowOf(sent.serviceTime, patienceMs), endpoint.createdAt) !== "outside";
}

/**
 * What became of an open entry of an earlier run:
 * - `recorded`: the run that sent it succeeded, or the state has it
 * - `pending`: the state has it under its provisional id
 * - `another`: it is older than the stack, so an earlier stack of this name sent it, which may have been renamed
 * - `later up`: an `up` has succeeded since then that would have settled or recorded it
 * - `lost`: the run did not record it
 * - `unknown`: why that cannot be told, as the end of a sentence
 */
export type Status =
  | { readonly kind: "recorded" | "pending" | "another" | "later up" | "lost" }
  | { readonly kind: "unknown"; readonly why: string };

export async function statusOf(entry: Entry, stack: Stack): Promise<Status> {
  const { id, sent } = entry;
  const state = await stack.state();
  if (state === undefined) return { kind: "unknown", why: "the stack's state cannot be read" };
  if (id !== null && state.has(entry)) return { kind: isProvisional(id) ? "pending" : "recorded" };
  const at = sent?.at ?? 0;
  const runs = await stack.history(at);
  if (runs === undefined) return { kind: "unknown", why: "the stack's history cannot be read" };
  if (runs.some((run) => run.kind === "update" && run.succeeded && wasUnderWay(run, at)))
    return { kind: "recorded" };
  const wasDestroyed = runs.some(({ kind, start }) => kind === "destroy" && start > at);
  if (at < state.times.created && !wasDestroyed) return { kind: "another" };
  return { kind: runs.some((run) => isWholeUp(run) && run.start > at) ? "later up" : "lost" };
}

/** Removes an entry that was never sent, unless it shows that an interrupted operation registered nothing. */
export async function removeIfAbandoned(entry: Entry, stack: Stack, book: Book): Promise<void> {
  if ((await stack.state())?.hasOperation(entry.key) === false) book.removeIfAbandoned(entry);
}

/** Returns whether the account or the provider that asks sent an entry. */
export function mayTake({ provider, fingerprint, service }: Entry, asker: Asker): boolean {
  const own = originHashes(asker);
  return provider === own.provider || (fingerprint === own.fingerprint && service === own.service);
}

export function isSameStack(a: StackName, b: StackName): boolean {
  return a.urn === b.urn && a.backend === b.backend;
}

/** Returns where something was sent, as the book holds it. */
export function originHashes({ baseUrl, account, provider }: Account & Pick<Asker, "provider">) {
  return { service: hashOf(baseUrl), fingerprint: account, provider: hashOf(provider ?? "") };
}

export function ipHash(ip: string | null | undefined): string {
  return hashOf(ip ?? "");
}
