import { mayHaveMade, type Pending } from "./decide";
import { plainText, type Resource } from "./deployment";
import { type Entry, ipHash, isAdoption, isSameStack } from "./entry";
import { HISTORY_PRECISION_MS, isWholeUp } from "./history";
import { isProvisional, keyHash, type Wanted } from "./identity";
import type { Stack } from "./stack";
import type { StackState } from "./stackState";
import { CLOCK_TOLERANCE_MS, UNKNOWN, type Window } from "./time";
import { type Asker, providerHashOf } from "./trace";

/** Where to look for the interrupted operations of a stack that may have registered a url and type. */
interface Sources {
  readonly wanted: Wanted;
  readonly asker: Asker;
  readonly stack: Stack;
  readonly state: StackState;
  /** Those of this url and type, of all stacks. */
  readonly entries: readonly Entry[];
  /** Returns the entries that the stack has of other urls and types. */
  readonly ofOtherUrls: () => readonly Entry[];
}

export const LATER_UP = "an `up` has succeeded since then and did not record it";
export const ADOPTED = "a resource has adopted another endpoint that fits, with adoptId";
const WRITTEN_SINCE = "a later run has written the state, so nothing tells when the interrupted run ended";
const SECRET_URL = "the state keeps the url of an interrupted registration as a secret";
const NO_TIME = "the service does not tell its time";
const OTHER_PROVIDER = "nothing tells the account of another provider's interrupted registration";

/** When the interrupted operations of a state were sent, in milliseconds on this machine's clock. */
type Interruption =
  | { readonly sent: Required<Window>; readonly unwanted?: never; readonly settledAt?: never }
  | Undated;

/** Why nothing dates them, as the end of a sentence. */
interface Undated {
  readonly sent?: never;
  readonly doubt: string;
  /** True if an `up` has succeeded without them. */
  readonly unwanted?: boolean;
  /** When they were sent at the latest. Default: before this run. */
  readonly until?: number | undefined;
  /** When the stack that sent them began, or earlier. */
  readonly from: number;
  /** When the last `up` ended that recorded everything, unless it is the run that last wrote the state. */
  readonly settledAt?: number | undefined;
}

/**
 * Dates the interrupted operations of a state, which have no times of their own (engine rule 39). The run that last wrote the state is
 * the interrupted one if it has no entry in the history, because it was killed, or if it is an `up` that failed, because Ctrl-C twice
 * leaves such an entry (engine rule 35). The engine writes the state when an operation begins, so it is sure that they were sent before
 * the last write, for as long as a creation takes. Before that a creation may have waited, or an earlier run may have been interrupted.
 *
 * @param longestMs how long a creation takes at most, unless it waits for others
 */
export async function interruptionOf(
  stack: Stack,
  state: StackState,
  longestMs: number,
): Promise<Interruption> {
  const { written } = state.times;
  const began = state.began ?? 0;
  const runs = await stack.history(began);
  if (runs === undefined) return { doubt: "the stack's history cannot be read", from: began };
  // They outlive a destroy, after which the stack begins again.
  const from = runs.some(({ kind, start }) => kind === "destroy" && start < began) ? 0 : began;
  const settled = runs.find(isWholeUp);
  if (stack.startedAt === undefined || !(written < stack.startedAt))
    return { doubt: "nothing tells when the interrupted run ended", settledAt: settled?.end, from };
  // A run that began later has written nothing.
  const last = runs.find(({ start }) => start <= written);
  const isKilled = last === undefined || written >= last.end + HISTORY_PRECISION_MS;
  const isStopped = last?.kind === "update" && !last.succeeded;
  if (!isKilled && !isStopped) {
    // No two runs of a stack are under way at once.
    const before = { until: last.start, from };
    if (last === settled) return { doubt: LATER_UP, unwanted: true, ...before };
    return { doubt: WRITTEN_SINCE, settledAt: settled?.end, ...before };
  }
  const sureFrom = Math.max(isKilled ? (last?.end ?? from) : last.start, written - longestMs);
  return { sent: { from: settled?.end ?? from, sureFrom, until: written } };
}

/** Returns whether an interrupted operation may have sent something at a moment. */
export function mayHaveSent({ from, until }: Window, at: number): boolean {
  return at >= from - CLOCK_TOLERANCE_MS && at <= until + CLOCK_TOLERANCE_MS;
}

