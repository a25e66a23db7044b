/** The engine's placeholder for a string that is not known yet (engine rule 6). */
export const UNKNOWN_VALUE = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/**
 * Describes each option that is not one of the known ones. TypeScript refuses a misspelt option, but plain JavaScript drops it.
 * An option that is undefined counts as left out.
 *
 * @param what what the options belong to, such as "an option of WebhooksProvider"
 */
export function unknownOptions(options: unknown, known: readonly string[], what: string): string[] {
  return Object.entries(options ?? {})
    .filter(([name, value]) => value !== undefined && !known.includes(name))
    .map(([name]) => `${name} is not ${what}; use ${known.join(", ")}`);
}

/** The longest limit that a user may set, in seconds. */
export const MOST_SECONDS = 3_600;

/** Returns what is wrong with a limit in seconds, as the end of a sentence such as "timeoutSeconds …"; false if nothing is. */
export function mistakeInSeconds(value: unknown): string | false {
  const isRight = Number(value) > 0 && Number(value) <= MOST_SECONDS;
  return !isRight && `must be a number of seconds above 0, at most ${MOST_SECONDS}`;
}
