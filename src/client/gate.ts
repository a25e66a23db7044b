import type { Clock } from "./clock";

/**
 * A client has stalled after so many refusals in a row, over so many milliseconds or longer, with no request let through
 * in between. The time counts too, because a service that refuses most requests refuses many in a row.
 */
export const STALLED_REFUSALS = 10;
const STALLED_MS = 60_000;

/** The interval between two requests, in milliseconds: it doubles with a refusal, and shrinks with a success. */
const FIRST_INTERVAL_MS = 50;
const LONGEST_INTERVAL_MS = 1_000;
const SHRINK_FACTOR = 0.96;
/** A shorter interval is none, in milliseconds. */
const SHORTEST_INTERVAL_MS = 1;

export interface Refusal {
  /** True if this refusal closed the gate; the other refusals of one burst share its pause. */
  readonly closedGate: boolean;
  /** True if the client has stalled, so that waiting is pointless. */
  readonly stalled: boolean;
}

/** The right to send one request. Call exactly one of its methods when the request has ended. */
export interface Pass {
  /** The service handled the request, successfully or not. */
  letThrough(): void;
  /** The request had no answer, which says nothing about the rate that the service accepts. */
  lost(): void;
  /** The service asked for a pause, in milliseconds. */
  refused(pauseMs: number): Refusal;
}

interface Waiting {
  readonly ticket: number;
  readonly admit: (entry: Pass | "stalled") => void;
}

/**
 * Decides when each request of a client is sent. At most `maxConcurrency` are under way. A refusal (429) closes the gate
 * for all of them until the service is ready again. Then one request probes it, and after the probe is let through the
 * others follow at an interval that doubles with each refusal and shrinks with each success. (The gate adapts the rate
 * rather than the number under way, because services limit the rate.) The oldest request goes first, repeats included.
 */
export class Gate {
  readonly #queue: Waiting[] = [];
  #underWay = 0;
  #opensAt = Number.NEGATIVE_INFINITY;
  #intervalMs = 0;
  #admittedAt = Number.NEGATIVE_INFINITY;
  /** From a refusal until the next success: one request at a time. */
  #probing = false;
  /** Cancels the timer of the next turn. */
  #cancelAlarm = () => {};
  /** How often the gate was closed: the result of a request sent before a closing says nothing about the time after it. */
  #closings = 0;
  /** How often the gate was closed since a request was last let through. */
  refusalsInRow = 0;
  /** When the first refusal in a row came. */
  #refusedSince = 0;
  #tickets = 0;

  constructor(private readonly options: { readonly maxConcurrency: number; readonly clock: Clock }) {}

  /** Returns a place in the order of requests, which all attempts of an operation keep. */
  ticket(): number {
    this.#tickets += 1;
    return this.#tickets;
  }

  enter(ticket: number, signal: AbortSignal | undefined): Promise<Pass | "aborted" | "stalled"> {
    return new Promise((resolve) => {
      if (signal?.aborted) {
        resolve("aborted");
        return;
      }
      const abort = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        resolve("aborted");
        this.#admit();
      };
      const waiting: Waiting = {
        ticket,
        admit: (entry) => {
          signal?.removeEventListener("abort", abort);
          resolve(entry);
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      const place = this.#queue.findLastIndex((other) => other.ticket < ticket) + 1;
      this.#queue.splice(place, 0, waiting);
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
        this.refusalsInRow = 0;
        if (closings === this.#closings) this.#speedUp();
        leave();
      },
      refused: (pauseMs) => {
        const now = this.options.clock.now();
        this.#opensAt = Math.max(this.#opensAt, now + pauseMs);
        const closedGate = closings === this.#closings;
        if (closedGate) this.#close(now);
        const stalled = this.refusalsInRow >= STALLED_REFUSALS && now - this.#refusedSince >= STALLED_MS;
        if (stalled) for (const waiting of this.#queue.splice(0)) waiting.admit("stalled");
        leave();
        return { closedGate, stalled };
      },
    };
  }

  #speedUp(): void {
    this.#probing = false;
    const intervalMs = this.#intervalMs * SHRINK_FACTOR;
    this.#intervalMs = intervalMs < SHORTEST_INTERVAL_MS ? 0 : intervalMs;
  }

  #close(now: number): void {
    this.#closings += 1;
    if (this.refusalsInRow === 0) this.#refusedSince = now;
    this.refusalsInRow += 1;
    // The refusal of a probe means "not yet", and says nothing about the rate.
    if (this.#probing) return;
    this.#probing = true;
    this.#intervalMs = Math.min(LONGEST_INTERVAL_MS, Math.max(FIRST_INTERVAL_MS, this.#intervalMs * 2));
  }

  /** Admits whom it may, and sets a timer only while somebody has to wait for it: a timer keeps the process alive. */
  #admit(): void {
    this.#cancelAlarm();
    while (this.#queue.length > 0 && this.#underWay < (this.#probing ? 1 : this.options.maxConcurrency)) {
      const now = this.options.clock.now();
      const waitMs = Math.max(this.#opensAt, this.#admittedAt + this.#intervalMs) - now;
      if (waitMs > 0) {
        this.#cancelAlarm = this.options.clock.after(waitMs, () => this.#admit());
        return;
      }
      this.#underWay += 1;
      this.#admittedAt = now;
      this.#queue.shift()?.admit(this.#pass());
    }
  }
}
