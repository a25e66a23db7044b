import { checkTolerance, DEFAULT_TOLERANCE_SECONDS } from "../signature/tolerance";
import { checkFunctions, checkNumber, checkOptionalFunction, checkOptions } from "./checks";
import { memoryDedupe } from "./dedupe/memory";
import type { VerifiedDelivery } from "./delivery";
import { type DedupeKey, VALIDATION_EVENT } from "./event";
import { checkedTimeout, resolveHandling } from "./handling";
import type { QueueReceiverOptions, ReceiverOptions } from "./options";
import { type Processed, processDelivery, type Task } from "./process";
import { enqueue } from "./queues/delivery";

/** Every option. TypeScript compares the names with the type. */
const OPTIONS: Readonly<Record<keyof ReceiverOptions | keyof QueueReceiverOptions, true>> = {
  secrets: true,
  handlers: true,
  queue: true,
  events: true,
  onUnhandled: true,
  toleranceSeconds: true,
  maxBodyBytes: true,
  handlerTimeoutMs: true,
  leaseMs: true,
  dedupe: true,
  dedupeKey: true,
  now: true,
  onRejected: true,
  onOutcome: true,
  onSecretsError: true,
  onUnrecorded: true,
};
export const OPTION_NAMES: readonly string[] = Object.keys(OPTIONS);
const FUNCTIONS = ["dedupeKey", "now", "onRejected", "onOutcome", "onSecretsError", "onUnrecorded"] as const;
/** These belong to what handles deliveries, which with a queue is its worker. */
const OF_THE_WORKER = ["handlers", "events", "onUnhandled", "dedupe", "leaseMs"] as const;
const QUEUE = {
  functions: ["add"],
  advice:
    "Pass bullmqQueue(queue), pgBossQueue(boss, name), sqsQueue({ client, queueUrl }), or an object with a function add.",
};

/** A tolerance above it is in milliseconds by mistake, and would let recorded deliveries in for days. */
export const LONGEST_TOLERANCE_SECONDS = 86_400;

export interface ResolvedOptions {
  readonly toleranceSeconds: number;
  readonly maxBodyBytes: number;
  /** Unix milliseconds, or NaN if the program's clock failed. Never throws. */
  readonly now: () => number;
  readonly dedupeKey: DedupeKey | undefined;
  /** Handles a delivery, or hands it to the queue. Never rejects. */
  readonly take: (delivery: VerifiedDelivery, task: Task) => Promise<Processed>;
  /** Whether the receiver, rather than the worker of a queue, can tell what an event means. */
  readonly isKnown: (event: string | undefined) => boolean;
}

/**
 * Checks the options and fills in the defaults.
 * @throws RangeError for a number out of its range, TypeError for any other option that is unknown or invalid
 */
export function resolveOptions<Events extends object>(
  options: ReceiverOptions<Events> | QueueReceiverOptions,
): ResolvedOptions {
  checkOptions("createReceiver", options, OPTION_NAMES);
  for (const name of FUNCTIONS) checkOptionalFunction(`createReceiver: ${name}`, options[name]);
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, maxBodyBytes, dedupeKey, now = Date.now } = options;
  checkTolerance(toleranceSeconds, LONGEST_TOLERANCE_SECONDS);
  const most = options.queue?.maxBodyBytes ?? Number.MAX_SAFE_INTEGER;
  checkNumber("createReceiver: queue.maxBodyBytes", most, { least: 0 });
  const resolvedMaxBodyBytes = maxBodyBytes === undefined ? Math.min(1024 * 1024, most) : maxBodyBytes;
  checkNumber("createReceiver: maxBodyBytes", resolvedMaxBodyBytes, { least: 0, most });
  return {
    toleranceSeconds,
    maxBodyBytes: resolvedMaxBodyBytes,
    now: now === Date.now ? now : () => numberFrom(now),
    dedupeKey,
    ...(options.queue === undefined ? handling(options) : queueing(options)),
  };
}

type Taking = Pick<ResolvedOptions, "take" | "isKnown">;

function handling<Events extends object>(options: ReceiverOptions<Events>): Taking {
  if (options.handlers === undefined)
    throw new TypeError(
      "createReceiver: handlers must be an object with a function for each event, unless there is a queue.",
    );
  const processing = resolveHandling(
    "createReceiver",
    options,
    options.dedupe === undefined ? memoryDedupe() : options.dedupe,
  );
  return {
    take: (delivery, task) => processDelivery(delivery, processing, task),
    isKnown: (event) => event === VALIDATION_EVENT || processing.isKnown(event),
  };
}

function queueing({ queue, handlerTimeoutMs, ...rest }: QueueReceiverOptions): Taking {
  const others = OF_THE_WORKER.filter((name) => rest[name] !== undefined);
  if (others.length > 0)
    throw new TypeError(
      `createReceiver: queue cannot be combined with ${others.join(", ")}. Pass ${others.length > 1 ? "these" : "it"} to queueWorker.`,
    );
  checkFunctions("createReceiver: queue", queue, QUEUE);
  // Its `add` has other arguments, and would store a job without data.
  if ("addBulk" in queue)
    throw new TypeError("createReceiver: queue is a queue of BullMQ. Pass bullmqQueue(queue).");
  const timeoutMs = checkedTimeout("createReceiver", handlerTimeoutMs);
  return { take: (delivery, { key }) => enqueue(delivery, key, { queue, timeoutMs }), isKnown: () => true };
}

function numberFrom(now: () => unknown): number {
  try {
    const time = now();
    return typeof time === "number" ? time : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
