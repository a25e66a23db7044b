/** Time as an argument: everything that waits or measures takes it from here, so that a test can control it. */
export interface Clock {
  /** Returns milliseconds that never go back: for durations. */
  now(): number;
  /** Returns milliseconds since 1970: for dates. */
  date(): number;
  /** Calls back after so many milliseconds, and returns a function that cancels the call. */
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

/** Waits so long, or until the signal is aborted. */
export function sleep(
  milliseconds: number,
  { clock, signal }: { clock: Clock; signal: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(milliseconds, end);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}
