/** The `redis-server` to test with: one on PATH, or the one that set-up unpacked; undefined where there is neither. */
export function findRedis(): string | undefined;

/**
 * Unpacks the distribution's package of Redis into the cache, unless there is one already; installs nothing and needs
 * no root. Where that fails it says so and goes on: the tests that need Redis then fail with the same words.
 */
export function ensureRedis(): Promise<void>;

/** What to do where there is no Redis. */
export const howToGetRedis: string;
