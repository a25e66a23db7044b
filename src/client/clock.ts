/** Time, as an argument: what waits and measures takes it from here, so that a test can move it by hand. */
export interface Clock {
  /** Milliseconds that only ever grow: for durations. */
  now(): number;
  /** Milliseconds since 1970: for dates. */
  date(): number;
  /** Calls back after so many milliseconds; what it returns takes that back. */
  after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, Math.ceil(milliseconds));
    return () => clearTimeout(timer);
  },
};

/** Waits, and says how it ended. */
export function sleep(
  milliseconds: number,
  { clock, signal }: { clock: Clock; signal: AbortSignal | undefined },
): Promise<"over" | "aborted"> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve("aborted");
      return;
    }
    const abort = () => {
      cancel();
      resolve("aborted");
    };
    const cancel = clock.after(milliseconds, () => {
      signal?.removeEventListener("abort", abort);
      resolve("over");
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}
