import type { Clock } from "../../src/client/clock";

/** Returns a clock that skips each wait: it runs on by as much at once. */
export function skippingClock(now: () => number = Date.now): Clock & { readonly skippedMs: () => number } {
  let skipped = 0;
  return {
    now: () => now() + skipped,
    date: () => now() + skipped,
    after: (milliseconds, callback) => {
      skipped += milliseconds;
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    },
    skippedMs: () => skipped,
  };
}
