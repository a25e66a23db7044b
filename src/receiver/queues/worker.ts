import { CodedError, KIND } from "../../shared/codedError";
import { isRecord, parseJson } from "../../shared/json";
import { asBuffer } from "../../signature/event";
import { TrackedDelivery } from "../delivery";
import { handlerProcessor } from "../handlerProcessor";
import { notify } from "../hooks";
import { createLog, logFailure } from "../log";
import type { HandlingOptions } from "../options";
import type { NoEvents, WorkerOutcome } from "../types";
import type { QueuedDelivery } from "./queue";

/** Options of `queueWorker`. */
export interface QueueWorkerOptions<Events extends object = NoEvents> extends HandlingOptions<Events> {
  /** Called with the result of each delivery. Default: failures go to `console.error`. */
  readonly onOutcome?: ((outcome: WorkerOutcome) => unknown) | undefined;
}

/** What a queue passes with a delivery. */
export interface WorkerContext {
  /** Tells the handler to stop: its delivery's `signal` fires. A handler that used the signal hands its delivery back. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Handles what a queue holds: a job of BullMQ, a batch of jobs of pg-boss, or a queued delivery itself, parsed or as JSON. Resolves when
 * the queue may forget it, and rejects when the queue must keep it. (BullMQ passes a token, and then a signal.)
 */
export type QueueWorker = (
  queued: unknown,
  context?: WorkerContext | string,
  signal?: AbortSignal,
) => Promise<void>;

/** A worker got what no receiver queued, or what it cannot read. The queue keeps it, by its own rules for failed jobs. */
export class QueuedDeliveryError extends CodedError<"NOT_A_DELIVERY"> {
  /** @internal */ static readonly [KIND]: string = "QueuedDeliveryError";
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

/** Another worker is handling the delivery. */
export class DeliveryHeldError extends CodedError<"DELIVERY_HELD"> {
  /** @internal */ static readonly [KIND]: string = "DeliveryHeldError";
  /** Always `"DeliveryHeldError"`. */
  override readonly name = "DeliveryHeldError";
}

/** The outcomes after which the queue may forget a delivery. It must keep any other. */
const DONE: readonly WorkerOutcome["outcome"][] = ["handled", "unhandled", "duplicate"];

/**
 * Creates a worker, which calls the same handlers with the same deliveries as a receiver does, for what a receiver with `queue` has
 * handed to a queue.
 *
 * ```ts
 * const worker = queueWorker({ handlers: { "job.succeeded": async ({ jobId }) => markDone(jobId) } });
 *
 * new Worker("webhooks", worker, { connection });          // BullMQ
 * await boss.work("webhooks", worker);                     // pg-boss
 * export const handler = sqsHandler(worker);               // AWS Lambda on SQS
 * await worker(message.value, { signal });                 // any other queue
 * ```
 *
 * It rejects when a handler fails, and when it gets something that is not a delivery (`NOT_A_DELIVERY`). The queue retries both by its
 * own rules, and keeps what still fails as a dead letter.
 *
 * @throws TypeError for an unknown option, an invalid handler or schema; RangeError for a number out of its range
 */
export function queueWorker<Events extends object = NoEvents>(
  options: QueueWorkerOptions<Events>,
): QueueWorker {
  const { onOutcome = logFailure, ...handling } = options;
  const processor = handlerProcessor(handling, createLog());

  async function handle(queued: unknown, given: AbortSignal | undefined): Promise<void> {
    const startedAt = performance.now();
    const isJob = isRecord(queued) && "data" in queued;
    const parsed = parseQueued(isJob ? queued.data : queued);
    if (parsed instanceof QueuedDeliveryError) {
      const unknown = { id: undefined, timestamp: undefined, event: undefined, jobId: undefined };
      notify(onOutcome, { outcome: "not-a-delivery", ...unknown, durationMs: 0, error: parsed });
      throw parsed;
    }
    const { id, timestamp, key, body } = parsed;
    // Each job of pg-boss has a signal of its own.
    const signal = (isJob ? signalIn(queued.signal) : undefined) ?? given;
    const delivery = new TrackedDelivery(id, timestamp, Buffer.from(body, "base64"));
    const { event, jobId } = delivery;
    const { error, retryAfterMs, ...result } = await processor(delivery, key, signal);
    const outcome = result.outcome as WorkerOutcome["outcome"];
    const durationMs = Math.round(performance.now() - startedAt);
    notify(onOutcome, { outcome, id, timestamp, event, jobId, durationMs, error });
    if (outcome === "held")
      throw new DeliveryHeldError(
        "DELIVERY_HELD",
        `Another worker is handling this delivery, or was killed while it did. Its lease ends within ${retryAfterMs} ms.`,
      );
    if (!DONE.includes(outcome)) throw error instanceof Error ? error : new Error(String(error));
  }

  // Three parameters: BullMQ passes a signal only to a function that has the third.
  return async (queued, context, signal) => {
    const given = signalIn(signal) ?? signalIn(Object(context).signal);
    const batch: readonly unknown[] = Array.isArray(queued) ? queued : [queued];
    const ended = await Promise.allSettled(batch.map((each) => handle(each, given)));
    for (const each of ended) if (each.status === "rejected") throw each.reason;
  };
}

/** Returns what a queue passed, if it is a signal. Other queues pass something else there, as `map` passes an index and a list. */
function signalIn(value: unknown): AbortSignal | undefined {
  if (value instanceof AbortSignal) return value;
  const { aborted, addEventListener }: Partial<AbortSignal> = Object(value);
  if (aborted === undefined || typeof addEventListener !== "function") return undefined;
  // Those of older libraries have no reason.
  const other = value as AbortSignal;
  const own = new AbortController();
  if (aborted) own.abort(other.reason);
  else other.addEventListener("abort", () => own.abort(other.reason));
  return own.signal;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Reads what a queue stored: a delivery as an object, as JSON, or as the bytes of JSON. The error repeats nothing of it. */
function parseQueued(value: unknown): QueuedDelivery | QueuedDeliveryError {
  const text = ArrayBuffer.isView(value) ? asBuffer(value).toString() : value;
  const parsed = typeof text === "string" ? parseJson(text) : value;
  if (!isRecord(parsed)) return new QueuedDeliveryError("it is not a JSON object");
  const { version, id, key, timestamp, body } = parsed;
  if (version !== 1)
    return new QueuedDeliveryError(
      "its version is not 1, so if a later pulumi-webhook-endpoints queued it, update the worker's",
    );
  const areStrings = typeof id === "string" && typeof key === "string";
  const isDated = typeof timestamp === "number" && Number.isSafeInteger(timestamp);
  if (!areStrings || !isDated || typeof body !== "string" || !BASE64.test(body))
    return new QueuedDeliveryError("its id, key, timestamp or body is not what a receiver stores");
  return { version, id, key, timestamp, body };
}
