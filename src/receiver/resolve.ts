import { checkTolerance, DEFAULT_TOLERANCE_SECONDS, LONGEST_TOLERANCE_SECONDS } from "../signature/check";
import { memoryDedupe } from "./dedupe/memory";
import type { DedupeStore } from "./dedupe/store";
import type { TrackedDelivery } from "./delivery";
import { JOB_EVENTS } from "./delivery";
import { checkNumber, LONGEST_TIMER_MS } from "./limits";
import type { HandlingOptions, QueueReceiverOptions, ReceiverOptions } from "./options";
import { type Processed, type Processing, processDelivery } from "./process";
import { enqueue } from "./queues/delivery";
import type { Warn } from "./reports";
import { schemasByEvent } from "./schema";
import type { EventDelivery, Handler } from "./types";

const COMMON = [
  "secrets",
  "toleranceSeconds",
  "maxBodyBytes",
  "handlerTimeoutMs",
  "dedupeKey",
  "now",
  "onRejected",
  "onOutcome",
  "onSecretsError",
] satisfies (keyof ReceiverOptions)[];
export const OF_HANDLING = [
  "handlers",
  "events",
  "onUnhandled",
  "dedupe",
  "leaseMs",
] satisfies (keyof ReceiverOptions)[];
export const OPTION_NAMES: readonly string[] = [...COMMON, "queue", ...OF_HANDLING];

const DEFAULT_BODY_BYTES = 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 15_000;
/** The store may take five seconds for the claim, and as long to complete it. */
const STORE_MARGIN_MS = 10_000;

export interface ResolvedOptions {
  readonly toleranceSeconds: number;
  readonly maxBodyBytes: number;
  /** Handles a delivery, or hands it to the queue. Never rejects. */
  readonly take: (delivery: TrackedDelivery, key: string) => Promise<Processed>;
}

/**
 * Checks the options and fills in the defaults.
 * @throws RangeError for a number out of its range, TypeError for any other option that is unknown or invalid
 */
export function resolveOptions<Events extends object>(
  options: ReceiverOptions<Events> | QueueReceiverOptions,
  warn: Warn,
): ResolvedOptions {
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, queue } = options;
  if (queue === undefined) checkOptions("createReceiver", options, [...COMMON, ...OF_HANDLING]);
  else checkOptions("createReceiver with a queue (see queueWorker)", options, [...COMMON, "queue"]);
  checkTolerance(toleranceSeconds, LONGEST_TOLERANCE_SECONDS);
  const most = queue?.maxBodyBytes ?? Number.MAX_SAFE_INTEGER;
  const { maxBodyBytes = Math.min(DEFAULT_BODY_BYTES, most) } = options;
  checkNumber("createReceiver: maxBodyBytes", maxBodyBytes, { least: 0, most });
  return { toleranceSeconds, maxBodyBytes, take: takerOf(options, warn) };
}

function takerOf<Events extends object>(
  options: ReceiverOptions<Events> | QueueReceiverOptions,
  warn: Warn,
): ResolvedOptions["take"] {
  if (options.queue === undefined) {
    const { dedupe = memoryDedupe() } = options;
    const processing = resolveHandling("createReceiver", options, dedupe, warn);
    return (delivery, key) => processDelivery(delivery, processing, { key });
  }
  const { queue } = options;
  // Its `add` has other arguments, and would store a job without the delivery.
  if ("addBulk" in queue)
    throw new TypeError("createReceiver: queue is a queue of BullMQ. Pass bullmqQueue(queue).");
  const timeoutMs = checkedTimeout("createReceiver", options.handlerTimeoutMs);
  return (delivery, key) => enqueue(delivery, key, { queue, timeoutMs, warn });
}

/**
 * Checks what handles deliveries, and fills in the defaults.
 * @param owner the function that the options were passed to, such as "createReceiver"
 * @param store undefined: nothing is deduped
 * @throws RangeError for a number out of its range, TypeError for an invalid handler or schema
 */
export function resolveHandling<Events extends object>(
  owner: string,
  options: HandlingOptions<Events> & { readonly handlerTimeoutMs?: number | undefined },
  store: DedupeStore | undefined,
  warn: Warn,
): Processing {
  const handlerTimeoutMs = checkedTimeout(owner, options.handlerTimeoutMs);
  const { leaseMs = handlerTimeoutMs + STORE_MARGIN_MS, onUnhandled } = options;
  const least = handlerTimeoutMs + 1;
  checkNumber(`${owner}: leaseMs, which must be longer than handlerTimeoutMs,`, leaseMs, { least });
  const schemas = schemasByEvent(owner, options.events);
  const handlers = handlersByEvent(owner, options.handlers, [...JOB_EVENTS, ...schemas.keys()]);
  if (handlers.size === 0 && onUnhandled === undefined)
    throw new TypeError(
      `${owner}: there are no handlers and no onUnhandled, so every event would be acknowledged and lost.`,
    );
  return { store, handlers, schemas, onUnhandled, handlerTimeoutMs, leaseMs, warn };
}

/**
 * Refuses options that do not exist, which plain JavaScript, and TypeScript for options in a variable, would drop in silence.
 * @param owner whose options they are, such as "createReceiver"
 * @throws TypeError
 */
export function checkOptions(owner: string, options: object, known: readonly string[]): void {
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && !known.includes(name))
      throw new TypeError(`${owner}: ${name} is not an option here; use ${known.join(", ")}.`);
}

/** @throws RangeError */
function checkedTimeout(owner: string, handlerTimeoutMs = DEFAULT_TIMEOUT_MS): number {
  checkNumber(`${owner}: handlerTimeoutMs`, handlerTimeoutMs, { least: 1, most: LONGEST_TIMER_MS });
  return handlerTimeoutMs;
}

/**
 * Returns the handlers by event. A Map: the name of an event comes from the sender, and `constructor` must not find a function.
 * @throws TypeError for an unknown event, and for a handler that is not a function
 */
function handlersByEvent(
  owner: string,
  handlers: object = {},
  events: readonly string[],
): ReadonlyMap<string, Handler<EventDelivery>> {
  const byEvent = new Map<string, Handler<EventDelivery>>();
  for (const [event, handler] of Object.entries(handlers)) {
    if (!events.includes(event))
      throw new TypeError(
        `${owner}: "${event}" is not an event of the service (${events.join(", ")}). Declare other events in the option events, or ` +
          "handle them in onUnhandled.",
      );
    if (typeof handler !== "function")
      throw new TypeError(
        `${owner}: the handler of "${event}" is ${typeof handler}, not a function. Leave out an event without one.`,
      );
    byEvent.set(event, handler.bind(handlers));
  }
  return byEvent;
}
