import { CodedError } from "../shared/codedError";
import { inTime } from "./deadline";
import type { TrackedDelivery } from "./delivery";
import type { Warn } from "./reports";
import type { OutcomeKind } from "./types";

/** What became of a delivery. */
export interface Processed {
  readonly outcome: OutcomeKind;
  readonly retryAfterMs?: number;
  readonly error?: unknown;
}

/** A handler did not settle in time. It is the reason of its delivery's `signal`. */
class DeadlineError extends CodedError<"HANDLER_DEADLINE"> {
  override readonly name = "DeadlineError";

  constructor(milliseconds: number) {
    super(
      "HANDLER_DEADLINE",
      `The handler took longer than ${milliseconds} ms. Hand long work to a queue, or raise handlerTimeoutMs.`,
    );
  }
}

interface RunOptions {
  readonly handlerTimeoutMs: number;
  readonly warn: Warn;
  /** Tells the handler to stop before its deadline. */
  readonly signal?: AbortSignal | undefined;
  /** Called if the handler finishes after its deadline without having looked at its signal. */
  readonly onLate?: () => Promise<void>;
}

/** Calls a handler, and fires its delivery's signal at the deadline, or when it is told to stop. Never rejects. */
export async function run(
  work: () => unknown,
  delivery: TrackedDelivery,
  { handlerTimeoutMs, warn, signal, onLate }: RunOptions,
): Promise<Processed> {
  // A claim may have taken so long that the handler would only start after it was told to stop.
  if (signal?.aborted) return { outcome: "failed", error: signal.reason };
  const stop = () => delivery.expire(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  const working = finished(work, warn);
  try {
    await inTime(() => new DeadlineError(handlerTimeoutMs), handlerTimeoutMs, working);
    // It may have resolved because it was told to stop, with its work half done.
    if (signal?.aborted && delivery.isWatched()) return { outcome: "failed", error: signal.reason };
    return { outcome: "handled" };
  } catch (error) {
    if (!(error instanceof DeadlineError)) return { outcome: "failed", error };
    delivery.expire(error);
    // A handler that watches its signal may have resolved because it stopped; then the retry is handled again.
    const finish = () => (delivery.isWatched() ? undefined : onLate?.());
    working.then(finish).catch(() => {});
    return { outcome: "timed-out", error };
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

async function finished(work: () => unknown, warn: Warn): Promise<void> {
  checkResult(await work(), "a handler", warn);
}

/**
 * Checks what a handler, or a queue's `add`, resolved with. Only a `Response` with `ok: false` is a failure: `fetch` resolves with one.
 * Warns of an object that runs only when it is told to, such as an Observable or a query.
 * @param what which of them, for the message
 * @throws TypeError
 */
export function checkResult(result: unknown, what: "a handler" | "the queue's add", warn: Warn): void {
  if (typeof result !== "object" || result === null) return;
  const object = result as Readonly<Record<string, unknown>>;
  // By its tag: undici and node-fetch have classes of their own, and Hono's server replaces the global one.
  if (Object.prototype.toString.call(result) === "[object Response]" && object.ok === false)
    throw new TypeError(
      `What ${what} returned is a Response with status ${object.status}, so it counts as failed.`,
    );
  const runs = ["subscribe", "execute"].find((name) => typeof object[name] === "function");
  if (runs !== undefined)
    warn(
      `What ${what} returned has a function ${runs}, so it may never have run, and the delivery counts as done. ` +
        "Await its end: return lastValueFrom(observable), or what execute() returns.",
    );
}
