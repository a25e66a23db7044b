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
  const results = Array.isArray(result) ? result : [result];
  for (const each of results) {
    const [kind, advice] = unfinished(each) ?? [];
    if (kind !== undefined)
      throw new TypeError(
        `The ${what} returned ${kind}, and nothing shows that it has done its work. ${advice}`,
      );
  }
  // Its own, or one of `fetch`. By its tag: undici and node-fetch have classes of their own, and Hono's server replaces the global one.
  for (const each of results)
    if (Object.prototype.toString.call(each) === "[object Response]" && !each.ok)
      throw new TypeError(
        `The ${what} returned a Response with status ${each.status}. It fails by throwing, and otherwise returns nothing.`,
      );
  if (isRecord(result)) checkAnswer(result, what);
  // In a list, or with a result in a list, as of the commands of a MULTI in Redis.
  const error = [result].flat(2).find((each) => each instanceof Error);
  if (error) throw error;
  const isRejected = (each: unknown) =>
    isRecord(each) && each.status === "rejected" && Object.keys(each).join() === "status,reason";
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

/** Returns what an object is whose work has not begun, or which nothing waits for, and what to do. */
function unfinished(result: unknown): readonly [kind: string, advice: string] | undefined {
  if (typeof result === "function") return ["a function", "Call it, and return its result."];
  if (/^\[object (Async)?Generator\]$/.test(Object.prototype.toString.call(result)))
    return ["a generator", "Use an async function."];
  const members = Object(result);
  const has = (...names: string[]) => names.every((name) => typeof members[name] === "function");
  // One of RxJS runs when somebody subscribes.
  if (has("subscribe", "pipe")) return ["an Observable", "Return lastValueFrom(observable)."];
  if ("~effect/Effect" in members || Symbol.for("effect/Effect") in members)
    return ["an Effect", "Return Effect.runPromise(effect)."];
  // Kysely and TypeORM; a pipeline or a MULTI of ioredis, and of node-redis.
  if (has("execute") || has("exec", "addBatch") || has("exec", "execAsPipeline"))
    return ["a query that was not executed", "Return what its execute() or exec() does."];
  if (has("promise", "send")) return ["a request of aws-sdk 2 that was not sent", "Return its promise()."];
  // A ClientRequest; responses of clients have ended, although they are streams, too.
  if ((has("on", "kill") && members.exitCode === null) || has("on", "setHeader", "abort"))
    return ["a process or a request that has not ended", "Return a promise of its end."];
  return undefined;
}

/** Checks what a client may have resolved with in place of rejecting. The row of a failed job may have an `error`, too. */
function checkAnswer(result: Readonly<Record<string, unknown>>, what: string): void {
  const { error, data, statusCode } = result;
  if (Number(statusCode) >= 400 && "headers" in result && "body" in result)
    throw new TypeError(
      `The ${what} returned a response with status ${statusCode}, as undici's request does.`,
    );
  // Supabase has no `data` then, and a Result has an Error. A row's `error` is a text.
  const isFailure =
    error instanceof Error || (isRecord(error) && "data" in result && (data ?? null) === null);
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
