/** How many runs of a stack's history are read. */
export const HISTORY_LENGTH = 20;
/** The resolution of the history's times, in milliseconds. */
export const HISTORY_PRECISION_MS = 1_000;
/** The arguments with which the CLI prints the last runs, the last one first. */
export const PRINT_HISTORY = ["stack", "history", "--json", "--page-size", String(HISTORY_LENGTH)] as const;

/** An entry as the CLI prints it. */
export interface HistoryEntry {
  readonly kind?: string;
  readonly result?: string;
  readonly startTime?: string;
  readonly endTime?: string;
}

/** A run in a stack's history, with its times on this machine's clock in milliseconds. Only an `up` registers anything. */
export interface PastRun {
  readonly kind: string | undefined;
  readonly succeeded: boolean;
  readonly start: number;
  readonly end: number;
}

/** Returns the runs that have ended, in the order of the entries. */
export function pastRuns(entries: readonly HistoryEntry[]): PastRun[] {
  return entries.flatMap(pastRun);
}

function pastRun({ kind, result, startTime, endTime }: HistoryEntry): PastRun[] {
  const [start, end] = [Date.parse(startTime ?? ""), Date.parse(endTime ?? "")];
  const isFinished = result === "succeeded" || result === "failed";
  return isFinished && Number.isFinite(start + end)
    ? [{ kind, succeeded: result === "succeeded", start, end }]
    : [];
}

/** Returns whether a run has recorded everything that it registered. */
export function isSuccessfulUp({ kind, succeeded }: PastRun): boolean {
  return kind === "update" && succeeded;
}

/** Returns whether a run was under way at a moment, as far as the history's times are exact. */
export function wasUnderWay({ start, end }: PastRun, at: number): boolean {
  return at >= start - HISTORY_PRECISION_MS && at <= end + HISTORY_PRECISION_MS;
}
