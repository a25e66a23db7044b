/** The tolerance of the Standard Webhooks libraries, in seconds. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/** A receiver's longest, in seconds: a day. A longer one is in milliseconds by mistake, and would let recorded deliveries in for days. */
export const LONGEST_TOLERANCE_SECONDS = 86_400;

/** Returns what is wrong with a tolerance, or undefined if it is valid. Does not repeat it: it could be a secret. */
export function problemOfTolerance(
  seconds: unknown,
  mostSeconds: number = Number.MAX_SAFE_INTEGER,
): string | undefined {
  if (Number.isSafeInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= mostSeconds)
    return undefined;
  const most = mostSeconds === Number.MAX_SAFE_INTEGER ? "" : `, to ${mostSeconds}`;
  return `toleranceSeconds must be a whole number of seconds, not milliseconds, from 0 (no timestamp window)${most}`;
}

/** @throws RangeError if the tolerance is invalid, which is a mistake in the program */
export function checkTolerance(seconds: number, mostSeconds?: number): void {
  const problem = problemOfTolerance(seconds, mostSeconds);
  if (problem !== undefined) throw new RangeError(`${problem}.`);
}
