import { CodedError } from "../../shared/codedError";
import { isRecord, parseJson } from "../../shared/json";
import { asBuffer } from "../delivery";
import type { QueuedDelivery } from "./delivery";

/** The codes of a `QueuedDeliveryError`. */
export type QueuedDeliveryErrorCode = "NOT_A_DELIVERY";

/** A worker got what no receiver queued, or what it cannot read. The queue keeps it, by its own rules for failed jobs. */
export class QueuedDeliveryError extends CodedError<QueuedDeliveryErrorCode> {
  /** Always `"QueuedDeliveryError"`. */
  override readonly name = "QueuedDeliveryError";

  constructor(problem: string) {
    super(
      "NOT_A_DELIVERY",
      `The queue's worker got something that is not a delivery: ${problem}. Pass the worker a job of BullMQ or pg-boss, or exactly what ` +
        "the receiver stored (of an SQS message its body; in Lambda, use sqsHandler), and use the queue for deliveries only.",
    );
  }
}

/** One thing that a queue wants handled. */
export interface Job {
  readonly data: unknown;
  /** Fires when the queue wants the job back. */
  readonly signal: AbortSignal | undefined;
}

/** Returns what a queue passed to its worker: a batch of pg-boss, a job of either, or a queued delivery itself. */
export function jobsIn(queued: unknown, signal: AbortSignal | undefined): Job[] {
  const jobs: readonly unknown[] = Array.isArray(queued) ? queued : [queued];
  return jobs.map((job) => {
    if (!isRecord(job) || !("data" in job)) return { data: job, signal };
    // Each job of pg-boss has a signal of its own.
    return { data: job.data, signal: job.signal instanceof AbortSignal ? job.signal : signal };
  });
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Reads what a queue stored: a delivery as an object, as JSON, or as the bytes of JSON.
 * @throws QueuedDeliveryError, whose message repeats nothing of the value
 */
export function parseQueued(value: unknown): QueuedDelivery {
  const text = ArrayBuffer.isView(value) ? asBuffer(value).toString() : value;
  const parsed = typeof text === "string" ? parseJson(text) : value;
  if (!isRecord(parsed)) throw new QueuedDeliveryError("it is not a JSON object");
  const { version, id, key, timestamp, body } = parsed;
  if (version !== 1)
    throw new QueuedDeliveryError(
      "its version is not 1, so if a later pulumi-webhook-endpoints queued it, update the worker's",
    );
  const areStrings = typeof id === "string" && typeof key === "string";
  const isDated = typeof timestamp === "number" && Number.isSafeInteger(timestamp);
  if (!areStrings || !isDated || typeof body !== "string" || !BASE64.test(body))
    throw new QueuedDeliveryError("its id, key, timestamp or body is not what a receiver stores");
  return { version, id, key, timestamp, body };
}
