import { isThenable } from "./deadline";
import type { Outcome, Rejection, UnrecordedDelivery } from "./types";

/** Hooks for logs and metrics. None receives a secret, a header or the body; errors that they throw are ignored. */
export interface ReceiverHooks {
  /** Called with each request that was refused before any handler could run. Default: a process warning, once for each reason. */
  readonly onRejected?: ((rejection: Rejection) => unknown) | undefined;
  /** Called with the result of each verified delivery. Default: failures go to `console.error`. */
  readonly onOutcome?: ((outcome: Outcome) => unknown) | undefined;
  /** Called when the secrets could not be read again. Default: `console.error`. */
  readonly onSecretsError?: ((error: unknown) => unknown) | undefined;
  /**
   * Called when the dedupe store could not record a handled delivery, although the receiver tried until the lease ended, or did not
   * do so because another worker has taken over: a retry of it is handled again. Default: `console.error`.
   */
  readonly onUnrecorded?: ((delivery: UnrecordedDelivery) => unknown) | undefined;
}

/** Calls a hook, which can neither fail nor delay the answer. */
export function notify<T>(hook: (value: T) => unknown, value: T): void {
  try {
    const result = hook(value);
    if (isThenable(result)) Promise.resolve(result).catch(() => {});
  } catch {
    // A logger's failure must not change the answer.
  }
}

/** Of a receiver, or of a queue's worker, which may not know the id. */
type Failure = Pick<Outcome, "event" | "error"> & {
  readonly outcome: string;
  readonly id: string | undefined;
};

/** Of these, the sender or the queue needs no help. */
const ORDINARY = ["handled", "unhandled", "duplicate", "validation", "held", "queued"];

/** Logs a failure, whose error is whatever was thrown, also undefined. */
export function logFailure({ outcome, event, id = "without an id", error }: Failure): void {
  if (error === undefined && ORDINARY.includes(outcome)) return;
  console.error(`Webhook delivery ${id} (${event ?? "unknown event"}): ${outcome}.`, error);
}

export function logSecretsError(error: unknown): void {
  console.error("The webhook secrets could not be read. The last good ones, if any, stay in use.", error);
}

export function logUnrecorded({ id, event, error }: UnrecordedDelivery): void {
  console.error(
    `Webhook delivery ${id} (${event ?? "unknown event"}) was handled, but the dedupe store could not record it. A retry is handled again.`,
    error,
  );
}

/** Returns a function that emits each warning once. They are for the developer: what to change in the program. */
export function warnerOnce(): (warning: string) => void {
  const emitted = new Set<string>();
  return (warning) => {
    if (emitted.has(warning)) return;
    emitted.add(warning);
    // Older Cloudflare Workers have none.
    if (typeof process.emitWarning === "function") process.emitWarning(warning, { code: "WEBHOOK_RECEIVER" });
    else console.warn(warning);
  };
}

/** The warning for the default of `onRejected`. */
export function rejectionWarning({ reason, status }: Rejection): string {
  return (
    `A webhook request was refused (${reason}) and answered ${status}. You see this once for each reason; onRejected is ` +
    "called for every request. The package's docs/signature-mismatch.md explains what to do."
  );
}
