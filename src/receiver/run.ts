import { DeadlineError, isThenable, LATE, within } from "./deadline";
import type { VerifiedDelivery } from "./delivery";
import { checkRan } from "./handlers";
import type { Processed } from "./process";

export interface RunOptions {
  readonly timeoutMs: number;
  /** Tells the handler to stop before its deadline. */
  readonly signal?: AbortSignal | undefined;
  /** Called if the handler finishes after its deadline without having used its signal. */
  readonly onLate?: (() => Promise<void>) | undefined;
}

const HANDLED: Processed = { outcome: "handled" };

/** Calls a handler, and fires its delivery's signal at the deadline, or when it is told to stop. Never rejects. */
export async function run(
  work: () => unknown,
  delivery: VerifiedDelivery,
  { timeoutMs, signal, onLate }: RunOptions,
): Promise<Processed> {
  const stop = () => delivery.expire(stopReason(signal));
  if (signal?.aborted) stop();
  else signal?.addEventListener("abort", stop, { once: true });
  try {
    const started = work();
    const working = isThenable(started) ? Promise.resolve(started) : undefined;
    const result = working === undefined ? started : await within(timeoutMs, working);
    if (working === undefined || result !== LATE) {
      checkRan(result);
      // It may have resolved because it was told to stop, with its work half done.
      if (signal?.aborted && delivery.isWatched) return { outcome: "failed", error: stopReason(signal) };
      return HANDLED;
    }
    const error = new DeadlineError(timeoutMs);
    delivery.expire(error);
    const finish = (late: unknown) => {
      checkRan(late);
      // A handler that watches its signal may have resolved because it stopped; then the retry is handled again.
      return delivery.isWatched ? undefined : onLate?.();
    };
    working.then(finish).catch(() => {});
    return { outcome: "timed-out", error };
  } catch (error) {
    return { outcome: "failed", error };
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

function stopReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("The worker was told to stop.", { cause: reason });
}
