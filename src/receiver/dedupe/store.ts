/** What a store answers to a claim. */
export type Claim =
  /** Ours until the lease ends. The token fences what follows: with it alone the claim is completed or released. */
  | { readonly state: "claimed"; readonly token: string }
  /** Another worker has it, for at most this long unless it finishes first. */
  | { readonly state: "held"; readonly retryAfterMs: number }
  /** It was handled before. */
  | { readonly state: "completed" };

/**
 * Remembers which deliveries are being handled and which were. Each operation is atomic. One that cannot reach the
 * store throws or rejects: the receiver then answers 503, so that the sender tries again.
 */
export interface DedupeStore {
  /** Takes the key for `leaseMs`, unless it was completed or another worker's lease still runs. */
  claim(key: string, leaseMs: number): Claim | Promise<Claim>;
  /** Remembers the key as handled for `keepMs`. False, and nothing done, when the lease ran out and another took over. */
  complete(key: string, token: string, keepMs: number): boolean | Promise<boolean>;
  /** Gives the key back, so that a retry is handled. False, and nothing done, when the token is no longer the claim's. */
  release(key: string, token: string): boolean | Promise<boolean>;
}
