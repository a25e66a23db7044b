/** Returns the `redis-server` to test with: one on PATH, or the one that set-up unpacked; undefined if there is neither. */
export function findRedis(): string | undefined;

/**
 * Unpacks the distribution's Redis into the cache, unless there is one already. It installs nothing and doesn't need root. If it fails,
 * it prints why and continues; the tests that need Redis then fail with the same advice.
 */
export function ensureRedis(): Promise<void>;

/** The end of a sentence: how to get Redis if it is missing. */
export const HOW_TO_GET_REDIS: string;
