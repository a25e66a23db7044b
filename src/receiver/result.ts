import { isRecord } from "../shared/json";
import { isThenable } from "./deadline";

/** What clients of AWS set in what they resolve with, after a failure. */
const FAILURES = [
  "FunctionError",
  "Failed",
  "FailedEntryCount",
  "FailedRecordCount",
  "FailedPutCount",
  "UnprocessedItems",
];

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
  if (isRecord(result)) checkAnswer(result, what);
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

/** Checks what a client may have resolved with in place of rejecting. The row of a failed job may have an `error`, too. */
function checkAnswer(result: Readonly<Record<string, unknown>>, what: string): void {
  const { error, data, statusCode } = result;
  if (Number(statusCode) >= 400 && "headers" in result && "body" in result)
    throw new TypeError(
      `The ${what} returned a response with status ${statusCode}, as undici's request does.`,
    );
  // Supabase has no `data` then, and a Result has an Error.
  const isFailure = error instanceof Error || (error && "data" in result && (data ?? null) === null);
  const set = isFailure ? "error" : FAILURES.find((name) => isSet(result[name]));
  if (set !== undefined)
    throw new TypeError(
      `The ${what} returned an object whose "${set}" is set. It fails by throwing, and otherwise returns nothing.`,
      { cause: result[set] },
    );
}

function isSet(value: unknown): boolean {
  return typeof value === "object" ? Object.keys(value ?? {}).length > 0 : Boolean(value);
}
