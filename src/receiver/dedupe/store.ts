/** The result of a claim. */
export type Claim =
  /** Taken, until the lease ends. Only the token can complete or release the claim. */
  | { readonly state: "claimed"; readonly token: string }
  /** Another worker has it, for at most this long unless it finishes first. */
  | { readonly state: "held"; readonly retryAfterMs: number }
  /** It was handled before. */
  | { readonly state: "completed" };

/**
 * Remembers which deliveries are being handled and which were. Each operation is atomic. An operation that fails throws or rejects:
 * on a claim, the receiver then responds with 503, so that the sender retries.
 */
export interface DedupeStore {
  /** Takes the key for `leaseMs`, unless it was completed or another worker's lease still runs. */
  claim(key: string, leaseMs: number): Claim | Promise<Claim>;
  /**
   * Remembers the key as handled for `keepMs`. Returns false, and does nothing, if the lease ran out and another worker took over.
   * After a failure it is called again with the same token, while the lease lasts.
   */
  complete(key: string, token: string, keepMs: number): boolean | Promise<boolean>;
  /** Gives the key back, so that a retry is handled. Returns false, and does nothing, if the token is not the claim's any more. */
  release(key: string, token: string): boolean | Promise<boolean>;
}
