import { isPromise } from "./deadline";
import type { Outcome, Rejection } from "./types";

/** Who is told what happened. None is given a secret, a header or the body; what one throws is dropped. */
export interface ReceiverHooks {
  /** Each request that was refused before any handler could run. Default: the first for each reason is a process warning. */
  readonly onRejected?: ((rejection: Rejection) => unknown) | undefined;
  /** What became of each verified delivery. Default: failures go to `console.error`. */
  readonly onOutcome?: ((outcome: Outcome) => unknown) | undefined;
  /** The secrets could not be read anew. Default: `console.error`. */
  readonly onSecretsError?: ((error: unknown) => unknown) | undefined;
}

/** Tells a hook, which can neither fail nor delay the answer. */
export function tell<T>(hook: (value: T) => unknown, value: T): void {
  try {
    const told = hook(value);
    if (isPromise(told)) told.then(undefined, ignore);
  } catch {
    // A logger's failure is no reason to answer the sender otherwise.
  }
}

function ignore(): void {}

export function logFailure({ outcome, event, id, error }: Outcome): void {
  if (outcome !== "failed" && error === undefined) return;
  console.error(`Webhook delivery ${id} (${event ?? "of no event"}): ${outcome}.`, error);
}

export function logSecretsError(error: unknown): void {
  console.error("The webhook secrets could not be read; those read before, if any, stay in use.", error);
}

export function warnOfFirst({ reason, status, advice }: Rejection): void {
  if (advice !== undefined) return; // which is a warning of its own
  warnOnce(
    `A webhook request was refused (${reason}) and answered ${status}. This is said once for each reason; onRejected is ` +
      "told of every request. The package's docs/signature-mismatch.md says what to do.",
  );
}

const warned = new Set<string>();

/** Says once in a process what its developer has to change. */
export function warnOnce(advice: string): void {
  if (warned.has(advice)) return;
  warned.add(advice);
  process.emitWarning(advice, { code: "WEBHOOK_RECEIVER" });
}
