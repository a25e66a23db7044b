import type { Claim, DedupeStore } from "./dedupe/store";
import type { TrackedDelivery } from "./delivery";
import { DeadlineError, inTime, isThenable } from "./limits";
import type { Warn } from "./reports";
import { type StandardSchema, validData } from "./schema";
import type { Delivery, EventDelivery, Handler, OutcomeKind } from "./types";

/** How deliveries are handled and deduped. */
export interface Processing {
  /** Undefined: nothing is deduped. */
  readonly store: DedupeStore | undefined;
  readonly handlers: ReadonlyMap<string, Handler<EventDelivery>>;
  /** The schemas of the declared events; `true` for an event without one. */
  readonly schemas: ReadonlyMap<string, StandardSchema | true>;
  /** Handles every delivery that has no handler of its own. */
  readonly onUnhandled: Handler<Delivery> | undefined;
  readonly handlerTimeoutMs: number;
  /** Longer than the handler's deadline, so that a handler whose delivery another worker takes over was told to stop. */
  readonly leaseMs: number;
  readonly warn: Warn;
}

export interface Task {
  /** What identifies the event to the dedupe store. */
  readonly key: string;
  /** Tells the handler to stop before its deadline. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of a delivery. */
export interface Processed {
  readonly outcome: OutcomeKind;
  readonly retryAfterMs?: number;
  readonly error?: unknown;
}

/**
 * How long a handled delivery is remembered, in seconds. Longer than it stays inside the longest tolerance, which is twice that; senders
 * may retry for days.
 */
export const KEEP_SECONDS = 3 * 24 * 60 * 60;
/** A store that neither answers nor fails, such as a client that queues while it is disconnected, counts as unreachable. */
const STORE_TIMEOUT_MS = 5_000;
/** Between two attempts to record a handled delivery. */
const RETRY_PAUSE_MS = 250;

/** Takes the claim, calls the handler, and completes or releases the claim. Never rejects because of a handler or a store. */
export async function processDelivery(
  delivery: TrackedDelivery,
  processing: Processing,
  { key, signal }: Task,
): Promise<Processed> {
  const { store, leaseMs, handlerTimeoutMs } = processing;
  const work = workOn(delivery, processing);
  // Nothing to repeat, so a store need not remember it in place of one that was handled.
  if (work === undefined) return unhandled(delivery, processing);
  if (store === undefined) return run(work, delivery, processing, { signal });

  const leaseEnds = performance.now() + leaseMs;
  let claim: Claim;
  try {
    claim = await answerOf(store.claim(key, leaseMs));
  } catch (error) {
    return { outcome: "store-unavailable", error };
  }
  if (claim.state === "completed") return { outcome: "duplicate" };
  if (claim.state !== "claimed") return { outcome: "held", retryAfterMs: claim.retryAfterMs };

  const { token } = claim;
  const record = () => recordHandled(() => store.complete(key, token, KEEP_SECONDS * 1000), leaseEnds);
  const ended = await run(work, delivery, processing, { signal, onLate: record });
  // The handler may still be running, so its claim stays until the lease ends.
  if (ended.outcome === "timed-out") return { ...ended, retryAfterMs: leaseMs - handlerTimeoutMs };
  try {
    if (ended.outcome === "handled") await record();
    else await answerOf(store.release(key, token));
  } catch (error) {
    // The answer stands: a handled delivery must not be sent again because the store failed.
    return { error, ...ended };
  }
  return ended;
}

/** Returns the call of the handler, or undefined if nobody handles this delivery. */
function workOn(
  delivery: TrackedDelivery,
  { handlers, schemas, onUnhandled }: Processing,
): (() => unknown) | undefined {
  const { event = "" } = delivery;
  const handler = handlers.get(event);
  if (handler === undefined) return onUnhandled && (() => onUnhandled(delivery));
  const schema = schemas.get(event);
  if (schema === undefined || schema === true) return () => handler(delivery as EventDelivery);
  return async () => {
    delivery.data = await validData(schema, event, delivery.data);
    // While the schema was asked, the delivery may have become the sender's or the queue's again.
    delivery.throwIfExpired();
    return handler(delivery as EventDelivery);
  };
}

function unhandled({ event }: Delivery, { warn }: Processing): Processed {
  const what = event === undefined ? "that names no event" : `of the event "${event.slice(0, 80)}"`;
  warn(
    `A verified delivery ${what} was acknowledged, but nobody handles it. Give it a handler, or handle it in onUnhandled. ` +
      "You see this for the first one only.",
    "unhandled",
  );
  return { outcome: "unhandled" };
}

interface RunOptions extends Pick<Task, "signal"> {
  /** Called if the handler finishes after its deadline without having looked at its signal. */
  readonly onLate?: () => Promise<void>;
}

/** Calls a handler, and fires its delivery's signal at the deadline, or when it is told to stop. Never rejects. */
async function run(
  work: () => unknown,
  delivery: TrackedDelivery,
  { handlerTimeoutMs, warn }: Processing,
  { signal, onLate }: RunOptions,
): Promise<Processed> {
  // A claim may have taken so long that the handler would only start after it was told to stop.
  if (signal?.aborted) return { outcome: "failed", error: signal.reason };
  const stop = () => delivery.expire(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  const working = finished(work, warn);
  try {
    await inTime(() => new DeadlineError(handlerTimeoutMs), handlerTimeoutMs, working);
    // It may have resolved because it was told to stop, with its work half done.
    if (signal?.aborted && delivery.isWatched()) return { outcome: "failed", error: signal.reason };
    return { outcome: "handled" };
  } catch (error) {
    if (!(error instanceof DeadlineError)) return { outcome: "failed", error };
    delivery.expire(error);
    // A handler that watches its signal may have resolved because it stopped; then the retry is handled again.
    const finish = () => (delivery.isWatched() ? undefined : onLate?.());
    working.then(finish).catch(() => {});
    return { outcome: "timed-out", error };
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

async function finished(work: () => unknown, warn: Warn): Promise<void> {
  checkResult(await work(), "a handler", warn);
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

/** A store in memory answers at once. */
function answerOf<T>(answer: T | PromiseLike<T>): T | Promise<T> {
  return isThenable(answer) ? inTime("The dedupe store", STORE_TIMEOUT_MS, answer) : answer;
}

/**
 * Records a delivery as handled. If the store fails, rejects at once, so that the answer does not wait, and tries again in the background
 * while the lease lasts: a delivery that is not recorded is handled again when its sender retries.
 */
async function recordHandled(complete: () => boolean | Promise<boolean>, leaseEnds: number): Promise<void> {
  let isRecorded: boolean;
  try {
    isRecorded = await answerOf(complete());
  } catch (error) {
    const again = () => recordHandled(complete, leaseEnds).catch(() => {});
    // Not a reason to keep the process running.
    if (performance.now() + RETRY_PAUSE_MS < leaseEnds) setTimeout(again, RETRY_PAUSE_MS).unref();
    throw error;
  }
  if (!isRecorded)
    throw new Error(
      "The dedupe store did not record the delivery as handled: its lease ended and another worker took it over, or the store is full. " +
        "If handlers take that long, raise leaseMs.",
    );
}
