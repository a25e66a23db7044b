import { DeadlineError, isThenable, LATE, within } from "./deadline";
import type { Claim, DedupeStore } from "./dedupe/store";
import type { VerifiedDelivery } from "./delivery";
import { isJobDelivery } from "./event";
import { checkRan } from "./handlers";
import { recordHandled, type StoreCall, settleInTime } from "./record";
import type { Delivery, Handler, JobDelivery, KeyedDelivery, OutcomeKind } from "./types";

export interface Processing {
  readonly store: DedupeStore;
  readonly dedupeKey: ((delivery: KeyedDelivery) => string) | undefined;
  readonly handlers: ReadonlyMap<string, Handler<JobDelivery>>;
  /** Handles every delivery that has no handler of its own. */
  readonly onUnhandled: Handler<Delivery> | undefined;
  readonly handlerTimeoutMs: number;
  /** Longer than the handler's deadline, so that a handler whose delivery another worker takes over was told to stop. */
  readonly leaseMs: number;
  readonly keepMs: number;
}

export interface Processed {
  readonly outcome: OutcomeKind;
  readonly retryAfterMs?: number;
  readonly error?: unknown;
}

/**
 * Takes the claim, calls the handler, and completes or releases the claim. Never rejects.
 * @param onUnrecorded called if the dedupe store could not record the delivery as handled before its lease ended
 */
export async function processDelivery(
  delivery: VerifiedDelivery,
  processing: Processing,
  onUnrecorded: (error: unknown) => void,
): Promise<Processed> {
  const { store, leaseMs, handlerTimeoutMs, keepMs } = processing;
  let key: string;
  try {
    key = keyOf(delivery, processing.dedupeKey);
  } catch (error) {
    return { outcome: "failed", error };
  }
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
  const complete: StoreCall = () => store.complete(key, token, keepMs);
  const record = () => recordHandled(complete, { leaseEnds, onGivenUp: onUnrecorded });
  const work = workOn(delivery, processing);
  const ended = work === undefined ? UNHANDLED : await run(work, delivery, handlerTimeoutMs, record);
  // The handler may still be running, so its claim stays until the lease ends.
  if (ended.outcome === "timed-out") return { ...ended, retryAfterMs: leaseMs - handlerTimeoutMs };
  try {
    if (ended.outcome === "failed") await settleInTime(() => store.release(key, token));
    else await record();
  } catch (error) {
    // The answer stands: a handled delivery must not be sent again because the store failed.
    return { error, ...ended };
  }
  return ended;
}

const UNHANDLED: Processed = { outcome: "unhandled" };
const HANDLED: Processed = { outcome: "handled" };

/** Returns the call of the handler, or undefined if nobody handles this delivery. */
function workOn(delivery: Delivery, { handlers, onUnhandled }: Processing): (() => unknown) | undefined {
  const handler = isJobDelivery(delivery) ? handlers.get(delivery.event) : undefined;
  if (handler !== undefined) return () => handler(delivery as JobDelivery);
  return onUnhandled && (() => onUnhandled(delivery));
}

function keyOf(delivery: Delivery, dedupeKey: Processing["dedupeKey"]): string {
  if (!dedupeKey || !isKeyed(delivery)) return delivery.id;
  const key: unknown = dedupeKey(delivery);
  if (typeof key === "string" && key !== "") return key;
  throw new TypeError(
    "dedupeKey must return a non-empty string. Return delivery.id if there is no better key.",
  );
}

function isKeyed(delivery: Delivery): delivery is KeyedDelivery {
  return isJobDelivery(delivery) && delivery.jobId !== undefined;
}

const CLAIM_STATES: readonly unknown[] = ["claimed", "held", "completed"];

function checkedClaim(claim: Claim): Claim {
  if (CLAIM_STATES.includes(claim?.state)) return claim;
  throw new TypeError('The dedupe store\'s claim has none of the states "claimed", "held" and "completed".');
}

/** @param onLate called if the handler finishes after its deadline without having watched its signal */
async function run(
  work: () => unknown,
  delivery: VerifiedDelivery,
  timeoutMs: number,
  onLate: () => Promise<void>,
): Promise<Processed> {
  try {
    const started = work();
    const working = isThenable(started) ? Promise.resolve(started) : undefined;
    const result = working === undefined ? started : await within(timeoutMs, working);
    if (working === undefined || result !== LATE) {
      checkRan(result);
      return HANDLED;
    }
    const error = new DeadlineError(timeoutMs);
    delivery.expire(error);
    const finish = (late: unknown) => {
      checkRan(late);
      // A handler that watches its signal may have resolved because it stopped; then the retry is handled again.
      return delivery.isWatched ? undefined : onLate();
    };
    working.then(finish).catch(() => {});
    return { outcome: "timed-out", error };
  } catch (error) {
    return { outcome: "failed", error };
  }
}
