import { checkTolerance, DEFAULT_TOLERANCE_SECONDS } from "../signature/tolerance";
import { checkFunctions, checkNumber, checkOptionalFunction, checkOptions } from "./checks";
import { LONGEST_TIMER_MS } from "./deadline";
import { memoryDedupe } from "./dedupe/memory";
import type { DedupeStore } from "./dedupe/store";
import type { TrackedDelivery } from "./delivery";
import { JOB_EVENTS } from "./event";
import type { HandlingOptions, QueueReceiverOptions, ReceiverOptions } from "./options";
import { type Processing, processDelivery, type Task } from "./process";
import { enqueue } from "./queues/delivery";
import type { Warn } from "./reports";
import type { Processed } from "./run";
import { schemasByEvent } from "./schema";
import type { EventDelivery, Handler } from "./types";

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
};
export const OPTION_NAMES: readonly string[] = Object.keys(OPTIONS);
const FUNCTIONS = ["dedupeKey", "now", "onRejected", "onOutcome", "onSecretsError"] as const;
/** These belong to what handles deliveries, which with a queue is its worker. */
const OF_THE_WORKER = ["handlers", "events", "onUnhandled", "dedupe", "leaseMs"] as const;

const QUEUE = {
  functions: ["add"],
  advice:
    "Pass bullmqQueue(queue), pgBossQueue(boss, name), sqsQueue({ client, queueUrl }), or an object with a function add.",
};
const DEDUPE = {
  functions: ["claim", "complete", "release"],
  advice: "Pass memoryDedupe(), redisDedupe({ client }), or a store of your own that implements DedupeStore.",
};

/** A tolerance above it is in milliseconds by mistake, and would let recorded deliveries in for days. */
export const LONGEST_TOLERANCE_SECONDS = 86_400;
const DEFAULT_BODY_BYTES = 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 15_000;
/** The store may take five seconds for the claim, and as long to complete it. */
const STORE_MARGIN_MS = 10_000;

export interface ResolvedOptions {
  readonly toleranceSeconds: number;
  readonly maxBodyBytes: number;
  /** Handles a delivery, or hands it to the queue. Never rejects. */
  readonly take: (tracked: TrackedDelivery, task: Task) => Promise<Processed>;
}

/**
 * Checks the options and fills in the defaults.
 * @throws RangeError for a number out of its range, TypeError for any other option that is unknown or invalid
 */
export function resolveOptions<Events extends object>(
  options: ReceiverOptions<Events> | QueueReceiverOptions,
  warn: Warn,
): ResolvedOptions {
  checkOptions("createReceiver", options, OPTION_NAMES);
  for (const name of FUNCTIONS) checkOptionalFunction(`createReceiver: ${name}`, options[name]);
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, queue } = options;
  checkTolerance(toleranceSeconds, LONGEST_TOLERANCE_SECONDS);
  const most = queue?.maxBodyBytes ?? Number.MAX_SAFE_INTEGER;
  const { maxBodyBytes = Math.min(DEFAULT_BODY_BYTES, most) } = options;
  checkNumber("createReceiver: maxBodyBytes", maxBodyBytes, { least: 0, most });
  const take = options.queue === undefined ? handling(options, warn) : queueing(options, warn);
  return { toleranceSeconds, maxBodyBytes, take };
}

function handling<Events extends object>(
  options: ReceiverOptions<Events>,
  warn: Warn,
): ResolvedOptions["take"] {
  const { dedupe = memoryDedupe() } = options;
  const processing = resolveHandling("createReceiver", options, dedupe, warn);
  return (tracked, task) => processDelivery(tracked, processing, task);
}

function queueing(options: QueueReceiverOptions, warn: Warn): ResolvedOptions["take"] {
  const { queue } = options;
  const other = OF_THE_WORKER.find((name) => options[name] !== undefined);
  if (other !== undefined)
    throw new TypeError(`createReceiver: queue cannot be combined with ${other}. Pass it to queueWorker.`);
  checkFunctions("createReceiver: queue", queue, QUEUE);
  // Its `add` has other arguments, and would store a job without the delivery.
  if ("addBulk" in queue)
    throw new TypeError("createReceiver: queue is a queue of BullMQ. Pass bullmqQueue(queue).");
  const timeoutMs = checkedTimeout("createReceiver", options.handlerTimeoutMs);
  return ({ delivery }, { key }) => enqueue(delivery, key, { queue, timeoutMs, warn });
}

/**
 * Checks what handles deliveries, and fills in the defaults.
 * @param owner the function that the options were passed to, such as "createReceiver"
 * @param store undefined: nothing is deduped
 * @throws RangeError for a number out of its range, TypeError for an invalid handler, schema or store
 */
export function resolveHandling<Events extends object>(
  owner: string,
  options: HandlingOptions<Events> & { readonly handlerTimeoutMs?: number | undefined },
  store: DedupeStore | undefined,
  warn: Warn,
): Processing {
  const handlerTimeoutMs = checkedTimeout(owner, options.handlerTimeoutMs);
  const { leaseMs = handlerTimeoutMs + STORE_MARGIN_MS, onUnhandled } = options;
  checkNumber(`${owner}: leaseMs, which must be longer than handlerTimeoutMs,`, leaseMs, {
    least: handlerTimeoutMs + 1,
  });
  if (store !== undefined) checkFunctions(`${owner}: dedupe`, store, DEDUPE);
  checkOptionalFunction(`${owner}: onUnhandled`, onUnhandled);
  const schemas = schemasByEvent(owner, options.events);
  const handlers = handlersByEvent(owner, options.handlers, [...JOB_EVENTS, ...schemas.keys()]);
  if (handlers.size === 0 && onUnhandled === undefined)
    throw new TypeError(
      `${owner}: there are no handlers and no onUnhandled, so every event would be acknowledged and lost.`,
    );
  return { store, handlers, schemas, onUnhandled, handlerTimeoutMs, leaseMs, warn };
}

/** @throws RangeError */
function checkedTimeout(owner: string, handlerTimeoutMs = DEFAULT_TIMEOUT_MS): number {
  checkNumber(`${owner}: handlerTimeoutMs`, handlerTimeoutMs, { least: 1, most: LONGEST_TIMER_MS });
  return handlerTimeoutMs;
}

/**
 * Returns the handlers by event. A Map: the name of an event comes from the sender, and `constructor` must not find a function.
 * @throws TypeError if they are not an object with a function for each event
 */
function handlersByEvent(
  owner: string,
  handlers: object,
  events: readonly string[],
): ReadonlyMap<string, Handler<EventDelivery>> {
  if (typeof handlers !== "object" || handlers === null)
    throw new TypeError(`${owner}: handlers must be an object with a function for each event.`);
  const byEvent = new Map<string, Handler<EventDelivery>>();
  for (const [event, handler] of Object.entries(handlers)) {
    if (!events.includes(event))
      throw new TypeError(
        `${owner}: "${event}" is not an event of the service (${events.join(", ")}). Declare other events in the option events, or ` +
          "handle them in onUnhandled.",
      );
    if (typeof handler !== "function")
      throw new TypeError(
        `${owner}: the handler of "${event}" is ${handler === undefined ? "undefined" : "not a function"}. Leave out an event without one.`,
      );
    byEvent.set(event, handler.bind(handlers));
  }
  return byEvent;
}
