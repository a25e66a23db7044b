import { CodedError } from "../../shared/codedError";
import type { DedupeStore } from "../dedupe/store";
import { TrackedDelivery } from "../delivery";
import type { HandlingOptions } from "../options";
import { processDelivery } from "../process";
import { logFailure, notify, warnerOnce } from "../reports";
import { checkOptions, OF_HANDLING, resolveHandling } from "../resolve";
import type { NoEvents, Outcome, OutcomeKind } from "../types";
import type { QueuedDelivery } from "./delivery";
import { type Job, jobsIn, parseQueued } from "./jobs";

/** Options of `queueWorker`. */
export interface QueueWorkerOptions<Events extends object = NoEvents> extends HandlingOptions<Events> {
  /**
   * Where handled deliveries are remembered. Default: nowhere, as BullMQ and pg-boss take each delivery once. With SQS, Kafka and other
   * queues whose memory is shorter than three days, pass a store that all workers share, such as `redisDedupe`.
   */
  readonly dedupe?: DedupeStore | undefined;
  /**
   * How long a handler may take, in milliseconds, default 15,000. Then its delivery's signal fires, and the queue is told that the job
   * failed, so that it is retried. Stay below the queue's own limit, such as the visibility timeout of SQS.
   */
  readonly handlerTimeoutMs?: number | undefined;
  /** Called with the result of each delivery. Default: failures go to `console.error`. */
  readonly onOutcome?: ((outcome: WorkerOutcome) => unknown) | undefined;
}

/** The result of a delivery in a worker. `not-a-delivery`: the worker cannot read what the queue holds; the error says why. */
export interface WorkerOutcome extends Pick<Outcome, "event" | "jobId" | "durationMs" | "error"> {
  /** What became of the delivery. */
  readonly outcome: Exclude<OutcomeKind, "validation" | "queued" | "queue-unavailable"> | "not-a-delivery";
  /** Undefined if the job could not be read. */
  readonly id: string | undefined;
  /** When it was sent, in unix seconds. */
  readonly timestamp: number | undefined;
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

/** Another worker is handling the delivery. */
export class DeliveryHeldError extends CodedError<"DELIVERY_HELD"> {
  /** Always `"DeliveryHeldError"`. */
  override readonly name = "DeliveryHeldError";
}

/** The outcomes after which the queue may forget a delivery. It must keep any other. */
const DONE: readonly WorkerOutcome["outcome"][] = ["handled", "unhandled", "duplicate"];
const OPTIONS = [...OF_HANDLING, "handlerTimeoutMs", "onOutcome"] satisfies (keyof QueueWorkerOptions)[];

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
  checkOptions("queueWorker", options, OPTIONS);
  const { onOutcome = logFailure } = options;
  const processing = resolveHandling("queueWorker", options, options.dedupe, warnerOnce());

  async function handle({ data, signal }: Job): Promise<void> {
    const startedAt = performance.now();
    const { id, timestamp, key, body } = read(data);
    const delivery = new TrackedDelivery(id, timestamp, Buffer.from(body, "base64"));
    const { event, jobId } = delivery;
    const { error, retryAfterMs, ...processed } = await processDelivery(delivery, processing, {
      key,
      signal,
    });
    const outcome = processed.outcome as WorkerOutcome["outcome"];
    const durationMs = Math.round(performance.now() - startedAt);
    notify(onOutcome, { outcome, id, timestamp, event, jobId, durationMs, error });
    if (outcome === "held")
      throw new DeliveryHeldError(
        "DELIVERY_HELD",
        `Another worker is handling this delivery, or was killed while it did. Its lease ends within ${retryAfterMs} ms.`,
      );
    if (!DONE.includes(outcome)) throw error instanceof Error ? error : new Error(String(error));
  }

  function read(data: unknown): QueuedDelivery {
    try {
      return parseQueued(data);
    } catch (error) {
      const unknown = { id: undefined, timestamp: undefined, event: undefined, jobId: undefined };
      notify(onOutcome, { outcome: "not-a-delivery", ...unknown, durationMs: 0, error });
      throw error;
    }
  }

  // Three parameters: BullMQ passes a signal only to a function that has the third.
  return async (queued, context, signal) => {
    const jobs = jobsIn(queued, signal ?? (typeof context === "object" ? context?.signal : undefined));
    const ended = await Promise.allSettled(jobs.map(handle));
    for (const each of ended) if (each.status === "rejected") throw each.reason;
  };
}
