import { VALIDATION_ID } from "../shared/validation";
import { isThenable } from "./limits";
import type { Outcome, Rejection, WorkerOutcome } from "./types";

/** Calls a hook, which can neither fail nor delay the response. */
export function notify<T>(hook: (value: T) => unknown, value: T): void {
  try {
    const result = hook(value);
    if (isThenable(result)) Promise.resolve(result).catch(() => {});
  } catch {
    // A logger's failure must not change the response.
  }
}

/** What each failure means. Of the other outcomes, the sender or the queue needs no help. */
const FAILURES: Readonly<Partial<Record<string, string>>> = {
  failed: "its handler failed, so it will be retried",
  "timed-out": "its handler did not finish in time, so it will be retried",
  "store-unavailable":
    "the dedupe store failed, so no handler was called, and it will be retried. Check that the store runs and its client is connected",
  "queue-unavailable": "the queue did not take it, so it will be retried",
};

/** Logs a failure, whose error is whatever was thrown, also undefined. */
export function logFailure({ outcome, event, id = "without an id", error }: Outcome | WorkerOutcome): void {
  const meaning = FAILURES[outcome];
  if (error === undefined && meaning === undefined) return;
  console.error(
    `Webhook delivery ${id} (${event ?? "unknown event"}): ${meaning ?? outcome} (${outcome}).`,
    error,
  );
}

/** Emits a warning for the developer: what to change in the program. */
export type Warn = (warning: string, kind?: string) => void;

/** Returns a function that emits one warning of each kind, by default each warning once. */
export function warnerOnce(): Warn {
  const emitted = new Set<string>();
  return (warning, kind = warning) => {
    if (emitted.has(kind)) return;
    emitted.add(kind);
    const { navigator } = globalThis as { navigator?: { userAgent?: string } };
    // They have no process warnings, or print none.
    if (navigator?.userAgent === "Cloudflare-Workers") console.warn(warning);
    else process.emitWarning(warning, { code: "WEBHOOK_RECEIVER" });
  };
}

/** The warning for the default of `onRejected`, and its kind. A validation is one of its own: it must not stand for all that come later. */
export function rejectionWarning({
  reason,
  status,
  unverifiedId,
}: Rejection): [warning: string, kind: string] {
  const isValidation = unverifiedId?.startsWith(VALIDATION_ID) === true;
  const warning =
    `A webhook request (${unverifiedId ?? "without an id"}) was refused (${reason}), and the response was ${status}. ` +
    `${isValidation ? "It came from a validation, which sends a broken delivery on purpose, and a genuine one before. " : ""}You see this once for each reason; ` +
    "onRejected is called for every request. node_modules/pulumi-webhook-endpoints/docs/signature-mismatch.md explains what to do.";
  return [warning, `${reason} ${isValidation}`];
}
