/** The tolerance of the Standard Webhooks libraries, in seconds. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/** Returns what is wrong with a tolerance, or undefined if it is valid. */
export function problemOfTolerance(
  seconds: unknown,
  mostSeconds: number = Number.MAX_SAFE_INTEGER,
): string | undefined {
  if (Number.isSafeInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= mostSeconds)
    return undefined;
  const range = mostSeconds === Number.MAX_SAFE_INTEGER ? "0 or more" : `from 0 to ${mostSeconds}`;
  // Arguments can be in the wrong order, so a string could be a secret.
  const given = typeof seconds === "number" ? String(seconds) : `a value of type ${typeof seconds}`;
  return `toleranceSeconds must be a whole number of seconds, not milliseconds, ${range} (0 turns the timestamp window off), but it is ${given}`;
}

/** @throws RangeError if the tolerance is invalid, which is a mistake in the program */
export function checkTolerance(seconds: number, mostSeconds?: number): void {
  const problem = problemOfTolerance(seconds, mostSeconds);
  if (problem !== undefined) throw new RangeError(`${problem}.`);
}
