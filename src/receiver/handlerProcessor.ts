import { CodedError } from "../shared/codedError";
import { foreign } from "../shared/escape";
import type { Claim } from "./dedupe/store";
import type { TrackedDelivery, Work } from "./delivery";
import { checkResult } from "./handlerResult";
import { workFinder } from "./handlers";
import { type Log, ONCE } from "./log";
import { checkedTimeout, checkNumber, requireMethods } from "./optionChecks";
import type { Handling } from "./options";
import type { OutcomeKind } from "./types";
import { inTime, isThenable, startTimer } from "./waiting";

/** What became of a delivery. */
export interface ProcessingResult {
  readonly outcome: OutcomeKind;
  readonly retryAfterMs?: number;
  readonly error?: unknown;
}

/**
 * How long a handled delivery is remembered, in seconds. Longer than it stays inside the longest tolerance, which is twice that; senders
 * may retry for days.
 */
export const KEEP_SECONDS = 3 * 24 * 60 * 60;
/** A store that neither responds nor fails, such as a client that queues while it is disconnected, counts as unreachable. */
const STORE_TIMEOUT_MS = 5_000;
/** The store may take five seconds for the claim, and as long to complete it. */
const STORE_MARGIN_MS = 2 * STORE_TIMEOUT_MS;
/** Between two attempts to record a handled delivery. */
const RETRY_PAUSE_MS = 250;

/** Handles a delivery, or hands it to a queue. Never rejects. A signal tells the handler to stop before its deadline. */
export type DeliveryProcessor = (
  delivery: TrackedDelivery,
  key: string,
  signal?: AbortSignal,
) => Promise<ProcessingResult>;

/** A handler did not settle in time. It is the reason of its delivery's `signal`. */
class DeadlineError extends CodedError<"HANDLER_DEADLINE"> {
  override readonly name = "DeadlineError";

  constructor(milliseconds: number) {
    super(
      "HANDLER_DEADLINE",
      `The handler took longer than ${milliseconds} ms. Hand long work to a queue, or raise handlerTimeoutMs.`,
    );
  }
}

/**
 * Returns a function that claims a delivery, calls the handler, and completes or releases the claim.
 * @throws RangeError for a number out of its range, TypeError for any other option that is unknown or invalid
 */
