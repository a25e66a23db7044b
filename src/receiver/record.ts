import { CodedError } from "../shared/codedError";
import { isThenable, LATE, within } from "./deadline";

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

export type StoreCall<T = boolean> = () => T | PromiseLike<T>;

/** A store that neither answers nor fails, such as a client that queues while it is disconnected, counts as unreachable. */
const STORE_TIMEOUT_MS = 5_000;
/** Between two attempts to record a handled delivery. */
const RETRY_PAUSE_MS = 250;

/**
 * Calls a dedupe store. Fails if the store fails or takes longer than five seconds.
 * @param onLate called with an answer that comes later; its failures are ignored
 */
export function settleInTime<T>(call: StoreCall<T>, onLate?: (answer: T) => unknown): T | Promise<T> {
  const answer = call();
  return isThenable(answer) ? answerInTime(Promise.resolve(answer), onLate) : answer;
}

async function answerInTime<T>(answering: Promise<T>, onLate?: (answer: T) => unknown): Promise<T> {
  const answer = await within(STORE_TIMEOUT_MS, answering);
  if (answer !== LATE) return answer;
  answering.then(onLate).catch(() => {});
  throw new Error(`The dedupe store did not answer within ${STORE_TIMEOUT_MS} ms.`);
}

interface Recording {
  /** When the claim's lease ends, on the clock of `performance.now()`. */
  readonly leaseEnds: number;
  /** Called with the last error if no attempt succeeded before the lease ended, or with a `NotRecordedError`. */
  readonly onGivenUp: (error: unknown) => void;
}

/**
 * Records a delivery as handled. A store that refuses, because another worker has taken over, is not asked again. If the first attempt
 * fails, rejects at once, so that the answer does not wait, and tries again in the background while the lease lasts: a delivery that is
 * not recorded is handled again when its sender retries.
 */
export async function recordHandled(complete: StoreCall, recording: Recording): Promise<void> {
  const attempt = async () => {
    const isRecorded = await settleInTime(complete);
    if (isRecorded !== true) recording.onGivenUp(new NotRecordedError());
  };
  try {
    await attempt();
  } catch (error) {
    void retry(attempt, recording, error);
    throw error;
  }
}

async function retry(
  attempt: () => Promise<void>,
  { leaseEnds, onGivenUp }: Recording,
  first: unknown,
): Promise<void> {
  let last = first;
  while (performance.now() + RETRY_PAUSE_MS < leaseEnds) {
    // Not a reason to keep the process running.
    await new Promise((wake) => setTimeout(wake, RETRY_PAUSE_MS).unref());
    try {
      return await attempt();
    } catch (error) {
      last = error;
    }
  }
  onGivenUp(last);
}
