/** Returns the `redis-server` to test with: one on PATH, or the one that set-up unpacked; undefined if there is neither. */
export function findRedis(): string | undefined;

/** The end of a sentence: how to get Redis if it is missing. */
export const HOW_TO_GET_REDIS: string;
