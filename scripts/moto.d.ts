/** Returns the `moto_server` that set-up installed, a stand-in for Amazon SQS; undefined if there is none. */
export function findMoto(): string | undefined;

/** The end of a sentence: how to get moto if it is missing. */
export const HOW_TO_GET_MOTO: string;
