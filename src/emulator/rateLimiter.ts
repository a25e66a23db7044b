/** How many requests the API accepts. */
export interface RateLimit {
  /** How many requests in a second. Any more get 429 with Retry-After. */
  readonly requestsPerSecond: number;
  /** How many requests may arrive at once after a pause. Default: `requestsPerSecond`, rounded up. */
  readonly burst?: number | undefined;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** A token bucket for each account. `clock` returns monotonic milliseconds, since wall clocks can jump. */
export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>();
  readonly #rate: number;
  readonly #burst: number;
  readonly #clock: () => number;

  constructor({ requestsPerSecond, burst }: RateLimit, clock: () => number = () => performance.now()) {
    this.#rate = requestsPerSecond / 1000;
    this.#burst = burst ?? Math.max(1, Math.ceil(requestsPerSecond));
    this.#clock = clock;
  }

  /** Takes one token. Returns 0, or the milliseconds until the next token. */
  take(account: string): number {
    const now = this.#clock();
    const bucket = this.#buckets.get(account) ?? { tokens: this.#burst, at: now };
    this.#buckets.set(account, bucket);
    bucket.tokens = Math.min(this.#burst, bucket.tokens + (now - bucket.at) * this.#rate);
    bucket.at = now;
    if (bucket.tokens < 1) return (1 - bucket.tokens) / this.#rate;
    bucket.tokens -= 1;
    return 0;
  }
}
