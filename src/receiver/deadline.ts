import { CodedError } from "../error";

/** A handler did not settle in time. It is the reason of its delivery's `signal`. */
export class DeadlineError extends CodedError<"HANDLER_DEADLINE"> {
  override readonly name = "DeadlineError";

  constructor(milliseconds: number) {
    super("HANDLER_DEADLINE", `The handler took longer than ${milliseconds} ms.`);
  }
}

export const LATE = Symbol("took too long");

/** Settles as the work does, or resolves with `LATE` if it takes longer. The work goes on: watch it for what happens later. */
// Not Promise.race, which costs several promises more for each delivery.
export function within<T>(milliseconds: number, work: Promise<T>): Promise<T | typeof LATE> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds, LATE);
    const stop = <V>(settle: (value: V) => void) => {
      return (value: V) => {
        clearTimeout(timer);
        settle(value);
      };
    };
    work.then(stop(resolve), stop(reject));
  });
}

/**
 * Whether a value can be awaited. Use it through `Promise.resolve`, once: a query builder's `then` starts its query each time, and
 * may return nothing.
 */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  const canHaveThen = (typeof value === "object" && value !== null) || typeof value === "function";
  return canHaveThen && typeof (value as { then?: unknown }).then === "function";
}
