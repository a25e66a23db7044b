import { checkNumber, checkOptionalFunction, checkOptions } from "../checks";
import type { Claim, DedupeStore } from "./store";

/** Options of `memoryDedupe`. */
export interface MemoryDedupeOptions {
  /** How many deliveries are remembered, at about 100 bytes each. Default 100,000. */
  readonly maxEntries?: number | undefined;
  /** The clock, in milliseconds. Default: `performance.now`, which no change of the system's time affects. */
  readonly now?: (() => number) | undefined;
}

/** When to retry, in milliseconds, if every entry belongs to a running handler. */
const FULL_RETRY_MS = 1000;

/**
 * Dedupes the deliveries of one process: the default of `createReceiver`. Memory is bounded: when it is full, the store forgets a
 * claim whose lease ran out, then the delivery completed longest ago. It never forgets a running handler's claim, and if nothing
 * else is left, the sender has to retry. Several processes share nothing: use `redisDedupe` there.
 *
 * ```ts
 * createReceiver({ secrets, dedupe: memoryDedupe({ maxEntries: 1_000_000 }), handlers });
 * ```
 *
 * @throws RangeError if `maxEntries` is not a positive integer; TypeError for an unknown option
 */
export function memoryDedupe(options: MemoryDedupeOptions = {}): DedupeStore {
  checkOptions("memoryDedupe", options, ["maxEntries", "now"]);
  const { maxEntries = 100_000, now = () => performance.now() } = options;
  checkNumber("memoryDedupe: maxEntries", maxEntries, { least: 1 });
  checkOptionalFunction("memoryDedupe: now", options.now);
  // Both in order of expiry, if the receivers that share the store use the same leases.
  const held = new Map<string, { readonly token: string; readonly until: number }>();
  const completed = new Map<string, number>();
  let claims = 0;

  /** Throws if the clock failed: no comparison with NaN is true, so every lease would seem to have ended. */
  function currentTime(): number {
    const time = now();
    if (!Number.isFinite(time)) throw new TypeError("memoryDedupe: now must return a finite number.");
    return time;
  }

  function makeRoom(time: number): boolean {
    if (held.size + completed.size < maxEntries) return true;
    const [oldest] = held;
    if (oldest !== undefined && oldest[1].until <= time) return held.delete(oldest[0]);
    for (const [key] of completed) return completed.delete(key);
    return false;
  }

  return {
    claim(key, leaseMs): Claim {
      const time = currentTime();
      const holder = held.get(key);
      if (holder !== undefined && holder.until > time)
        return { state: "held", retryAfterMs: holder.until - time };
      if ((completed.get(key) ?? time) > time) return { state: "completed" };
      if (holder === undefined && !makeRoom(time)) return { state: "held", retryAfterMs: FULL_RETRY_MS };
      const token = String(++claims);
      held.delete(key);
      held.set(key, { token, until: time + leaseMs });
      return { state: "claimed", token };
    },

    complete(key, token, keepMs) {
      const time = currentTime();
      const holder = held.get(key);
      if (holder === undefined) {
        // The lease ran out and made room for another. The delivery was handled nevertheless.
        if ((completed.get(key) ?? time) > time || !makeRoom(time)) return false;
      } else if (holder.token !== token) return false;
      held.delete(key);
      completed.delete(key);
      completed.set(key, time + keepMs);
      return true;
    },

    release(key, token) {
      return held.get(key)?.token === token && held.delete(key);
    },
  };
}
