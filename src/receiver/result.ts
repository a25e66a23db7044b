import { isRecord } from "../shared/json";
import { isThenable } from "./deadline";

/**
 * Throws if what a handler or a queue's `add` returned shows that it has not run, not ended or failed: the delivery then counts as
 * failed, and is not acknowledged.
 * @param what which of them, for the message
 * @throws the error that it returned, or a TypeError
 */
export function checkResult(result: unknown, what: "handler" | "queue's add"): void {
  if (typeof result === "function")
    throw new TypeError(
      `The ${what} returned a function, and nothing was done. Call the function that makes the ${what}, and pass its result.`,
    );
  // An Observable of RxJS runs when somebody subscribes.
  const { subscribe, pipe }: Record<string, unknown> = Object(result);
  if (/^\[object (Async)?Generator\]$/.test(Object.prototype.toString.call(result)) || (subscribe && pipe))
    throw new TypeError(
      `The ${what} returned a generator or an Observable, and nothing was done. Use an async function.`,
    );
  // Its own, or one of `fetch`. By its tag: undici and node-fetch have classes of their own, and Hono's server replaces the global one.
  for (const each of Array.isArray(result) ? result : [result])
    if (Object.prototype.toString.call(each) === "[object Response]" && !each.ok)
      throw new TypeError(
        `The ${what} returned a Response with status ${each.status}. It fails by throwing, and otherwise returns nothing.`,
      );
  // In a list, or with a result in a list, as of the commands of a MULTI in Redis.
  const error = [result].flat(2).find((each) => each instanceof Error);
  if (error) throw error;
  const isRejected = (each: unknown) => isRecord(each) && each.status === "rejected" && "reason" in each;
  const rejected: PromiseRejectedResult | undefined = Array.isArray(result) && result.find(isRejected);
  if (rejected)
    throw new TypeError(`The ${what} returned what Promise.allSettled did, of which a part was rejected.`, {
      cause: rejected.reason,
    });
  if (Array.isArray(result) && result.some(isThenable)) {
    // Nobody else hears of their failures.
    void Promise.allSettled(result);
    throw new TypeError(`The ${what} returned a list of promises. Return Promise.all of it.`);
  }
}
