import { MalformedAnswer } from "./answer";
import { type AttemptContext, exchange } from "./attempt";
import { sleep } from "./clock";
import type { WebhookErrorCode } from "./errors";
import type { Gate } from "./gate";
import { type OperationFailure, operationError, type Progress } from "./operationError";
import type { Operation } from "./operations";
import { backoffMs, judge, retryAfterMs } from "./retryPolicy";

/** In milliseconds. */
const LONGEST_ATTEMPT_MS = 10_000;

/** What the operations of one client share. */
export interface OperationContext extends AttemptContext {
  readonly gate: Gate;
  readonly random: () => number;
  /** Ends every wait, but no attempt. */
  readonly cancelled: AbortSignal | undefined;
}

/** Options of one operation of the client. */
export interface OperationOptions {
  /** Ends the operation at once: it fails with `ABORTED` and the signal's reason as `cause`. */
  readonly signal?: AbortSignal | undefined;
  /** Called right before each attempt: a repeat, or a request that waited for the rate limit, is sent later than the call. */
  readonly onSend?: (() => void) | undefined;
}

/**
 * Carries out one operation: waits for its turn, makes an attempt, judges it, and repeats it if that is right.
 *
 * @throws WebhookError
 */
export async function runOperation<T>(
  operation: Operation<T>,
  context: OperationContext,
  { signal, onSend }: OperationOptions,
): Promise<T> {
  const { gate, clock, random, options } = context;
  const ends = [signal, context.cancelled].filter((each) => each !== undefined);
  const unwait = AbortSignal.any(ends);
  const progress: Progress = { attempts: 0, attemptTimeoutMs: 0, mayHaveWorked: false };
  const failed = (reason: Omit<OperationFailure, keyof Progress>) =>
    operationError(operation, { ...progress, ...reason }, options);
  const reportWait = (code: WebhookErrorCode, delayMs: number) => {
    const statusCode = progress.last?.answer?.statusCode;
    const wait = { operation: operation.name, attempt: progress.attempts, delayMs, code };
    try {
      options.onWait?.(statusCode === undefined ? wait : { ...wait, statusCode });
    } catch {
      // An observer must not break the operation.
    }
  };

  let retries = 0;
  /** What is left for attempts and backoffs, in milliseconds. */
  let leftMs = options.timeoutMs;
  for (;;) {
    const entry = await gate.enter(unwait);
    if (entry === "aborted") throw failed({ code: "ABORTED", cause: unwait.reason });
    if (entry === "stalled") throw failed({ code: "RATE_LIMITED" });

    const startedAt = clock.now();
    const timeoutMs = Math.min(LONGEST_ATTEMPT_MS, leftMs);
    progress.attempts += 1;
    progress.attemptTimeoutMs = timeoutMs;
    onSend?.();
    const result = await exchange(operation, context, { timeoutMs, signal });
    leftMs -= clock.now() - startedAt;
    progress.last = result;

    const askedMs = result.answer && retryAfterMs(result.answer, clock.date());
    const verdict = judge(operation.name, result, { askedMs, mayHaveWorked: progress.mayHaveWorked });
    if (verdict.succeeded) {
      gate.leave({ letThrough: true });
      try {
        return operation.parse(verdict.answer);
      } catch (error) {
        if (!(error instanceof MalformedAnswer)) throw error;
        progress.mayHaveWorked = true;
        throw failed({ code: "MALFORMED_RESPONSE", problem: error.message });
      }
    }

    const { code, repeatable, pauseMs } = verdict;
    progress.mayHaveWorked ||= verdict.mayHaveWorked;
    if (pauseMs === undefined) {
      gate.leave({ letThrough: result.answer !== undefined });
      const delayMs = backoffMs(retries, random);
      if (!repeatable || retries >= options.maxRetries || delayMs >= leftMs) throw failed({ code });
      retries += 1;
      leftMs -= delayMs;
      reportWait(code, delayMs);
      // If this is aborted, so is the next wait for a turn.
      await sleep(delayMs, { clock, signal: unwait });
    } else {
      // The pause holds for all requests of the client, and costs neither a retry nor time. A service may ask for no pause,
      // or for too short a one: each refusal in a row lengthens it.
      const delayMs = Math.max(pauseMs, backoffMs(gate.refusals, random));
      const { closedGate, stalled } = gate.refuse(delayMs);
      if (!repeatable || stalled || options.maxRetries === 0) throw failed({ code });
      if (closedGate) reportWait(code, delayMs);
    }
  }
}
