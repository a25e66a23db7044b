import { checkTolerance, DEFAULT_TOLERANCE_SECONDS } from "../signature/tolerance";
import { checkFunctions, checkOptionalFunction, checkOptions } from "./checks";
import { memoryDedupe } from "./dedupe/memory";
import type { DedupeStore } from "./dedupe/store";
import { checkHandler, handlersByEvent } from "./handlers";
import type { Processing } from "./process";
import type { ReceiverHooks } from "./reports";
import type { Delivery, Handler, Handlers, KeyedDelivery, Secrets } from "./types";

export interface ReceiverOptions extends ReceiverHooks {
  /**
   * `whsec_…`, or several while a secret is rotated: any of them may have signed. Or a function that returns them, so that a
   * rotation needs no restart: it is called at the first delivery, when its last answer is a minute old, and on a signature that
   * does not match when the last answer is five seconds old. When it fails, or takes longer than five seconds, its last good answer
   * stays in use and `onSecretsError` is called; until it has given one, deliveries are answered 503.
   */
  readonly secrets: Secrets | (() => Secrets | Promise<Secrets>);
  /**
   * How old, and how far ahead, a delivery's timestamp may be: whole seconds, default 300, at most 86,400 (a day). 0 turns this
   * window off.
   */
  readonly toleranceSeconds?: number | undefined;
  /** The largest body that is read, in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Where handled deliveries are remembered. Default: `memoryDedupe()`, for one process. */
  readonly dedupe?: DedupeStore | undefined;
  /**
   * Returns what identifies an event: a non-empty string. Default: the id of its delivery. While an endpoint is replaced, the old
   * and the new one each deliver an event, under ids of their own; a key made of what they deliver takes both for one:
   *
   * ```ts
   * dedupeKey: ({ rawBody }) => createHash("sha256").update(rawBody).digest("hex"),
   * ```
   *
   * A later event with the same key is not handled for three days, so the key must differ between any two events. The hash of the
   * body does so if the bodies of a job that runs again differ, for example by a time. `` `${event}:${jobId}` `` does so only if no
   * job runs twice under one id. If in doubt, leave `dedupeKey` out and let handlers tolerate a second call.
   *
   * It is not called for deliveries without a job id or of other events: these are identified by their id.
   */
  readonly dedupeKey?: ((delivery: KeyedDelivery) => string) | undefined;
  /**
   * How long a handler may take, in milliseconds, default 15,000. Then its delivery's signal fires and the sender is answered
   * 503. Stay below the sender's timeout. A handler that resolves after its deadline has handled its delivery, unless it used the
   * signal: then it may have stopped, so the retry is handled again.
   */
  readonly handlerTimeoutMs?: number | undefined;
  /**
   * How long a handler that hangs keeps its delivery, in milliseconds from the claim on. It must be longer than the handler's
   * deadline and the time that the store takes to claim together, or a retry may be handled at the same time. Default: the deadline
   * and 10,000 more.
   */
  readonly leaseMs?: number | undefined;
  readonly handlers: Handlers;
  /** Handles every other delivery: other events, bodies that are not JSON, events without a handler. Default: acknowledge. */
  readonly onUnhandled?: Handler<Delivery> | undefined;
  /**
   * The clock that timestamps are compared with, in unix milliseconds. Default: `Date.now`. Without a finite number from it,
   * deliveries are answered 503. (Leases follow the dedupe store's clock.)
   */
  readonly now?: (() => number) | undefined;
}

/** A tolerance above it is in milliseconds by mistake, and would let recorded deliveries in for days. */
export const LONGEST_TOLERANCE_SECONDS = 86_400;
/** Longer than a recorded delivery stays inside the longest tolerance, which is twice that; senders may retry for days. */
const KEEP_MS = 3 * 24 * 60 * 60 * 1000;
/** The store may take five seconds for the claim, and as long to complete it. */
const STORE_MARGIN_MS = 10_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Every option. TypeScript compares the names with the type. */
const OPTIONS: Readonly<Record<keyof ReceiverOptions, true>> = {
  secrets: true,
  handlers: true,
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
const DEDUPE = {
  functions: ["claim", "complete", "release"],
  advice: "Pass memoryDedupe(), redisDedupe({ client }), or a store of your own that implements DedupeStore.",
};

export interface ResolvedOptions {
  readonly toleranceSeconds: number;
  readonly maxBodyBytes: number;
  /** Unix milliseconds, or NaN if the program's clock failed. Never throws. */
  readonly now: () => number;
  readonly processing: Processing;
}

/**
 * Checks the options and fills in the defaults.
 * @throws RangeError for a number out of its range, TypeError for an unknown option, an invalid handler, hook or store
 */
export function resolveOptions(options: ReceiverOptions): ResolvedOptions {
  checkOptions("createReceiver", options, OPTION_NAMES);
  const {
    toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
    maxBodyBytes = 1024 * 1024,
    handlerTimeoutMs = 15_000,
    leaseMs = handlerTimeoutMs + STORE_MARGIN_MS,
    dedupe: store = memoryDedupe(),
    dedupeKey,
    onUnhandled,
    now = Date.now,
  } = options;
  for (const name of FUNCTIONS) checkOptionalFunction(`createReceiver: ${name}`, options[name]);
  checkFunctions("createReceiver: dedupe", store, DEDUPE);
  checkTolerance(toleranceSeconds, LONGEST_TOLERANCE_SECONDS);
  checkNumber("maxBodyBytes", maxBodyBytes, { least: 0 });
  checkNumber("handlerTimeoutMs", handlerTimeoutMs, { least: 1, most: LONGEST_TIMER_MS });
  checkNumber("leaseMs, which must be longer than handlerTimeoutMs,", leaseMs, {
    least: handlerTimeoutMs + 1,
  });
  if (onUnhandled !== undefined) checkHandler("onUnhandled", onUnhandled);
  const handlers = handlersByEvent(options.handlers);
  return {
    toleranceSeconds,
    maxBodyBytes,
    now: now === Date.now ? now : () => numberFrom(now),
    processing: { store, dedupeKey, handlers, onUnhandled, handlerTimeoutMs, leaseMs, keepMs: KEEP_MS },
  };
}

function checkNumber(
  name: string,
  value: number,
  { least, most = Number.MAX_SAFE_INTEGER }: { least: number; most?: number },
): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  // Not a string's value, which could be a secret.
  const given = typeof value === "number" ? String(value) : `a value of type ${typeof value}`;
  throw new RangeError(
    `createReceiver: ${name} must be a whole number from ${least} to ${most}, but it is ${given}.`,
  );
}

function numberFrom(now: () => unknown): number {
  try {
    const time = now();
    return typeof time === "number" ? time : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
