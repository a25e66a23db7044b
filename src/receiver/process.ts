import { DeadlineError, isThenable, LATE, within } from "./deadline";
import type { Claim, DedupeStore } from "./dedupe/store";
import type { VerifiedDelivery } from "./delivery";
import { recordHandled, type StoreCall, settleInTime } from "./record";
import { checkResult } from "./result";
import { InvalidDataError, type StandardSchema, validData } from "./schema";
import type { Delivery, EventDelivery, Handler, OutcomeKind } from "./types";

export interface Processing {
  /** Undefined: nothing is deduped. */
  readonly store: DedupeStore | undefined;
  readonly handlers: ReadonlyMap<string, Handler<EventDelivery>>;
  /** The schemas of the declared events; `true` for an event without one. */
  readonly schemas: ReadonlyMap<string, StandardSchema | true>;
  /** Whether an event is one of the service or a declared one. */
  readonly isKnown: (event: string | undefined) => boolean;
  /** Handles every delivery that has no handler of its own. */
  readonly onUnhandled: Handler<Delivery> | undefined;
  readonly handlerTimeoutMs: number;
  /** Longer than the handler's deadline, so that a handler whose delivery another worker takes over was told to stop. */
  readonly leaseMs: number;
}

export interface Processed {
  readonly outcome: OutcomeKind;
  readonly retryAfterMs?: number;
  readonly error?: unknown;
}

export interface Task {
  /** What identifies the event to the dedupe store. */
  readonly key: string;
  /** Tells the handler to stop before its deadline. */
  readonly signal?: AbortSignal | undefined;
  /** Called if the dedupe store did not record the delivery as handled. */
  readonly onUnrecorded: (error: unknown) => void;
}

/**
 * How long a handled delivery is remembered, in seconds. Longer than it stays inside the longest tolerance, which is twice that; senders
 * may retry for days.
 */
export const KEEP_SECONDS = 3 * 24 * 60 * 60;

/** Takes the claim, calls the handler, and completes or releases the claim. Never rejects. */
export async function processDelivery(
  delivery: VerifiedDelivery,
  processing: Processing,
  { key, signal, onUnrecorded }: Task,
): Promise<Processed> {
  const { store, leaseMs, handlerTimeoutMs } = processing;
  const work = workOn(delivery, processing);
  // Nothing to repeat, so a store need not remember it in place of one that was handled.
  if (work === undefined) return UNHANDLED;
  const handle = (record?: () => Promise<void>) =>
    run(work, delivery, { timeoutMs: handlerTimeoutMs, signal, onLate: record });
  if (store === undefined) return named(await handle());

  // The sender was sent away, and a claim that comes late would turn its retries away for a whole lease.
  const giveBack = (late: Claim) => late.state === "claimed" && store.release(key, late.token);
  const leaseEnds = performance.now() + leaseMs;
  let claim: Claim;
  try {
    const claiming = settleInTime(() => store.claim(key, leaseMs), giveBack);
    claim = checkedClaim(await claiming);
  } catch (error) {
    return { outcome: "store-unavailable", error };
  }
  if (claim.state === "completed") return { outcome: "duplicate" };
  if (claim.state === "held") return { outcome: "held", retryAfterMs: claim.retryAfterMs };

  const { token } = claim;
  const complete: StoreCall = () => store.complete(key, token, KEEP_SECONDS * 1000);
  const record = () => recordHandled(complete, { leaseEnds, onGivenUp: onUnrecorded });
  const ended = named(await handle(record));
  // The handler may still be running, so its claim stays until the lease ends.
  if (ended.outcome === "timed-out") return { ...ended, retryAfterMs: leaseMs - handlerTimeoutMs };
  try {
    if (isFailure(ended)) await settleInTime(() => store.release(key, token));
    else await record();
  } catch (error) {
    // The answer stands: a handled delivery must not be sent again because the store failed.
    return { error, ...ended };
  }
  return ended;
}

const UNHANDLED: Processed = { outcome: "unhandled" };

/** Names the failure of a schema, which runs as a part of the handler, so within its deadline and its claim. */
function named(ended: Processed): Processed {
  const isInvalid = ended.outcome === "failed" && ended.error instanceof InvalidDataError;
  return isInvalid ? { ...ended, outcome: "invalid-data" } : ended;
}

function isFailure({ outcome }: Processed): boolean {
  return outcome === "failed" || outcome === "invalid-data";
}

/** Returns the call of the handler, or undefined if nobody handles this delivery. */
function workOn(
  delivery: VerifiedDelivery,
  { handlers, schemas, onUnhandled }: Processing,
): (() => unknown) | undefined {
  const { event } = delivery;
  const handler = event === undefined ? undefined : handlers.get(event);
  if (event === undefined || handler === undefined) return onUnhandled && (() => onUnhandled(delivery));
  const call = () => handler(delivery as EventDelivery);
  const schema = schemas.get(event);
  if (schema === undefined || schema === true) return call;
  const callWith = (data: unknown) => {
    delivery.data = data;
    return call();
  };
  const callInTime = (data: unknown) => {
    // The delivery is the sender's or the queue's again, so somebody else may be handling it.
    delivery.throwIfExpired();
    return callWith(data);
  };
  return () => {
    const data = validData(schema, event, delivery.data);
    return isThenable(data) ? Promise.resolve(data).then(callInTime) : callWith(data);
  };
}

const CLAIM_STATES: readonly unknown[] = ["claimed", "held", "completed"];

function checkedClaim(claim: Claim): Claim {
  if (CLAIM_STATES.includes(claim?.state)) return claim;
  throw new TypeError('The dedupe store\'s claim has none of the states "claimed", "held" and "completed".');
}

interface RunOptions {
  readonly timeoutMs: number;
  /** Tells the handler to stop before its deadline. */
  readonly signal?: AbortSignal | undefined;
  /** Called if the handler finishes after its deadline without having used its signal. */
  readonly onLate?: (() => Promise<void>) | undefined;
}

const HANDLED: Processed = { outcome: "handled" };

/** Calls a handler, and fires its delivery's signal at the deadline, or when it is told to stop. Never rejects. */
async function run(
  work: () => unknown,
  delivery: VerifiedDelivery,
  { timeoutMs, signal, onLate }: RunOptions,
): Promise<Processed> {
  // A claim may have taken so long that the handler would only start after it was told to stop.
  if (signal?.aborted) return { outcome: "failed", error: stopReason(signal) };
  const stop = () => delivery.expire(stopReason(signal));
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const started = work();
    const working = isThenable(started) ? Promise.resolve(started) : undefined;
    const result = working === undefined ? started : await within(timeoutMs, working);
    if (working === undefined || result !== LATE) {
      checkResult(result, "handler");
      // It may have resolved because it was told to stop, with its work half done.
      if (signal?.aborted && delivery.isWatched) return { outcome: "failed", error: stopReason(signal) };
      return HANDLED;
    }
    const error = new DeadlineError(timeoutMs);
    delivery.expire(error);
    const finish = (late: unknown) => {
      checkResult(late, "handler");
      // A handler that watches its signal may have resolved because it stopped; then the retry is handled again.
      return delivery.isWatched ? undefined : onLate?.();
    };
    working.then(finish).catch(() => {});
    return { outcome: "timed-out", error };
  } catch (error) {
    return { outcome: "failed", error };
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

function stopReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("The worker was told to stop.", { cause: reason });
}
