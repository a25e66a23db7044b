import { unknownOptions } from "../shared/knownOptions";
import { isThenable } from "./deadline";

/** A name that a message may repeat. Anything else could be a value in the wrong place, such as a secret. */
const PLAIN_NAME = /^(?!whsec_)[a-z]\w{0,23}$/i;

/**
 * Refuses options that do not exist. TypeScript does so for an object literal, but not for one in a variable, and plain JavaScript
 * drops them.
 * @param owner whose options they are, such as "createReceiver"
 * @throws TypeError which names each unknown option and the nearest right one
 */
export function checkOptions(owner: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || isThenable(options))
    throw new TypeError(`${owner}: expected an object with the options ${known.join(", ")}.`);
  const unknown = unknownOptions(options, known, `an option of ${owner}`);
  if (unknown.length === 0) return;
  const isPlain = Object.keys(options).every((name) => PLAIN_NAME.test(name));
  const problem = isPlain
    ? unknown.join("; ")
    : `an unknown option is not shown, because it may be a secret; use ${known.join(", ")}`;
  throw new TypeError(`${owner}: ${problem}.`);
}

/**
 * Refuses a value that has not the functions that are needed.
 * @param name the owner and the option, such as "createReceiver: dedupe"
 * @param advice what to pass instead
 * @throws TypeError
 */
export function checkFunctions(
  name: string,
  value: unknown,
  { functions, advice }: { functions: readonly string[]; advice: string },
): void {
  const isObject = typeof value === "object" && value !== null;
  const missing = functions.filter(
    (each) => !isObject || typeof (value as Record<string, unknown>)[each] !== "function",
  );
  if (missing.length === 0) return;
  const problem = isThenable(value)
    ? "is a promise; await it first"
    : typeof value === "function"
      ? "is a function; call it, and pass its result"
      : `has no function ${missing.join(", ")}`;
  throw new TypeError(`${name} ${problem}. ${advice}`);
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
