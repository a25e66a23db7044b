/** The longest delay of `setTimeout`. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Refuses what is not a whole number in a range, such as NaN from a variable that is not set. @throws RangeError */
export function checkNumber(
  name: string,
  value: number,
  { least, most = Number.MAX_SAFE_INTEGER }: { least: number; most?: number | undefined },
): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new RangeError(`${name} must be a whole number from ${least} to ${most}.`);
}

/**
 * Refuses an object without these methods, such as the client of another library: each delivery would fail.
 * @param remedy the whole message: what to pass instead
 * @throws TypeError
 */
export function requireMethods(object: unknown, methods: readonly string[], remedy: string): void {
  const members: Readonly<Record<string, unknown>> = Object(object);
  if (methods.some((name) => typeof members[name] !== "function")) throw new TypeError(remedy);
}

/** Checks how long a handler, or adding to a queue, may take, in milliseconds. @throws RangeError */
export function checkedTimeout(handlerTimeoutMs = 15_000): number {
  checkNumber("handlerTimeoutMs", handlerTimeoutMs, { least: 1, most: LONGEST_TIMER_MS });
  return handlerTimeoutMs;
}

/**
 * Refuses the options that are left when the known ones are taken out. Plain JavaScript would drop them in silence, and so would
 * TypeScript for options in a variable.
 * @param instead where the developer finds what to do
 * @throws TypeError
 */
export function refuseOptions(others: object, instead: string): void {
  for (const [name, value] of Object.entries(others))
    if (value !== undefined) throw new TypeError(`The option ${name} does not exist here. ${instead}`);
}
