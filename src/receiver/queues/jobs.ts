/** One thing that a queue wants handled. */
export interface Job {
  readonly data: unknown;
  readonly isBullmq: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Returns what a queue passed to its worker: a batch of pg-boss, a job of either, or the data itself. */
export function jobsIn(queued: unknown, signal: AbortSignal | undefined): Job[] {
  if (Array.isArray(queued)) return queued.map((each) => jobOf(each, signal));
  return [jobOf(queued, signal)];
}

function jobOf(queued: unknown, signal: AbortSignal | undefined): Job {
  if (typeof queued !== "object" || queued === null || !("data" in queued))
    return { data: queued, isBullmq: false, signal };
  const {
    data,
    moveToFailed,
    signal: own,
  } = queued as Partial<Record<"data" | "moveToFailed" | "signal", unknown>>;
  // Each job of pg-boss has a signal of its own.
  const ownSignal = own instanceof AbortSignal ? own : undefined;
  return { data, isBullmq: typeof moveToFailed === "function", signal: ownSignal ?? signal };
}
