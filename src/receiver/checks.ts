/**
 * Refuses options that do not exist, which plain JavaScript, and TypeScript for options in a variable, would drop in silence.
 * @param owner whose options they are, such as "createReceiver"
 * @throws TypeError
 */
export function checkOptions(owner: string, options: object, known: readonly string[]): void {
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && !known.includes(name))
      throw new TypeError(`${owner}: ${name} is not an option here; use ${known.join(", ")}.`);
}

/** Refuses what is not a whole number in a range, such as NaN from a variable that is not set. @throws RangeError */
export function checkNumber(
  name: string,
  value: number,
  { least, most = Number.MAX_SAFE_INTEGER }: { least: number; most?: number },
): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new RangeError(`${name} must be a whole number from ${least} to ${most}.`);
}
