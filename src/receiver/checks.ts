/**
 * Refuses options that do not exist. TypeScript does so for an object literal, but not for one in a variable, and plain JavaScript
 * drops them.
 * @param owner whose options they are, such as "createReceiver"
 * @throws TypeError
 */
export function checkOptions(owner: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null)
    throw new TypeError(`${owner}: expected an object with the options ${known.join(", ")}.`);
  const unknown = Object.entries(options).find(
    ([name, value]) => value !== undefined && !known.includes(name),
  );
  if (unknown !== undefined)
    throw new TypeError(
      `${owner}: ${unknown[0].slice(0, 40)} is not an option of ${owner}; use ${known.join(", ")}.`,
    );
}

/**
 * Refuses a value that lacks one of the functions that are needed.
 * @param name the owner and the option, such as "createReceiver: dedupe"
 * @param advice what to pass instead
 * @throws TypeError
 */
export function checkFunctions(
  name: string,
  value: unknown,
  { functions, advice }: { functions: readonly string[]; advice: string },
): void {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  const missing = functions.find(
    (each) => !isObject || typeof (value as Record<string, unknown>)[each] !== "function",
  );
  if (missing !== undefined) throw new TypeError(`${name} has no function ${missing}. ${advice}`);
}

/** @throws RangeError */
export function checkNumber(
  name: string,
  value: number,
  { least, most = Number.MAX_SAFE_INTEGER }: { least: number; most?: number },
): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  // Not a string's value, which could be a secret.
  const given = typeof value === "number" ? String(value) : `a value of type ${typeof value}`;
  throw new RangeError(`${name} must be a whole number from ${least} to ${most}, but it is ${given}.`);
}

/** Refuses an option that is neither left out nor a function. @throws TypeError */
export function checkOptionalFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function")
    throw new TypeError(
      `${name} must be a function, but it is ${value === null ? "null" : `a value of type ${typeof value}`}.`,
    );
}
