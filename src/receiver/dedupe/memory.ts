import { checkNumber } from "../optionChecks";
import type { Claim, DedupeStore } from "./store";

/** Options of `memoryDedupe`. */
export interface MemoryDedupeOptions {
  /** How many deliveries are remembered, at about 100 bytes each. Default 100,000. */
  readonly maxEntries?: number | undefined;
}

/** When to retry, in milliseconds, if every entry belongs to a running handler. */
const FULL_RETRY_MS = 1000;

/**
 * Dedupes the deliveries of one process: the default of `createReceiver`. When it is full, the store forgets a claim whose lease ran
 * out, then the delivery completed longest ago, and never a running handler's claim: if nothing else is left, the sender has to retry.
 *
 * ```ts
 * createReceiver({ secrets, dedupe: memoryDedupe({ maxEntries: 1_000_000 }), handlers });
 * ```
 *
 * @throws RangeError if `maxEntries` is not a positive integer
 */
export function memoryDedupe({ maxEntries = 100_000 }: MemoryDedupeOptions = {}): DedupeStore {
  checkNumber("memoryDedupe: maxEntries", maxEntries, { least: 1 });
  // No change of the system's time affects this clock.
  const now = () => performance.now();
  // Both in order of expiry, if the receivers that share the store use the same leases.
  const held = new Map<string, { readonly token: string; readonly until: number }>();
  const completed = new Map<string, number>();
  let oldestFirst: Iterator<string> | undefined;
  let claims = 0;

  function makeRoom(time: number): boolean {
    if (held.size + completed.size < maxEntries) return true;
    const [oldest] = held;
    if (oldest !== undefined && oldest[1].until <= time) return held.delete(oldest[0]);
    // One iterator goes on where it stopped. A new one would pass over everything that was deleted before.
    let next = oldestFirst?.next();
    if (next?.done !== false) {
      oldestFirst = completed.keys();
      next = oldestFirst.next();
    }
    return !next.done && completed.delete(next.value);
  }

  return {
    claim(key, leaseMs): Claim {
      const time = now();
      const lease = held.get(key);
      if (lease !== undefined && lease.until > time)
        return { state: "held", retryAfterMs: lease.until - time };
      if ((completed.get(key) ?? time) > time) return { state: "completed" };
      if (lease === undefined && !makeRoom(time)) return { state: "held", retryAfterMs: FULL_RETRY_MS };
      const token = String(++claims);
      held.delete(key);
      held.set(key, { token, until: time + leaseMs });
      return { state: "claimed", token };
    },

    complete(key, token, keepMs) {
      const time = now();
      if (held.get(key)?.token !== token) return false;
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
