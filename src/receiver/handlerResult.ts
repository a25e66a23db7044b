import { type Log, ONCE } from "./log";
import { isThenable } from "./waiting";

/** Methods of what only runs when it is told to: Observables, queries, statements, pipelines, requests, effects. */
const LAZY = ["subscribe", "execute", "exec", "run", "promise", "pipe"] as const;

/**
 * Checks what a handler, or a queue's `add`, resolved with. Three results are failures: a `Response` with `ok: false`, which `fetch` resolves
 * with, and a function and a generator, which have not run. Logs once what may not have run.
 * @param what which of them, for the message
 * @throws TypeError
 */
export function checkResult(result: unknown, what: "a handler" | "the queue's add", log: Log): void {
  const failed = (problem: string) =>
    new TypeError(`What ${what} returned is ${problem}, so it counts as failed.`);
  if (typeof result === "function") throw failed("a function, which nobody has called");
  if (typeof result !== "object" || result === null) return;
  const object = result as Readonly<Record<string, unknown>>;
  // By their tags: undici and node-fetch have classes of their own, and Hono's server replaces the global one.
  const tag = Object.prototype.toString.call(result).slice("[object ".length, -1);
  if (tag === "Response" && object.ok === false) throw failed(`a Response with status ${object.status}`);
  if (tag === "Generator" || tag === "AsyncGenerator") throw failed("a generator, which has not run");
  // What emits events has begun by itself, and libraries resolve with it: got, superagent.
  const runs = LAZY.find(
    (name) => typeof object[name] === "function" && (name !== "pipe" || !("on" in object)),
  );
  const isList = Array.isArray(result) && result.some(isThenable);
  if (runs === undefined && !isList) return;
  log(
    `lazy ${runs}`,
    `What ${what} returned ${isList ? "is a list of promises" : `has a function ${runs}`}, so it may not have run, ` +
      "and the delivery counts as done. Return what runs it: Promise.all(list), lastValueFrom(observable), query.execute().",
    ONCE,
  );
}
