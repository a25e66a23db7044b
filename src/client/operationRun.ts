import { type Answer, MalformedAnswer } from "./answer";
import { type Attempt, type AttemptContext, attempt } from "./attempt";
import { sleep } from "./clock";
import type { WebhookError, WebhookErrorCode } from "./errors";
import type { Gate, Pass } from "./gate";
import { type OperationFailure, operationError, type Progress } from "./operationError";
import type { Operation } from "./operations";
import { backoffMs, type FailedVerdict, judge, retryAfterMs } from "./retryPolicy";

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
  /** Once it fires, an attempt under way goes on, but nothing waits or is repeated: what would fails with `ABORTED`. */
  readonly cancelled?: AbortSignal | undefined;
  /** Called right before each attempt: a repeat, or a request that waited for the rate limit, is sent later than the call. */
  readonly onSend?: (() => void) | undefined;
}

/** Carries out one operation: waits for its turn, makes an attempt, judges it, and repeats it if that is right. */
export class OperationRun<T> {
  readonly #progress: Progress = { attempts: 0, attemptTimeoutMs: 0, mayHaveWorked: false };
  #retries = 0;
  /** Time spent in attempts and backoffs, in milliseconds. */
  #spentMs = 0;
  /** Ends a wait. */
  readonly #unwait: AbortSignal;

  constructor(
    private readonly operation: Operation<T>,
    private readonly context: OperationContext,
    private readonly options: OperationOptions,
  ) {
    const ends = [options.signal, options.cancelled, context.cancelled];
    this.#unwait = AbortSignal.any(ends.filter((each) => each !== undefined));
  }

  /** @throws WebhookError */
  async run(): Promise<T> {
    const { operation } = this;
    const { gate, clock } = this.context;
    const ticket = gate.ticket();
    for (;;) {
      const pass = await gate.enter(ticket, this.#unwait);
      if (pass === "aborted") throw this.#aborted();
      if (pass === "stalled") throw this.#error({ code: "RATE_LIMITED" });
      const result = await this.#attempt();
      const askedMs = result.answer && retryAfterMs(result.answer, clock.date());
      const { mayHaveWorked } = this.#progress;
      const verdict = judge(operation.name, result, { askedMs, mayHaveWorked });
      if (verdict.succeeded) {
        pass.letThrough();
        return this.#parse(verdict.answer);
      }
      this.#progress.mayHaveWorked ||= verdict.mayHaveWorked;
      if (verdict.pauseMs !== undefined) {
        this.#pause(verdict, pass, verdict.pauseMs);
        continue;
      }
      if (result.answer) pass.letThrough();
      else pass.lost();
      await this.#backOff(verdict);
    }
  }

  async #attempt(): Promise<Attempt> {
    const { options, clock } = this.context;
    const startedAt = clock.now();
    const timeoutMs = Math.min(LONGEST_ATTEMPT_MS, options.timeoutMs - this.#spentMs);
    this.#progress.attempts += 1;
    this.#progress.attemptTimeoutMs = timeoutMs;
    this.options.onSend?.();
    const result = await attempt(this.operation, this.context, { timeoutMs, signal: this.options.signal });
    this.#progress.last = result;
    this.#spentMs += clock.now() - startedAt;
    return result;
  }

  #parse(answer: Answer): T {
    try {
      return this.operation.parse(answer);
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error;
      this.#progress.mayHaveWorked = true;
      throw this.#error({ code: "MALFORMED_RESPONSE", problem: error.message });
    }
  }

  /**
   * Holds all requests of the client back, as the service asked. This costs neither a retry nor time.
   *
   * @throws WebhookError if there must not be another attempt
   */
  #pause({ code, repeatable, mayHaveWorked }: FailedVerdict, pass: Pass, askedMs: number): void {
    const { options, gate, random } = this.context;
    // A service may ask for no pause, or for too short a one: each refusal in a row lengthens the pause.
    const delayMs = Math.max(askedMs, backoffMs(gate.refusalsInRow, random));
    const { closedGate, stalled } = pass.refused(delayMs);
    const isLast = stalled || options.maxRetries === 0;
    if (closedGate && !isLast) this.#reportWait(code, delayMs);
    if (isLast || !repeatable) throw this.#error({ code, ...(mayHaveWorked && { retryAfterMs: askedMs }) });
  }

  /** Waits before the next attempt. @throws WebhookError if there must not be one */
  async #backOff({ code, repeatable }: FailedVerdict): Promise<void> {
    const { options, clock, random } = this.context;
    const delayMs = backoffMs(this.#retries, random);
    const outOfRetries = this.#retries >= options.maxRetries;
    const outOfTime = delayMs >= options.timeoutMs - this.#spentMs;
    if (!repeatable || outOfRetries || outOfTime) throw this.#error({ code });
    this.#retries += 1;
    this.#spentMs += delayMs;
    this.#reportWait(code, delayMs);
    if ((await sleep(delayMs, { clock, signal: this.#unwait })) === "aborted") throw this.#aborted();
  }

  #reportWait(code: WebhookErrorCode, delayMs: number): void {
    const { name: operation } = this.operation;
    const statusCode = this.#progress.last?.answer?.statusCode;
    const wait = { operation, attempt: this.#progress.attempts, delayMs, code };
    try {
      this.context.options.onWait?.(statusCode === undefined ? wait : { ...wait, statusCode });
    } catch {
      // An observer must not break the operation.
    }
  }

  #aborted(): WebhookError {
    return this.#error({ code: "ABORTED", cause: this.#unwait.reason });
  }

  #error(reason: Omit<OperationFailure, keyof Progress>): WebhookError {
    return operationError(this.operation, { ...this.#progress, ...reason }, this.context.options);
  }
}
