import type { Clock } from "./clock";

/** So many refusals in a row, with nothing of the client let through in between, and no request waits any longer. */
export const mostRefusals = 10;

/** Pacing after the first refusal, in milliseconds between two requests: it doubles at each, and shrinks by success. */
const firstIntervalMs = 50;
const longestIntervalMs = 5_000;
const intervalAfterSuccess = 0.96;
/** Below this a client is not paced any more, in milliseconds. */
const noIntervalMs = 1;

export interface Refusal {
  /** Whether this one closed the gate; the other refusals of one burst share its wait. */
  readonly closedGate: boolean;
  /** Whether waiting has become pointless. */
  readonly stalled: boolean;
}

/** The right to send one request. Exactly one of these is called, when the request is over. */
export interface Pass {
  /** The service dealt with it, well or not. */
  letThrough(): void;
  /** Nobody knows what the service made of it: it says nothing of how much the service can take. */
  lost(): void;
  /** The service asked for a pause, in milliseconds. */
  refused(pauseMs: number): Refusal;
}

interface Waiting {
  readonly ticket: number;
  readonly admit: (entry: Pass | "stalled") => void;
}

/**
 * Decides when a request of a client goes out: one gate for all of them. At most `maxConcurrency` are under way. A
 * refusal (429) closes the gate for everybody until the service is ready again. Then one request goes ahead, and once
 * it is let through the others follow at an interval: twice as long after each refusal, a little shorter after each
 * success. (What is adapted is a rate and not the number under way, since what services limit is a rate.) The oldest
 * goes first, also when it comes back.
 */
export class Gate {
  readonly #maxConcurrency: number;
  readonly #clock: Clock;
  readonly #queue: Waiting[] = [];
  #underWay = 0;
  #opensAt = Number.NEGATIVE_INFINITY;
  #intervalMs = 0;
  #admittedAt = Number.NEGATIVE_INFINITY;
  /** From a refusal until the next success: one request at a time. */
  #probing = false;
  #alarm: (() => void) | undefined;
  /** Counts how often the gate was closed: what was sent before says nothing of the time after. */
  #closings = 0;
  #refusalsInRow = 0;
  #tickets = 0;

  constructor({ maxConcurrency, clock }: { maxConcurrency: number; clock: Clock }) {
    this.#maxConcurrency = maxConcurrency;
    this.#clock = clock;
  }

  /** How often the gate was closed since a request was last let through. */
  get refusalsInRow(): number {
    return this.#refusalsInRow;
  }

  /** A place in the order of requests, to be kept for all attempts of one. */
  ticket(): number {
    this.#tickets += 1;
    return this.#tickets;
  }

  /** Waits for a turn. */
  enter(ticket: number, signal: AbortSignal | undefined): Promise<Pass | "aborted" | "stalled"> {
    return new Promise((resolve) => {
      if (signal?.aborted) {
        resolve("aborted");
        return;
      }
      const abort = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        resolve("aborted");
      };
      const waiting: Waiting = {
        ticket,
        admit: (entry) => {
          signal?.removeEventListener("abort", abort);
          resolve(entry);
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      const younger = this.#queue.findLastIndex((other) => other.ticket < ticket) + 1;
      this.#queue.splice(younger, 0, waiting);
      this.#admit();
    });
  }

  #pass(): Pass {
    const closings = this.#closings;
    const leave = () => {
      this.#underWay -= 1;
      this.#admit();
    };
    return {
      lost: leave,
      letThrough: () => {
        this.#refusalsInRow = 0;
        if (closings === this.#closings) this.#speedUp();
        leave();
      },
      refused: (pauseMs) => {
        this.#opensAt = Math.max(this.#opensAt, this.#clock.now() + pauseMs);
        const closedGate = closings === this.#closings;
        if (closedGate) this.#close();
        const stalled = this.#refusalsInRow >= mostRefusals;
        if (stalled) for (const waiting of this.#queue.splice(0)) waiting.admit("stalled");
        leave();
        return { closedGate, stalled };
      },
    };
  }

  #speedUp(): void {
    this.#probing = false;
    const intervalMs = this.#intervalMs * intervalAfterSuccess;
    this.#intervalMs = intervalMs < noIntervalMs ? 0 : intervalMs;
  }

  #close(): void {
    this.#closings += 1;
    this.#refusalsInRow += 1;
    // That a request alone was refused says "not yet", and nothing of the pace.
    if (this.#probing) return;
    this.#probing = true;
    this.#intervalMs = Math.min(longestIntervalMs, Math.max(firstIntervalMs, this.#intervalMs * 2));
  }

  #admit(): void {
    while (this.#queue.length > 0 && this.#underWay < (this.#probing ? 1 : this.#maxConcurrency)) {
      const now = this.#clock.now();
      const waitMs = Math.max(this.#opensAt, this.#admittedAt + this.#intervalMs) - now;
      if (waitMs > 0) {
        this.#alarm ??= this.#clock.after(waitMs, () => {
          this.#alarm = undefined;
          this.#admit();
        });
        return;
      }
      this.#underWay += 1;
      this.#admittedAt = now;
      this.#queue.shift()?.admit(this.#pass());
    }
  }
}
