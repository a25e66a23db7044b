import type { Deployment } from "../../settlement/deployment";
import {
  HISTORY_LENGTH,
  HISTORY_PRECISION_MS,
  type HistoryEntry,
  PRINT_HISTORY,
} from "../../endpoint/witness/history";
import type { Pulumi } from "../pulumi";

/** How long a stack's first run takes at most. A state that is older than its own history was imported. */
const MAX_FIRST_RUN_MS = 3_600_000;

/** When the interrupted run was under way, in milliseconds on this machine's clock. */
export interface InterruptedRun {
  /** No endpoint of the stack is older: its oldest resource was made then. */
  readonly notBefore: number;
  /** When it began, or the run before it had ended. Infinity if that is unknown. */
  readonly from: number;
  /** The latest moment at which it was known to be under way. */
  readonly until: number;
}

/** Returns the latest entries of the stack's history, the last one first. */
export function readHistory(pulumi: Pulumi): Promise<readonly HistoryEntry[]> {
  return pulumi.json(PRINT_HISTORY);
}

/**
 * Dates the run that left interrupted registrations in a state. Later runs keep them there, so it is only known to be the
 * last run that wrote the state in three cases:
 * - The state was written after the end of the last run in the history. Only a run that was killed leaves no entry.
 * - The last run in the history that wrote the state is an `up` that did not succeed. An `up` that is ended at once (Ctrl-C
 *   twice, or SIGINT and then SIGTERM) has an entry, and what it registered is in the state it left or was lost by it.
 * - The history holds no such run: the stack's first run was killed.
 *
 * @param history the last entry first
 */
export function interruptedRun(
  { resources = [], manifest }: Deployment,
  history: readonly HistoryEntry[],
  now: number,
): InterruptedRun {
  const created = resources.map((resource) => Date.parse(resource.created ?? "")).filter(Number.isFinite);
  const notBefore = created.length === 0 ? 0 : Math.min(...created);
  const written = timeOr(now, manifest?.time);
  // A run that began later has written nothing, so it has registered nothing either.
  const last = history.find(({ startTime }) => timeOr(0, startTime) <= written);
  if (last === undefined) {
    const isFirstRun =
      history.length < HISTORY_LENGTH && created.length > 0 && written - notBefore <= MAX_FIRST_RUN_MS;
    return { notBefore, from: isFirstRun ? notBefore : Number.POSITIVE_INFINITY, until: written };
  }
  const started = timeOr(Number.POSITIVE_INFINITY, last.startTime);
  const ended = timeOr(Number.POSITIVE_INFINITY, last.endTime);
  if (written >= ended + HISTORY_PRECISION_MS) return { notBefore, from: ended, until: written };
  if (last.kind === "update" && last.result !== "succeeded") {
    const until = Number.isFinite(ended) ? ended + HISTORY_PRECISION_MS : written;
    return { notBefore, from: started, until };
  }
  return { notBefore, from: Number.POSITIVE_INFINITY, until: Math.min(started, written) };
}

function timeOr(otherwise: number, time: string | undefined): number {
  const parsed = Date.parse(time ?? "");
  return Number.isNaN(parsed) ? otherwise : parsed;
}
