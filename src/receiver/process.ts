import { CodedError } from "../shared/codedError";
import { isThenable, LATE, within } from "./deadline";
import type { Claim, DedupeStore } from "./dedupe/store";
import type { TrackedDelivery } from "./delivery";
import { type Handling, type Processed, run, workOn } from "./run";

/** How deliveries are handled and deduped. */
export interface Processing extends Handling {
  /** Undefined: nothing is deduped. */
  readonly store: DedupeStore | undefined;
  /** Longer than the handler's deadline, so that a handler whose delivery another worker takes over was told to stop. */
  readonly leaseMs: number;
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

/** Takes the claim, calls the handler, and completes or releases the claim. Never rejects. */
export async function processDelivery(
  tracked: TrackedDelivery,
  processing: Processing,
  { key, signal }: Task,
): Promise<Processed> {
  const { store, leaseMs, handlerTimeoutMs } = processing;
  const work = workOn(tracked, processing);
  // Nothing to repeat, so a store need not remember it in place of one that was handled.
  if (work === undefined) return unhandled(tracked, processing);
  if (store === undefined) return run(work, tracked, { ...processing, signal });

  const leaseEnds = performance.now() + leaseMs;
  let claim: Claim;
  try {
    claim = checkedClaim(await inTime(() => store.claim(key, leaseMs)));
  } catch (error) {
    return { outcome: "store-unavailable", error };
  }
  if (claim.state === "completed") return { outcome: "duplicate" };
  if (claim.state === "held") return { outcome: "held", retryAfterMs: claim.retryAfterMs };

  const { token } = claim;
  const record = () => recordHandled(() => store.complete(key, token, KEEP_SECONDS * 1000), leaseEnds);
  const ended = await run(work, tracked, { ...processing, signal, onLate: record });
  // The handler may still be running, so its claim stays until the lease ends.
  if (ended.outcome === "timed-out") return { ...ended, retryAfterMs: leaseMs - handlerTimeoutMs };
  try {
    if (ended.outcome === "handled") await record();
    else await inTime(() => store.release(key, token));
  } catch (error) {
    // The answer stands: a handled delivery must not be sent again because the store failed.
    return { error, ...ended };
  }
  return ended;
}

function unhandled({ delivery: { event } }: TrackedDelivery, { warn }: Processing): Processed {
  const what =
    event === undefined ? "that names no event" : `of the event ${JSON.stringify(event.slice(0, 80))}`;
  warn(
    `A verified delivery ${what} was acknowledged, but nobody handles it. Give it a handler, or handle it in onUnhandled. ` +
      "You see this for the first one only.",
    "unhandled",
  );
  return { outcome: "unhandled" };
}

/** The dedupe store did not record a handled delivery, because it no longer holds this worker's claim. */
class NotRecordedError extends CodedError<"DELIVERY_NOT_RECORDED"> {
  override readonly name = "NotRecordedError";

  constructor() {
    super(
      "DELIVERY_NOT_RECORDED",
      "The dedupe store did not record the delivery as handled: its lease ended and another worker took it over, or the store is full. " +
        "If handlers take that long, raise leaseMs.",
    );
  }
}

type StoreCall<T> = () => T | PromiseLike<T>;

/** Calls a dedupe store. Fails if the store fails or takes longer than five seconds. */
function inTime<T>(call: StoreCall<T>): T | Promise<T> {
  const answer = call();
  return isThenable(answer) ? answerInTime(Promise.resolve(answer)) : answer;
}

async function answerInTime<T>(answering: Promise<T>): Promise<T> {
  const answer = await within(STORE_TIMEOUT_MS, answering);
  if (answer === LATE) throw new Error(`The dedupe store did not answer within ${STORE_TIMEOUT_MS} ms.`);
  return answer;
}

/**
 * Records a delivery as handled. A store that refuses, because another worker has taken over, is not asked again. If the store fails,
 * rejects at once, so that the answer does not wait, and tries again in the background while the lease lasts: a delivery that is not
 * recorded is handled again when its sender retries.
 */
async function recordHandled(complete: StoreCall<boolean>, leaseEnds: number): Promise<void> {
  let isRecorded: boolean;
  try {
    isRecorded = await inTime(complete);
  } catch (error) {
    void recordLater(complete, leaseEnds);
    throw error;
  }
  if (!isRecorded) throw new NotRecordedError();
}

async function recordLater(complete: StoreCall<boolean>, leaseEnds: number): Promise<void> {
  while (performance.now() + RETRY_PAUSE_MS < leaseEnds) {
    // Not a reason to keep the process running.
    await new Promise((wake) => setTimeout(wake, RETRY_PAUSE_MS).unref());
    try {
      await inTime(complete);
      return;
    } catch {
      // Again, while the lease lasts.
    }
  }
}

const CLAIM_STATES: readonly unknown[] = ["claimed", "held", "completed"];

function checkedClaim(claim: Claim): Claim {
  if (CLAIM_STATES.includes(claim?.state)) return claim;
  throw new TypeError('The dedupe store\'s claim has none of the states "claimed", "held" and "completed".');
}
