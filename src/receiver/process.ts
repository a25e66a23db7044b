import { inTime, isThenable } from "./deadline";
import type { Claim, DedupeStore } from "./dedupe/store";
import type { TrackedDelivery } from "./delivery";
import type { Warn } from "./reports";
import { type Processed, run } from "./run";
import { type StandardSchema, validData } from "./schema";
import type { Delivery, EventDelivery, Handler } from "./types";

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
  const { store, leaseMs, handlerTimeoutMs, warn } = processing;
  const work = workOn(delivery, processing);
  // Nothing to repeat, so a store need not remember it in place of one that was handled.
  if (work === undefined) return unhandled(delivery, processing);
  if (store === undefined) return run(work, delivery, { handlerTimeoutMs, warn, signal });

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
  const ended = await run(work, delivery, { handlerTimeoutMs, warn, signal, onLate: record });
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