export function handlerProcessor<Events extends object>(
  { dedupe: store, handlerTimeoutMs, leaseMs, ...handling }: Handling<Events>,
  log: Log,
): DeliveryProcessor {
  const timeoutMs = checkedTimeout(handlerTimeoutMs);
  // Longer than the deadline, so that a handler whose delivery another worker takes over was told to stop.
  const lease = leaseMs ?? timeoutMs + STORE_MARGIN_MS;
  checkNumber("leaseMs, which must be longer than handlerTimeoutMs,", lease, {
    least: timeoutMs + 1,
  });
  if (store !== undefined)
    requireMethods(
      store,
      ["claim", "complete", "release"],
      "dedupe must be a store with claim, complete and release, such as memoryDedupe() or redisDedupe({ client }).",
    );
  const workOf = workFinder(handling);

  /** Calls a handler. Never rejects. */
  async function call(
    work: Work,
    delivery: TrackedDelivery,
    signal?: AbortSignal,
  ): Promise<ProcessingResult> {
    try {
      // A claim may have taken so long that the handler would only start after it was told to stop.
      signal?.throwIfAborted();
      checkResult(await work(delivery), "a handler", log);
      // It may have resolved because it was told to stop, with its work half done.
      if (delivery.isWatched()) signal?.throwIfAborted();
      return { outcome: "handled" };
    } catch (error) {
      return { outcome: "failed", error };
    }
  }

  /** The same, and fires the delivery's signal at the deadline, or when it is told to stop. */
  function run(
    work: Work,
    delivery: TrackedDelivery,
    signal: AbortSignal | undefined,
    onLate?: () => Promise<void>,
  ): Promise<ProcessingResult> {
    const stop = () => delivery.expire(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    const working = call(work, delivery, signal);
    return new Promise((resolve) => {
      function end(result: ProcessingResult): void {
        stopTimer();
        signal?.removeEventListener("abort", stop);
        resolve(result);
      }
      const stopTimer = startTimer(timeoutMs, () => {
        const error = new DeadlineError(timeoutMs);
        delivery.expire(error);
        end({ outcome: "timed-out", error });
        // A handler that watches its signal may have resolved because it stopped; then the retry is handled again.
        const isDone = ({ outcome }: ProcessingResult) => outcome === "handled" && !delivery.isWatched();
        working.then((result) => (isDone(result) ? onLate?.() : undefined)).catch(() => {});
      });
      void working.then(end);
    });
  }

  return async (delivery, key, signal) => {
    const { event } = delivery;
    const work = workOf(event);
    // Nothing to repeat, so a store need not remember it in place of one that was handled.
    if (work === undefined) return unhandled(event, log);
    if (store === undefined) return run(work, delivery, signal);

    const leaseEnds = performance.now() + lease;
    let claim: Claim;
    let claiming: Promise<Claim> | undefined;
    try {
      const asked = store.claim(key, lease);
      if (isThenable(asked)) claiming = Promise.resolve(asked);
      claim = await inStoreTime(claiming ?? (asked as Claim));
    } catch (error) {
      // A client that waits for its connection sends the claim when nobody waits for it any more. It would hold the delivery for its lease.
      claiming
        ?.then((late) => (late.state === "claimed" ? store.release(key, late.token) : undefined))
        .catch(() => {});
      return { outcome: "store-unavailable", error };
    }
    if (claim.state === "completed") return { outcome: "duplicate" };
    if (claim.state !== "claimed") return { outcome: "held", retryAfterMs: claim.retryAfterMs };

    const { token } = claim;
    const record = () => recordHandled(() => store.complete(key, token, KEEP_SECONDS * 1000), leaseEnds);
    const ended = await run(work, delivery, signal, record);
    // The handler may still be running, so its claim stays until the lease ends.
    if (ended.outcome === "timed-out") return { ...ended, retryAfterMs: lease - timeoutMs };
    try {
      if (ended.outcome === "handled") await record();
      else await inStoreTime(store.release(key, token));
    } catch (error) {
      // The outcome stands: a handled delivery must not be sent again because the store failed.
      return { error, ...ended };
    }
    return ended;
  };
}

function unhandled(event: string | undefined, log: Log): ProcessingResult {
  const what = event === undefined ? "that names no event" : `of the event "${foreign(event)}"`;
  log(
    "unhandled",
    `A verified delivery ${what} was acknowledged, but nobody handles it. Give it a handler, or handle it in onUnhandled.`,
    ONCE,
  );
  return { outcome: "unhandled" };
}

/** Waits for a store. One in memory returns no promise. */
function inStoreTime<T>(result: T | PromiseLike<T>): T | Promise<T> {
  return isThenable(result) ? inTime("The dedupe store", STORE_TIMEOUT_MS, result) : result;
}

/**
 * Records a delivery as handled. If the store fails, rejects at once, so that the response does not wait, and tries again in the background
 * while the lease lasts: a delivery that is not recorded is handled again when its sender retries.
 */
async function recordHandled(complete: () => boolean | Promise<boolean>, leaseEnds: number): Promise<void> {
  let isRecorded: boolean;
  try {
    isRecorded = await inStoreTime(complete());
  } catch (error) {
    const again = () => recordHandled(complete, leaseEnds).catch(() => {});
    // Not a reason to keep the process running.
    if (performance.now() + RETRY_PAUSE_MS < leaseEnds) setTimeout(again, RETRY_PAUSE_MS).unref();
    throw error;
  }
  if (!isRecorded)
    throw new Error(
      "The dedupe store did not record the delivery as handled: another worker took it over after its lease, or the store is full. " +
        "If handlers take that long, raise leaseMs.",
    );
}
