import { isAlive } from "../shared/processes";
import type { Book } from "./book";
import type { Entry } from "./entry";
import { isWholeUp, type PastRun, wasUnderWay } from "./history";
import type { Stack } from "./stack";

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
  if (runs.some((run) => isOwn(run) && run.succeeded)) return { kind: "recorded" };
  // A run that was stopped leaves an operation (engine rule 35). Without one, it recorded what was answered, or that it was pending, or
  // its plugin was killed.
  const wasKnown = id !== null || pendingId !== undefined;
  const hasFailed = wasKnown && !state.operations.has(entry.key) && runs.some(isOwn);
  const wasDestroyed = runs.some(({ kind, start }) => kind === "destroy" && start > at);
  const { created } = state.times;
  // After a destroy the stack begins again, and so does another one that gets the name of a renamed stack. Only the state and the history of
  // the one that sent it show a trace: a destroy keeps what was interrupted. What an older stack of that name keeps shows nothing.
  const isShown = () => state.operations.has(entry.key, { overtaken: true }) || runs.some(isOwn);
  // Nothing was known of the stack's beginning if its state could not be read then, or was not written until the end of the run. One that
  // `state move` has begun has no time of it.
  const mayHaveSent =
    stackBegan === (await stack.began()) || ((stackBegan === undefined || wasDestroyed) && isShown());
  if (!mayHaveSent) return { kind: "another" };
  if (at < created && !wasDestroyed) return { kind: "another" };
  if (runs.some((run) => isWholeUp(run) && run.start > at)) return { kind: "later up" };
  return { kind: hasFailed ? "failed" : "lost" };
}

/** Removes an entry that was never sent, unless it shows that an interrupted operation registered nothing. */
export async function removeIfAbandoned(entry: Entry, stack: Stack, book: Book): Promise<void> {
  if (isAlive(entry.process, 0)) return;
  const state = await stack.state();
  if (state?.operations.has(entry.key, { overtaken: true }) === false) book.remove(entry);
}
