/** A run in a stack's history, with its times on this machine's clock in milliseconds. Only an `up` registers anything. */
export interface PastRun {
  readonly kind: string | undefined;
  readonly succeeded: boolean;
  readonly start: number;
  readonly end: number;
}

/** An entry as `pulumi stack history --json` prints it. */
interface HistoryEntry {
  readonly kind?: string;
  readonly result?: string;
  readonly startTime?: string;
  readonly endTime?: string;
}

/** The resolution of the history's times, in milliseconds. */
const PRECISION_MS = 1_000;

/** Returns the runs that have ended, the last one first. */
export function pastRuns(printed: unknown): PastRun[] {
  return (printed as HistoryEntry[]).flatMap(({ kind, result, startTime, endTime }) => {
    const [start, end] = [Date.parse(startTime ?? ""), Date.parse(endTime ?? "")];
    const isFinished = result === "succeeded" || result === "failed";
    return isFinished && Number.isFinite(start + end)
      ? [{ kind, succeeded: result === "succeeded", start, end }]
      : [];
  });
}

/** Returns whether a run has recorded everything that it registered. */
export function isSuccessfulUp({ kind, succeeded }: PastRun): boolean {
  return kind === "update" && succeeded;
}

/** Returns whether a run was under way at a moment, as far as the history's times are exact. */
export function wasUnderWay({ start, end }: PastRun, at: number): boolean {
  return at >= start - PRECISION_MS && at <= end + PRECISION_MS;
}