function pendingOperation(
  operation: Resource,
  interruption: Interruption,
  { wanted, asker, stack, state }: Sources,
): Pending {
  const { sent } = interruption;
  const ip = ipHash(plainText(operation.inputs, "ip"));
  const isUnwanted = interruption.unwanted === true;
  const overtakenSince = state.operations.overtakenSince(operation);
  const base = {
    window: UNKNOWN,
    before: [],
    complete: false,
    sameIp: ip === ipHash(wanted.ip),
    ip,
    explainsOnly: providerHashOf(operation) !== asker.origin.provider,
    unwanted: isUnwanted || overtakenSince !== undefined,
  };
  const { id } = operation;
  // It was answered right before the kill. That is proof, unless an `up` has done without it.
  if (id && !isProvisional(id)) return { ...base, id, doubt: isUnwanted ? interruption.doubt : undefined };
  const skew = asker.skew();
  if (skew === null) return { ...base, doubt: NO_TIME };
  const earliest = (time: number) => time + skew - CLOCK_TOLERANCE_MS;
  const latest = (time: number) => time + skew + asker.timeoutMs + asker.patienceMs;
  if (sent === undefined) {
    const { doubt, from, until = stack.startedAt } = interruption;
    if (until === undefined) return { ...base, doubt };
    return { ...base, doubt, window: { ...UNKNOWN, from: earliest(from), until: latest(until) } };
  }
  const since = (time: number) => earliest(Math.max(time, overtakenSince || time));
  const window = { from: since(sent.from), sureFrom: since(sent.sureFrom), until: latest(sent.until) };
  const doubt = base.explainsOnly ? OTHER_PROVIDER : isSecret(operation) ? SECRET_URL : undefined;
  return { ...base, window, doubt, sentAt: sent.until };
}

/** Returns the interrupted operations that may have registered a url and type and that no entry stands for, as those of other machines. */
export async function interruptedLike(sources: Sources): Promise<Pending[]> {
  const { wanted, asker, stack, state, entries, ofOtherUrls } = sources;
  const all = state.operations.like(wanted, { overtaken: asker.countsAll === true });
  if (all.length === 0) return [];
  const interruption = await interruptionOf(stack, state, asker.timeoutMs + asker.patienceMs);
  // An `up` has settled those, too, whose secrets nobody can compare.
  const isSettled = (each: Resource) =>
    interruption.unwanted === true && state.operations.looksOvertaken(each);
  const left = all.filter((each) => asker.countsAll || !isSettled(each));
  // What has a url first: an entry of that url stands for it before it stands for a secret.
  left.sort((a, b) => Number(isSecret(a)) - Number(isSecret(b)));
  const like = entries.filter(({ stack: name }) => isSameStack(name, stack.name));
  for (const entry of left.some(isSecret) ? [...like, ...ofOtherUrls()] : like) {
    // The state was read before this provider began to create anything.
    const isNew = entry.sender === asker.sender && entry.takenAt === undefined;
    if (entry.adopted || isNew || !isOfInterruption(entry, interruption)) continue;
    const index = left.findIndex((each) => mayStandFor(entry, each, sources));
    if (index >= 0) left.splice(index, 1);
  }
  const pending = left.map((each) => pendingOperation(each, interruption, sources));
  // A person has said what one of them made. Adoptions from before the operations say nothing about them.
  const { from = Number.NEGATIVE_INFINITY, sureFrom = from } = interruption.sent ?? {};
  for (const entry of entries) {
    const { begunAt = sureFrom, id, createdAt } = entry;
    if (id === null || begunAt < from || !isAdoption(entry, stack.name)) continue;
    const index = pending.findIndex((each) => mayHaveMade(each, { id, createdAt }));
    const [made] = index < 0 ? [] : pending.splice(index, 1);
    // An operation of the last run may be younger than the adoption.
    if (made && begunAt < sureFrom) pending.push({ ...made, doubt: ADOPTED });
  }
  return pending;
}

function isSecret({ inputs }: Resource): boolean {
  return plainText(inputs, "url") === undefined;
}

/**
 * Returns whether an entry may be of the time of the interrupted operations. A registration counts once, also when its entry was closed
 * since. If nothing dates the operations, an open entry probably stands for one, unless an `up` has recorded everything since.
 */
function isOfInterruption({ begunAt, closed, sent }: Entry, interruption: Interruption): boolean {
  const at = sent?.at ?? begunAt;
  if (at === undefined || interruption.sent === undefined)
    return !closed && (at ?? Number.POSITIVE_INFINITY) > (interruption.settledAt ?? 0);
  return mayHaveSent(interruption.sent, at);
}

/** Returns whether an entry may record what an operation sent. It does not if another resource has the endpoint. */
function mayStandFor(entry: Entry, operation: Resource, { wanted, state }: Sources): boolean {
  const { ip } = operation.inputs ?? {};
  const isSameIp = typeof ip === "object" || ipHash(plainText(operation.inputs, "ip")) === entry.ip;
  const isOfUrl =
    entry.key === keyHash(wanted) || (isSecret(operation) && !state.operations.hasUrl(entry.key));
  const holders = state.urnsOf(entry);
  const isFree = holders.length === 0 || holders.includes(operation.urn);
  return providerHashOf(operation) === (entry.sentBy ?? entry.provider) && isSameIp && isOfUrl && isFree;
}
