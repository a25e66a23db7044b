import { isRecord } from "../shared/json";
import { isThenable } from "./deadline";

/**
 * Throws if a handler's result shows that the handler has not run, not ended or failed: the delivery then counts as failed, and is not
 * acknowledged.
 * @throws the error that it returned, or a TypeError
 */
export function checkResult(result: unknown): void {
  if (typeof result === "function")
    throw new TypeError(
      "The handler returned a function, and nothing was handled. Call the function that makes the handler, and pass its result.",
    );
  // An Observable of RxJS runs when somebody subscribes.
  const { subscribe, pipe }: Record<string, unknown> = Object(result);
  if (/^\[object (Async)?Generator\]$/.test(Object.prototype.toString.call(result)) || (subscribe && pipe))
    throw new TypeError(
      "The handler returned a generator or an Observable, and nothing was handled. Use an async function.",
    );
  // Its own, or one of `fetch`. By its tag: undici and node-fetch have classes of their own, and Hono's server replaces the global one.
  for (const each of Array.isArray(result) ? result : [result])
    if (Object.prototype.toString.call(each) === "[object Response]" && !each.ok)
      throw new TypeError(
        `The handler returned a Response with status ${each.status}. A handler fails by throwing, and otherwise returns nothing.`,
      );
  if (result instanceof Error) throw result;
  const isRejected = (each: unknown) => isRecord(each) && each.status === "rejected" && "reason" in each;
  const rejected: PromiseRejectedResult | undefined = Array.isArray(result) && result.find(isRejected);
  if (rejected)
    throw new TypeError("The handler returned what Promise.allSettled did, of which a part was rejected.", {
      cause: rejected.reason,
    });
  if (Array.isArray(result) && result.some(isThenable)) {
    // Nobody else hears of their failures.
    void Promise.allSettled(result);
    throw new TypeError("The handler returned a list of promises. Return Promise.all of it.");
  }
}
