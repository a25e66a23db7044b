import type { Dispatcher } from "undici";
import type { Call } from "./call";
import type { Failed } from "./callError";
import { callError } from "./callError";
import type { Clock } from "./clock";
import { sleep } from "./clock";
import type { Exchanged } from "./exchange";
import { exchange } from "./exchange";
import type { Pass } from "./gate";
import { Gate, mostRefusals } from "./gate";
import { MalformedAnswer } from "./json";
import type { ResolvedOptions } from "./options";
import { requestOf } from "./request";
import { first, serverTime } from "./responseHeaders";
import { backoffMs, retryAfterMs } from "./retryTiming";
import type { Verdict } from "./verdict";
import { judge, malformed } from "./verdict";
import type { WebhookError } from "./webhookError";

const longestAttemptMs = 10_000;

export interface RequesterOptions {
  readonly options: ResolvedOptions;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly random: () => number;
}

/** What one operation has used up of what it may. */
interface Progress {
  readonly ticket: number;
  readonly signal: AbortSignal | undefined;
  attempts: number;
  retries: number;
  refusals: number;
  /** Time in attempts and backoffs, in milliseconds. */
  spentMs: number;
  timeoutMs: number;
  effect: Verdict["effect"];
  last?: Exchanged;
}

/** Carries out operations: a turn at the gate, one attempt, its verdict, and the next attempt where that is right. */
export class Requester {
  readonly #options: ResolvedOptions;
  readonly #dispatcher: Dispatcher;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #gate: Gate;

  constructor({ options, dispatcher, clock, random }: RequesterOptions) {
    this.#options = options;
    this.#dispatcher = dispatcher;
    this.#clock = clock;
    this.#random = random;
    this.#gate = new Gate({ maxConcurrency: options.maxConcurrency, clock });
  }

  /** @throws WebhookError */
  async run<T>(call: Call<T>, signal: AbortSignal | undefined): Promise<T> {
    const ticket = this.#gate.ticket();
    const progress: Progress = {
      ticket,
      signal,
      attempts: 0,
      retries: 0,
      refusals: 0,
      spentMs: 0,
      timeoutMs: 0,
      effect: "none",
    };
    for (;;) {
      const pass = await this.#gate.enter(ticket, signal);
      if (pass === "aborted") throw this.#failure(call, progress, { code: "ABORTED", cause: signal?.reason });
      if (pass === "stalled") throw this.#failure(call, progress, { code: "RATE_LIMITED" });
      const exchanged = await this.#attempt(call, progress);
      const { answer } = exchanged;
      const asked = answer && retryAfterMs(first(answer.headers, "retry-after"), this.#dateOf(exchanged));
      const verdict = judge(call.operation, exchanged, asked);
      if (!verdict && answer) {
        pass.letThrough();
        return this.#read(call, progress, () => call.read(answer));
      }
      if (!verdict) throw new TypeError("an exchange without answer or failure");
      if (verdict.retry === "pause") {
        this.#pause(call, progress, { verdict, pass, askedMs: asked ?? 0 });
        continue;
      }
      if (answer) pass.letThrough();
      else pass.lost();
      if (verdict.code === "NOT_FOUND" && progress.effect === "possible" && call.alreadyDone)
        return call.alreadyDone();
      if (verdict.effect === "possible") progress.effect = "possible";
      await this.#backOff(call, progress, verdict);
    }
  }

  async #attempt(call: Call<unknown>, progress: Progress): Promise<Exchanged> {
    const { timeoutMs, maxResponseBytes } = this.#options;
    const startedAt = this.#clock.now();
    progress.attempts += 1;
    progress.timeoutMs = Math.min(longestAttemptMs, timeoutMs - progress.spentMs);
    progress.last = await exchange({
      dispatcher: this.#dispatcher,
      request: requestOf(call, this.#options),
      timeoutMs: progress.timeoutMs,
      maxResponseBytes,
      signal: progress.signal,
      clock: this.#clock,
    });
    progress.spentMs += this.#clock.now() - startedAt;
    return progress.last;
  }

  #read<T>(call: Call<T>, progress: Progress, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error;
      progress.effect = malformed.effect;
      throw this.#failure(call, progress, { code: malformed.code, problem: error.message });
    }
  }

  /** The service said "later": nobody of this client asks again before. Costs no retry and no time. */
  #pause(
    call: Call<unknown>,
    progress: Progress,
    { verdict, pass, askedMs }: { verdict: Verdict; pass: Pass; askedMs: number },
  ): void {
    // Against a service that asks for no time or too little: longer each time that nothing gets through.
    const delayMs = Math.max(askedMs, backoffMs(this.#gate.refusalsInRow, this.#random));
    const { closedGate, stalled } = pass.refused(delayMs);
    progress.refusals += 1;
    if (stalled || progress.refusals >= mostRefusals || this.#options.maxRetries === 0) {
      throw this.#failure(call, progress, verdict);
    }
    if (closedGate) this.#tellWait(call, progress, { verdict, delayMs });
  }

  /** Waits before the next attempt. @throws WebhookError when there is to be none */
  async #backOff(call: Call<unknown>, progress: Progress, verdict: Verdict): Promise<void> {
    const harmless = call.operation !== "register" || verdict.effect === "none";
    const delayMs = backoffMs(progress.retries, this.#random);
    const left = this.#options.maxRetries - progress.retries;
    const leftMs = this.#options.timeoutMs - progress.spentMs;
    if (verdict.retry === "never" || !harmless || left <= 0 || delayMs >= leftMs) {
      throw this.#failure(call, progress, verdict);
    }
    progress.retries += 1;
    progress.spentMs += delayMs;
    this.#tellWait(call, progress, { verdict, delayMs });
    if ((await sleep(delayMs, { clock: this.#clock, signal: progress.signal })) === "aborted") {
      throw this.#failure(call, progress, { code: "ABORTED", cause: progress.signal?.reason });
    }
  }

  #tellWait(
    { operation }: Call<unknown>,
    { attempts, last }: Progress,
    { verdict, delayMs }: { verdict: Verdict; delayMs: number },
  ): void {
    const statusCode = last?.answer?.statusCode;
    try {
      this.#options.onWait?.({
        operation,
        attempt: attempts,
        delayMs,
        code: verdict.code,
        ...(statusCode !== undefined && { statusCode }),
      });
    } catch {
      // Who only watches must not make what he watches fail.
    }
  }

  /** The date on the clock that a date in the answer's headers is meant on. */
  #dateOf({ answer }: Exchanged): number {
    return (answer && serverTime(answer.headers)) ?? this.#clock.date();
  }

  #failure(
    call: Call<unknown>,
    { attempts, effect, last, timeoutMs }: Progress,
    { code, problem, cause }: Pick<Failed, "code" | "problem" | "cause">,
  ): WebhookError {
    const failed = {
      code,
      effect,
      attempts,
      timeoutMs,
      cause,
      ...(last && { last }),
      ...(problem && { problem }),
    };
    return callError(call, failed, this.#options);
  }
}
