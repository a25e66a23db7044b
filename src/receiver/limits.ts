import { CodedError } from "../shared/codedError";

/** A handler did not settle in time. It is the reason of its delivery's `signal`. */
export class DeadlineError extends CodedError<"HANDLER_DEADLINE"> {
  override readonly name = "DeadlineError";

  constructor(milliseconds: number) {
    super(
      "HANDLER_DEADLINE",
      `The handler took longer than ${milliseconds} ms. Hand long work to a queue, or raise handlerTimeoutMs.`,
    );
  }
}

/** The longest delay of `setTimeout`. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Settles as the work does, or rejects if it takes longer. The work goes on.
 * @param what what takes long, such as "The dedupe store"
 */
// Not Promise.race, which costs several promises more for each delivery.
export function inTime<T>(what: string, milliseconds: number, work: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopTimer = startTimer(milliseconds, () =>
      reject(new Error(`${what} took longer than ${milliseconds} ms.`)),
    );
    void Promise.resolve(work).then(resolve, reject).then(stopTimer);
  });
}

/**
 * Calls back later, and returns how to prevent it. Most of what is timed here ends in the same turn of the event loop: then an
 * immediate is all that it costs, a third of a timer.
 */
export function startTimer(milliseconds: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  setImmediate(() => {
    if (!isStopped) timer = setTimeout(callback, milliseconds);
  });
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Whether a value can be awaited. Await it once: a query builder's `then` starts its query each time. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  const canHaveThen = (typeof value === "object" && value !== null) || typeof value === "function";
  return canHaveThen && typeof (value as { then?: unknown }).then === "function";
}

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
