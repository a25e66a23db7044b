import { checkTolerance, DEFAULT_TOLERANCE_SECONDS } from "../signature/check";
import { memoryDedupe } from "./dedupe/memory";
import type { DedupeStore } from "./dedupe/store";
import type { ReceiverHooks } from "./reports";
import type { Delivery, Handler, Handlers, JobDelivery, JobEvent, Secrets } from "./types";

export interface ReceiverOptions extends ReceiverHooks {
  /**
   * `whsec_…`, or several while one is rotated: any may have signed. Or a function that gives them, so that a rotation needs
   * no restart: it is asked at the first delivery, when its last answer is a minute old, and on a signature that does not match
   * when the last answer is five seconds old. When it fails, or takes longer than five seconds, its last good answer stays in
   * use and `onSecretsError` is told; without one yet, deliveries are answered 503.
   */
  readonly secrets: Secrets | (() => Secrets | Promise<Secrets>);
  /** How old, and how far ahead, a delivery's timestamp may be: whole seconds, default 300; 0 turns this window off. */
  readonly toleranceSeconds?: number | undefined;
  /** The largest body that is read, in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Where handled deliveries are remembered. Default: `memoryDedupe()`, for one process. */
  readonly dedupe?: DedupeStore | undefined;
  /**
   * What counts as the same delivery of one of the service's events: a text that is not empty. Default: its id, by which every
   * other delivery goes always. While an endpoint is replaced, two of them overlap and each is sent the same event under an id of
   * its own; what the event is about tells these as one: `` (delivery) => `${delivery.event}:${delivery.jobId}` ``.
   */
  readonly dedupeKey?: ((delivery: JobDelivery) => string) | undefined;
  /**
   * How long a handler may take, in milliseconds, default 15,000. Then its delivery's signal fires and the sender is answered
   * 503. Stay below the time that the sender waits. One that resolves later all the same has handled its delivery, unless it
   * asked for the signal: it may have stopped at it, so the retry is handled anew.
   */
  readonly handlerTimeoutMs?: number | undefined;
  /**
   * How long a handler that hung keeps its delivery, in milliseconds from the claim on. Longer than its deadline and the time
   * that the store takes to claim together, or a retry may be handled beside it. Default: the deadline and 10,000 more.
   */
  readonly leaseMs?: number | undefined;
  readonly handlers: Handlers;
  /** Handles every other delivery: other events, bodies that are not JSON, events without a handler. Default: acknowledge. */
  readonly onUnhandled?: Handler<Delivery> | undefined;
  /** The clock, in unix milliseconds. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

const KEEP_AT_LEAST_MS = 3 * 24 * 60 * 60 * 1000;
/** The store may take five seconds for the claim, and as long to complete it. */
const STORE_MARGIN_MS = 10_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const EVENTS: readonly JobEvent[] = ["job.running", "job.succeeded", "job.failed"];

/** @throws RangeError for a number out of its range, TypeError for handlers that are none */
export function resolveOptions(options: ReceiverOptions) {
  const {
    toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
    maxBodyBytes = 1024 * 1024,
    handlerTimeoutMs = 15_000,
    leaseMs = handlerTimeoutMs + STORE_MARGIN_MS,
    now = Date.now,
  } = options;
  checkTolerance(toleranceSeconds);
  checkNumber("maxBodyBytes", maxBodyBytes, 0, Number.MAX_SAFE_INTEGER);
  checkNumber("handlerTimeoutMs", handlerTimeoutMs, 1, LONGEST_TIMER_MS);
  checkNumber(
    "leaseMs, which must be longer than handlerTimeoutMs",
    leaseMs,
    handlerTimeoutMs + 1,
    Number.MAX_SAFE_INTEGER,
  );
  if (options.onUnhandled !== undefined) checkHandler("onUnhandled", options.onUnhandled);
  return {
    toleranceSeconds,
    maxBodyBytes,
    now,
    processing: {
      store: options.dedupe ?? memoryDedupe({ now }),
      dedupeKey: options.dedupeKey,
      handlers: handlersByEvent(options.handlers),
      onUnhandled: options.onUnhandled,
      handlerTimeoutMs,
      leaseMs,
      // A replay is inside the tolerance for twice that long; the sender may retry for days.
      keepMs: Math.max(2 * toleranceSeconds * 1000, KEEP_AT_LEAST_MS),
    },
  };
}

function checkNumber(name: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new RangeError(
    `createReceiver: ${name} must be a whole number from ${least} to ${most}; got ${String(value)}.`,
  );
}

// A Map: the name of an event comes from the sender, and `constructor` is no handler.
function handlersByEvent(handlers: Handlers): ReadonlyMap<string, Handler<JobDelivery>> {
  if (typeof handlers !== "object" || handlers === null)
    throw new TypeError("handlers must be an object of handlers by event");
  for (const name of Object.keys(handlers)) {
    if (!(EVENTS as readonly string[]).includes(name)) {
      throw new TypeError(
        `createReceiver: "${name}" is no event of the service; handle others in onUnhandled.`,
      );
    }
  }
  const byEvent = new Map<string, Handler<JobDelivery>>();
  for (const event of EVENTS) {
    const handler = handlers[event];
    if (handler === undefined) continue;
    checkHandler(`the handler of "${event}"`, handler);
    // Called for deliveries of its own event only; bound, as it may be a method.
    byEvent.set(event, (handler as Handler<JobDelivery>).bind(handlers));
  }
  return byEvent;
}

function checkHandler(name: string, handler: unknown): void {
  if (typeof handler !== "function") throw new TypeError(`createReceiver: ${name} is no function.`);
}
