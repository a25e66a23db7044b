import { checkFunctions } from "../checks";
import { KEEP_SECONDS } from "../process";
import { warnerOnce } from "../reports";
import { type DeliveryQueue, digestOf } from "./delivery";

/** The part of a `Queue` of BullMQ that is used, versions 5 and 6. */
export interface BullmqQueue {
  /** Adds a job. */
  add(name: string, data: unknown, options: BullmqJobOptions): PromiseLike<unknown>;
  /** The queue's options. */
  readonly opts?: { readonly connection?: unknown } | undefined;
  /** The options of jobs that set none of their own. */
  readonly defaultJobOptions?:
    | {
        readonly attempts?: number;
        readonly backoff?: unknown;
        readonly deduplication?: unknown;
        readonly debounce?: unknown;
      }
    | undefined;
}
interface BullmqJobOptions {
  readonly jobId: string;
  readonly attempts?: number;
  readonly backoff?: { readonly type: string; readonly delay: number };
  readonly removeOnComplete: { readonly age: number };
  readonly removeOnFail: false;
}

/** With the backoff, the last of these attempts is about 17 minutes after the first. */
const ATTEMPTS = 11;
const BACKOFF = { type: "exponential", delay: 1000 };
const PLAIN = /^[\w-]{1,128}$/;

/**
 * Hands deliveries to a queue of BullMQ, as jobs named `delivery`. A delivery that arrives again is not added again while its job exists:
 * waiting, active, failed, or completed in the last three days. A job that failed for good stays until you retry or remove it.
 *
 * ```ts
 * const queue = new Queue("webhooks", { connection: { url, enableOfflineQueue: false } });
 * const receiver = createReceiver({ secrets, queue: bullmqQueue(queue) });
 * ```
 *
 * Jobs are attempted 11 times, with an exponential backoff from one second on, unless the queue's `defaultJobOptions` set
 * `attempts` or `backoff`.
 * Warns once if the connection queues commands while Redis is away: they would collect in memory.
 *
 * @throws TypeError if it is not a queue, or if its `defaultJobOptions` set `deduplication` or `debounce`, which would drop deliveries
 */
export function bullmqQueue(queue: BullmqQueue): DeliveryQueue {
  checkFunctions("bullmqQueue: queue", queue, { functions: ["add"], advice: "Pass a Queue of BullMQ." });
  if ("process" in queue)
    throw new TypeError("bullmqQueue: queue is one of Bull. Pass a Queue of BullMQ, version 5 or 6.");
  const { deduplication, debounce } = queue.defaultJobOptions ?? {};
  if ((deduplication ?? debounce) !== undefined)
    throw new TypeError(
      "bullmqQueue: the queue's defaultJobOptions set deduplication or debounce, so BullMQ would keep one delivery and drop the others. Leave it out: " +
        "each delivery has a job id of its own.",
    );
  const setting = riskySetting(queue.opts?.connection);
  if (setting !== undefined)
    warnerOnce()(
      `bullmqQueue: the queue's connection keeps commands while Redis is away, so deliveries collect in memory. Set ${setting} in the ` +
        "options of its connection.",
    );
  const retries = retriesBeside(queue.defaultJobOptions);
  const kept = { removeOnComplete: { age: KEEP_SECONDS }, removeOnFail: false } as const;
  return {
    add: (delivery) =>
      queue.add("delivery", delivery, { jobId: bullmqJobId(delivery.key), ...retries, ...kept }),
  };
}

/** Returns what the queue's own options leave open. A job's options replace those of its queue. */
function retriesBeside({ attempts, backoff }: NonNullable<BullmqQueue["defaultJobOptions"]> = {}) {
  if (attempts !== undefined) return {};
  return backoff === undefined ? { attempts: ATTEMPTS, backoff: BACKOFF } : { attempts: ATTEMPTS };
}

/** Returns the id of a delivery's job. BullMQ refuses ids that are integers or hold a colon. */
function bullmqJobId(key: string): string {
  return PLAIN.test(key) ? `webhook-${key}` : `webhook~${digestOf(key)}`;
}

/** Returns what to set in a connection of ioredis, or in its options, so that commands fail while Redis is away. */
function riskySetting(connection: unknown): string | undefined {
  if (typeof connection !== "object" || connection === null || "isOpen" in connection) return undefined;
  const { options = connection } = connection as { options?: unknown };
  const { enableOfflineQueue, maxRetriesPerRequest } = options as Partial<Record<string, unknown>>;
  if (enableOfflineQueue !== false) return "enableOfflineQueue: false";
  return maxRetriesPerRequest === null ? "maxRetriesPerRequest: 1" : undefined;
}
