import { isAlive } from "../shared/processes";
import type { Book } from "./book";
import type { Pending } from "./decide";
import { type Entry, ipHash, isLiving, isSameStack, mayTake } from "./entry";
import { isWholeUp, mayHaveBegunAfter, type PastRun, wasUnderWay } from "./history";
import type { Wanted } from "./identity";
import { interruptionOf, LATER_UP, mayHaveSent } from "./interruption";
import { pendingOfSent } from "./pendingResource";
import type { Stack } from "./stack";
import { isAmbiguous } from "./stackName";
import { type Asker, isSameAccount } from "./trace";

const ELSEWHERE = "it was sent to another base URL";
const FAILED =
  "the run that registered it failed, and has not recorded it, or the state has given it up since";

interface EntrySources {
  readonly asker: Asker;
  readonly book: Book;
  readonly stack: Stack | undefined;
}

/** Returns the pending registration that an entry records, if it is open. Closes or removes an entry whose outcome is known. */
export async function pendingEntry(
  entry: Entry,
  wanted: Wanted,
  { asker, book, stack }: EntrySources,
): Promise<Pending | undefined> {
  if (entry.closed || entry.adopted) return undefined;
  const { sent, ip } = entry;
  const isOurs = stack !== undefined && isSameStack(entry.stack, stack.name);
  if (isOurs && sent === null) await removeIfAbandoned(entry, stack, book);
  if (sent === null) return undefined;
  const id = entry.id ?? undefined;
  const base = { ...pendingOfSent(sent, asker.patienceMs), id, sameIp: ip === ipHash(wanted.ip), ip, entry };
  const explaining = mayExplain(entry, asker) ? { ...base, explainsOnly: true } : undefined;
  if (!isOurs || isLiving(entry, asker.run)) return id === undefined ? explaining : undefined;
  const status = await statusOf(entry, stack);
  if (status.kind === "recorded") {
    book.close(entry);
    return undefined;
  }
  // What another stack of this name sent explains what that one has.
  if (status.kind === "another" || status.kind === "pending") return explaining;
  // Without an id, nothing shows that a request to another service made an endpoint of this one.
  if (id === undefined && entry.service !== asker.origin.service)
    return explaining && { ...base, doubt: ELSEWHERE };
  if (!mayTake(entry, asker.origin)) return explaining;
  switch (status.kind) {
    case "later up":
      // That `up` would have taken over what it made, had the program still declared it.
      return { ...base, doubt: LATER_UP, unwanted: true };
    case "unknown":
      // If it was answered, its run has probably recorded it.
      return { ...base, explainsOnly: id !== undefined, doubt: status.why };
    case "failed":
      return { ...base, doubt: FAILED };
    case "lost":
      return { ...base, doubt: await doubtOfName(sent.at, wanted, { asker, stack }) };
  }
}

/** What was sent to another account explains nothing in this one. To a command, it may have been this one, with an older key. */
export function mayExplain(
  origin: Parameters<typeof isSameAccount>[0],
  { countsAll, origin: own }: Pick<Asker, "countsAll" | "origin">,
): boolean {
  return countsAll === true || isSameAccount(origin, own);
}

/** In a backend with organizations, only an operation that was interrupted at that time shows that an entry is this stack's. */
async function doubtOfName(
  at: number,
  wanted: Wanted,
  { asker, stack }: { readonly asker: Asker; readonly stack: Stack },
): Promise<string | undefined> {
  if (!isAmbiguous(stack.name)) return undefined;
  const state = await stack.state();
  if (state !== undefined && state.operations.like(wanted).length > 0) {
    const { sent } = await interruptionOf(stack, state, asker.timeoutMs + asker.patienceMs);
    if (sent !== undefined && mayHaveSent({ from: sent.sureFrom, until: sent.until }, at)) return undefined;
  }
  return "it may be that of a stack with the same name in another organization or backend";
}

/**
 * What became of an open entry of an earlier run:
 * - `recorded`: the state has it, or the run that sent it or took it over succeeded
 * - `pending`: the state has it under its provisional id
 * - `another`: an earlier stack of this name sent it, which may have been renamed
 * - `later up`: an `up` has succeeded since then that would have settled or recorded it
 * - `lost`: the run did not record it
 * - `failed`: the run failed, and either recorded it, and the state has given it up since, or did not
 * - `unknown`: why that cannot be told, as the end of a sentence
 */
type Status =
  | { readonly kind: "recorded" | "pending" | "another" | "later up" | "lost" | "failed" }
  | { readonly kind: "unknown"; readonly why: string };

export async function statusOf(entry: Entry, stack: Stack): Promise<Status> {
  const { id, pendingId, sent, stackBegan } = entry;
  const state = await stack.state();
  if (state === undefined) return { kind: "unknown", why: "the stack's state cannot be read" };
  if (id !== null && state.has(entry)) return { kind: "recorded" };
  if (pendingId !== undefined && state.hasPending(pendingId)) return { kind: "pending" };
  const at = entry.takenAt ?? sent?.at ?? 0;
  const runs = await stack.history(at);
  if (runs === undefined) return { kind: "unknown", why: "the stack's history cannot be read" };
  // A refresh registers nothing, and takes over what is pending.
  const kinds = entry.takenAt === undefined ? ["update"] : ["update", "refresh"];
  // What a person's command wrote down is of no run.
  const isOwn = (run: PastRun) => entry.run !== "" && kinds.includes(run.kind ?? "") && wasUnderWay(run, at);
  const isLaterUp = (run: PastRun) => isWholeUp(run) && mayHaveBegunAfter(run, at);
  if (runs.some((run) => isOwn(run) && run.succeeded && !isLaterUp(run))) return { kind: "recorded" };
  // A run that was stopped leaves an operation (engine rule 35). Without one, it recorded what was answered, or that it was pending, or
  // its plugin was killed.
  const wasKnown = id !== null || pendingId !== undefined;
  const hasFailed = wasKnown && !state.operations.has(entry.key) && runs.some(isOwn);
  const wasDestroyed = runs.some((run) => run.kind === "destroy" && mayHaveBegunAfter(run, at));
  const { created } = state.times;
  // After a destroy the stack begins again, and so does another one that gets the name of a renamed stack. Only the state and the history of
  // the one that sent it show a trace: a destroy keeps what was interrupted. What an older stack of that name keeps shows nothing.
  const isShown = () => state.operations.has(entry.key, { overtaken: true }) || runs.some(isOwn);
  // Nothing was known of the stack's beginning if its state could not be read then, or was not written until the end of the run. One that
  // `state move` has begun has no time of it.
  const isOfStack =
    stackBegan === (await stack.began()) || ((stackBegan === undefined || wasDestroyed) && isShown());
  if (!isOfStack) return { kind: "another" };
  // An equal beginning is the stack's own, also if the clock was put back since.
  if (stackBegan === undefined && at < created && !wasDestroyed) return { kind: "another" };
  if (runs.some(isLaterUp)) return { kind: "later up" };
  return { kind: hasFailed ? "failed" : "lost" };
}

/** Removes an entry that was never sent, unless it shows that an interrupted operation registered nothing. */
export async function removeIfAbandoned(entry: Entry, stack: Stack, book: Book): Promise<void> {
  if (isAlive(entry.process, 0)) return;
  const state = await stack.state();
  if (state?.operations.has(entry.key, { overtaken: true }) === false) book.remove(entry);
}
