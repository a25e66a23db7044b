import { digestOf } from "../digest";
import { KEEP_SECONDS } from "../handlerProcessor";
import { requireMethods } from "../optionChecks";
import type { DeliveryQueue } from "./queue";

/** The part of a `Queue` of BullMQ that is used, versions 5 and 6. */
export interface BullmqQueue {
  /** Adds a job. */
  add(name: string, data: unknown, options: object): PromiseLike<unknown>;
  /** The options of jobs that set none of their own. */
  readonly defaultJobOptions?: object | undefined;
}

/** With the backoff, the last of these attempts is about 17 minutes after the first. */
const DEFAULTS = { attempts: 11, backoff: { type: "exponential", delay: 1000 } };
/** The queue must recognize a delivery as long as its sender may retry it. Its own deduplication would keep one and drop the others. */
const KEPT = { removeOnComplete: { age: KEEP_SECONDS }, removeOnFail: false, deduplication: undefined };
const PLAIN = /^[\w-]{1,128}$/;

/**
 * Hands deliveries to a queue of BullMQ, as jobs named `delivery`. A delivery that arrives again is not added again while its job exists:
 * waiting, active, failed, or completed in the last three days. A job that failed for good stays until you retry or remove it.
 *
 * ```ts
 * const queue = new Queue("webhooks", { connection });
 * const receiver = createReceiver({ secrets, queue: bullmqQueue(queue) });
 * ```
 *
 * `docs/deduplication.md`, "Options of the client", says which options the connection needs. Jobs are attempted 11 times, with an
 * exponential backoff from one second on. `attempts` and `backoff` in the queue's `defaultJobOptions` replace these.
 *
 * @throws TypeError if the queue is not a `Queue`, such as its name
 */
export function bullmqQueue(queue: BullmqQueue): DeliveryQueue {
  requireMethods(queue, ["add"], "bullmqQueue: pass a Queue of BullMQ, such as new Queue(name, options).");
  const options = { ...DEFAULTS, ...queue.defaultJobOptions, ...KEPT };
  return {
    add(delivery) {
      const { key } = delivery;
      // BullMQ refuses ids that are integers or hold a colon.
      const jobId = PLAIN.test(key) ? `webhook-${key}` : `webhook~${digestOf(key)}`;
      return queue.add("delivery", delivery, { ...options, jobId });
    },
  };
}
