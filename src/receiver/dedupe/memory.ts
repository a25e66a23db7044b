import type { Claim, DedupeStore } from "./store";

export interface MemoryDedupeOptions {
  /** How many deliveries are remembered, at about 100 bytes each. Default 100,000. */
  readonly maxEntries?: number | undefined;
  /** The clock, in milliseconds. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** How soon to come again when every entry is a running handler's. */
const FULL_RETRY_MS = 1000;

/**
 * Dedupes the deliveries of one process: the default of `createReceiver`. Memory is bounded: when it is full, a claim whose
 * lease ran out is forgotten, then the delivery completed longest ago; a running handler's claim never is, and with nothing
 * else left the sender is told to come again. Several processes share nothing: use `redisDedupe` there.
 *
 * ```ts
 * createReceiver({ secrets, dedupe: memoryDedupe({ maxEntries: 1_000_000 }), handlers });
 * ```
 *
 * @throws RangeError when `maxEntries` is no positive integer
 */
export function memoryDedupe({
  maxEntries = 100_000,
  now = Date.now,
}: MemoryDedupeOptions = {}): DedupeStore {
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
    throw new RangeError(`memoryDedupe: maxEntries must be a positive integer; got ${String(maxEntries)}.`);
  }
  // Both in order of expiry, as long as the receivers that share the store ask for the same times.
  const held = new Map<string, { readonly token: string; readonly until: number }>();
  const completed = new Map<string, number>();
  let claims = 0;

  function forgetExpired(time: number): void {
    for (const [key, until] of completed) {
      if (until > time) return;
      completed.delete(key);
    }
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
      const time = now();
      forgetExpired(time);
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
      const time = now();
      const holder = held.get(key);
      if (holder === undefined) {
        // The lease ran out and made room. It was handled all the same.
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
