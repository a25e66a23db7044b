import { DeadlineError, isThenable, LATE, within } from "./deadline";
import type { TrackedDelivery } from "./delivery";
import type { Warn } from "./reports";
import { type StandardSchema, validData } from "./schema";
import type { Delivery, EventDelivery, Handler, OutcomeKind } from "./types";

/** How deliveries are handled. */
export interface Handling {
  readonly handlers: ReadonlyMap<string, Handler<EventDelivery>>;
  /** The schemas of the declared events; `true` for an event without one. */
  readonly schemas: ReadonlyMap<string, StandardSchema | true>;
  /** Handles every delivery that has no handler of its own. */
  readonly onUnhandled: Handler<Delivery> | undefined;
  readonly handlerTimeoutMs: number;
  readonly warn: Warn;
}

/** What became of a delivery. */
export interface Processed {
  readonly outcome: OutcomeKind;
  readonly retryAfterMs?: number;
  readonly error?: unknown;
}

/** Returns the call of the handler, or undefined if nobody handles this delivery. */
export function workOn(
  tracked: TrackedDelivery,
  { handlers, schemas, onUnhandled }: Handling,
): (() => unknown) | undefined {
  const { delivery } = tracked;
  const { event } = delivery;
  const handler = event === undefined ? undefined : handlers.get(event);
  if (event === undefined || handler === undefined) return onUnhandled && (() => onUnhandled(delivery));
  const schema = schemas.get(event);
  const callWith = (data: unknown) => {
    // While a schema was asked, the delivery may have become the sender's or the queue's again.
    if (tracked.expired !== undefined) throw tracked.expired;
    delivery.data = data;
    return handler(delivery as EventDelivery);
  };
  if (schema === undefined || schema === true) return () => callWith(delivery.data);
  return () => validData(schema, event, delivery.data).then(callWith);
}

interface RunOptions extends Pick<Handling, "handlerTimeoutMs" | "warn"> {
  /** Tells the handler to stop before its deadline. */
  readonly signal?: AbortSignal | undefined;
  /** Called if the handler finishes after its deadline without having looked at its signal. */
  readonly onLate?: () => Promise<void>;
}

/** Calls a handler, and fires its delivery's signal at the deadline, or when it is told to stop. Never rejects. */
export async function run(
  work: () => unknown,
  tracked: TrackedDelivery,
  { handlerTimeoutMs, signal, onLate, warn }: RunOptions,
): Promise<Processed> {
  // A claim may have taken so long that the handler would only start after it was told to stop.
  if (signal?.aborted) return { outcome: "failed", error: signal.reason };
  const stop = () => tracked.expire(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const started = work();
    const working = isThenable(started) ? Promise.resolve(started) : started;
    const result = isThenable(working) ? await within(handlerTimeoutMs, working) : working;
    if (result !== LATE) {
      checkResult(result, "a handler", warn);
      // It may have resolved because it was told to stop, with its work half done.
      const isStopped = signal?.aborted && tracked.isWatched;
      return isStopped ? { outcome: "failed", error: signal.reason } : { outcome: "handled" };
    }
    const error = new DeadlineError(handlerTimeoutMs);
    tracked.expire(error);
    const finish = (late: unknown) => {
      checkResult(late, "a handler", warn);
      // A handler that watches its signal may have resolved because it stopped; then the retry is handled again.
      return tracked.isWatched ? undefined : onLate?.();
    };
    Promise.resolve(working)
      .then(finish)
      .catch(() => {});
    return { outcome: "timed-out", error };
  } catch (error) {
    return { outcome: "failed", error };
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/**
 * Checks what a handler, or a queue's `add`, resolved with. Only a `Response` with `ok: false` is a failure: `fetch` resolves with one.
 * Warns of an object that runs only when it is told to, such as an Observable or a query.
 * @param what which of them, for the message
 * @throws TypeError
 */
export function checkResult(result: unknown, what: "a handler" | "the queue's add", warn: Warn): void {
  if (typeof result !== "object" || result === null) return;
  const object = result as Readonly<Record<string, unknown>>;
  // By its tag: undici and node-fetch have classes of their own, and Hono's server replaces the global one.
  if (Object.prototype.toString.call(result) === "[object Response]" && object.ok === false)
    throw new TypeError(
      `What ${what} returned is a Response with status ${object.status}, so it counts as failed.`,
    );
  const runs = ["subscribe", "execute"].find((name) => typeof object[name] === "function");
  if (runs !== undefined)
    warn(
      `What ${what} returned has a function ${runs}, so it may never have run, and the delivery counts as done. ` +
        "Await its end: return lastValueFrom(observable), or what execute() returns.",
    );
}
