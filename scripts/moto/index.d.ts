/** Returns the `moto_server` that set-up installed, a stand-in for Amazon SQS; undefined if there is none. */
export function findMoto(): string | undefined;

/**
 * Installs moto from PyPI into a virtual environment below the cache, unless it is there already. If it fails, it prints why and
 * continues; the tests that need it then fail with the same advice.
 */
export function ensureMoto(): Promise<void>;

/** The end of a sentence: how to get moto if it is missing. */
export const HOW_TO_GET_MOTO: string;
