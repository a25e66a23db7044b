/** The tolerance of the Standard Webhooks libraries, in seconds. */
export const DEFAULT_TOLERANCE_SECONDS = 300;
/** A day. A longer tolerance is in milliseconds by mistake, and would let recorded deliveries in for days. */
const LONGEST_TOLERANCE_SECONDS = 86_400;

/** Returns what is wrong with a tolerance, or undefined if it is valid. Does not repeat it: it could be a secret. */
export function problemOfTolerance(seconds: unknown): string | undefined {
  if (Number.isSafeInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= LONGEST_TOLERANCE_SECONDS)
    return undefined;
  return `toleranceSeconds must be a whole number of seconds, not milliseconds, from 0 (no timestamp window) to ${LONGEST_TOLERANCE_SECONDS}`;
}

/** @throws RangeError if the tolerance is invalid, which is a mistake in the program */
export function checkTolerance(seconds: number): void {
  const problem = problemOfTolerance(seconds);
  if (problem !== undefined) throw new RangeError(`${problem}.`);
}
