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
 * Dedupes the deliveries of one process: the default of `createReceiver`. Memory is bounded: when it is full, the delivery
 * completed longest ago is forgotten; a running handler's claim never is, and with nothing else left the sender is told to
 * come again. Several processes share nothing: use `redisDedupe` there.
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
    for (const [key] of completed) return completed.delete(key);
    for (const [key, claim] of held) return claim.until <= time && held.delete(key);
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
      if (held.get(key)?.token !== token) return false;
      held.delete(key);
      completed.delete(key);
      completed.set(key, now() + keepMs);
      return true;
    },

    release(key, token) {
      return held.get(key)?.token === token && held.delete(key);
    },
  };
}
