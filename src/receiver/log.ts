import { foreign } from "../shared/escape";
import { VALIDATION_ID } from "../signature/event";
import type { Outcome, Rejection, WorkerOutcome } from "./types";

/** What each failure means. Of the other outcomes, the sender or the queue needs no help. */
const FAILURES: Readonly<Partial<Record<string, string>>> = {
  failed: "its handler failed",
  "timed-out": "its handler did not finish in time",
  "store-unavailable":
    "the dedupe store failed (check that it runs and its client is connected), so no handler was called",
  "queue-unavailable": "the queue did not take it",
};

/** Logs a failure, whose error is whatever was thrown, also undefined. */
export function logFailure({ outcome, event, id = "without an id", error }: Outcome | WorkerOutcome): void {
  const meaning = FAILURES[outcome];
  if (error === undefined && meaning === undefined) return;
  const result = meaning === undefined ? outcome : `${meaning}, so it will be retried`;
  console.error(
    `Webhook delivery ${foreign(id)} (${foreign(event ?? "unknown event")}): ${result} (${outcome}).`,
    error,
  );
}

/** Writes a line for whoever runs the receiver, or wrote it. It never has a secret, a header or a body. */
export type Log = (
  kind: string,
  line: string,
  options?: { readonly pauseMs?: number; readonly details?: readonly unknown[] },
) => void;

/**
 * Returns a function that writes to `console.error`, because people silence the warnings of a process: the first line of each kind at once,
 * and the next after a minute, with how many there were in between. It compares times, as a timer would keep a process alive.
 */
export function createLog(): Log {
  const kinds = new Map<string, { readonly at: number; readonly left: number }>();
  return (kind, line, { pauseMs = 60_000, details = [] } = {}) => {
    const now = performance.now();
    const { at, left } = kinds.get(kind) ?? { at: -pauseMs, left: 0 };
    const isDue = now - at >= pauseMs;
    kinds.set(kind, isDue ? { at: now, left: 0 } : { at, left: left + 1 });
    if (isDue)
      console.error(left === 0 ? line : `${line} Since the last such line: ${left} more.`, ...details);
  };
}

/** The options of a line that is written once. */
export const ONCE = { pauseMs: Number.POSITIVE_INFINITY };

/** What anybody who scans the internet causes. */
const OF_SCANNERS: readonly Rejection["reason"][] = ["method", "size", "incomplete-body"];

/** The default of `onRejected`. A validation is a kind of its own: it must not stand for all that come later. */
export function logRejection({ reason, status, unverifiedId, advice }: Rejection, log: Log): void {
  // The advice is a line of its own.
  if (advice !== undefined) return;
  const isValidation = unverifiedId?.startsWith(VALIDATION_ID) === true;
  const isOnce = OF_SCANNERS.includes(reason);
  log(
    `${reason} ${isValidation}`,
    `A webhook request (${foreign(unverifiedId ?? "without an id")}) was refused (${reason}), and the response was ${status}. ` +
      `${isValidation ? "It is what a validation sends on purpose. " : ""}` +
      `Logged once${isOnce ? "" : " a minute"} for each reason; onRejected gets all. ` +
      "See node_modules/pulumi-webhook-endpoints/docs/signature-mismatch.md.",
    isOnce ? ONCE : {},
  );
}
