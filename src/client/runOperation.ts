import { type Attempt, type ClientContext, exchange } from "./attempt";
import { sleep } from "./clock";
import type { WebhookErrorCode } from "./errors";
import type { Operation } from "./operation";
import { operationError } from "./operationError";
import { backoffMs, judge, retryAfterMs } from "./retryPolicy";

const LONGEST_ATTEMPT_MS = 10_000;
/** The timer that ends an attempt may fire so much too early. The rest is too short for another one. */
const TIMER_SLACK_MS = 1;

/** Options of one operation of the client. */
export interface OperationOptions {
  /** Ends the operation at once: it fails with `ABORTED` and the signal's reason as `cause`. */
  readonly signal?: AbortSignal | undefined;
  /** Called right before each attempt: a repeat, or a request that waited for the rate limit, is sent later than the call. */
  readonly onSend?: (() => void) | undefined;
  /** Called if the success of a delete rests on a 404 or 410, after an attempt that may have worked. */
  readonly onDenied?: (() => void) | undefined;
}

/**
 * Carries out one operation: waits for its turn, makes an attempt, judges it, and repeats it if that is right.
 *
 * @throws WebhookError
 */
export async function runOperation<T>(
  operation: Operation<T>,
  context: ClientContext,
  { signal, onSend }: OperationOptions,
): Promise<T> {
  const { gate, clock, random, options } = context;
  const ending = AbortSignal.any([signal, context.cancelled].filter((each) => each !== undefined));
  let [attempts, retries, mayHaveWorked, wasForbidden] = [0, 0, false, false];
  let last: Attempt | undefined;
  /** What is left for attempts and backoffs, in milliseconds. */
  let leftMs = options.timeoutMs;
  const failed = (code: WebhookErrorCode, cause?: unknown) =>
    operationError(operation, { code, attempts, last, mayHaveWorked, cause });
  const reportWait = (code: WebhookErrorCode, delayMs: number) => {
    const statusCode = last?.response?.status;
    options.onWait?.({ operation: operation.name, attempt: attempts, delayMs, code, statusCode });
  };

  await gate.enter(ending);
  try {
    for (;;) {
      await gate.whenOpen(ending);
      if (ending.aborted) throw failed("ABORTED", ending.reason);
      if (gate.hasStalled) throw failed("RATE_LIMITED");

      const startedAt = clock.now();
      attempts += 1;
      onSend?.();
      const timeoutMs = Math.min(LONGEST_ATTEMPT_MS, leftMs);
      last = await exchange(operation, context, { timeoutMs, signal });
      leftMs -= clock.now() - startedAt;

      const askedMs = last.response && retryAfterMs(last.response, clock.date());
      const verdict = judge(operation.name, last, { askedMs, mayHaveWorked, wasForbidden });
      mayHaveWorked ||= verdict.succeeded || verdict.mayHaveWorked;
      if (verdict.succeeded) {
        gate.pauses = 0;
        try {
          return operation.parse(verdict.response);
        } catch (error) {
          throw failed("MALFORMED_RESPONSE", error);
        }
      }

      const { code, repeatable, pauseMs } = verdict;
      if (pauseMs !== undefined) {
        // The pause holds for all requests of the client, and costs neither a retry nor time. A service may ask for no pause,
        // or for too short a one: each refusal in a row lengthens it.
        const delayMs = Math.max(pauseMs, backoffMs(gate.pauses, random));
        const isFirst = gate.pause(delayMs);
        wasForbidden ||= code === "UNAUTHORIZED";
        if (!repeatable || options.maxRetries === 0 || gate.hasStalled) throw failed(code);
        if (isFirst) reportWait(code, delayMs);
        continue;
      }
      if (last.response) gate.pauses = 0;
      const delayMs = backoffMs(retries, random);
      if (!repeatable || retries >= options.maxRetries || delayMs + TIMER_SLACK_MS >= leftMs)
        throw failed(code);
      retries += 1;
      leftMs -= delayMs;
      reportWait(code, delayMs);
      // If this is aborted, so is the wait that comes next.
      await sleep(delayMs, { clock, signal: ending });
    }
  } finally {
    gate.leave();
  }
}
