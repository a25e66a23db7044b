import type { Clock } from "./clock";

/** So many refusals in a row, with nothing of the client let through in between, and no request waits any longer. */
export const mostRefusals = 10;

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
 * refusal (429) closes the gate for everybody until the service is ready again; then one request goes first, and more
 * follow as in TCP's slow start: twice as many each round up to half of what was under way at the last refusal, from
 * there one more a round. The oldest goes first, also when it comes back.
 */
export class Gate {
  readonly #maxConcurrency: number;
  readonly #clock: Clock;
  readonly #queue: Waiting[] = [];
  #width: number;
  #slowStartUntil: number;
  #underWay = 0;
  #opensAt = 0;
  #alarm: (() => void) | undefined;
  /** Counts how often the gate was closed: what was sent before says nothing of the time after. */
  #closings = 0;
  #refusalsInRow = 0;
  #tickets = 0;

  constructor({ maxConcurrency, clock }: { maxConcurrency: number; clock: Clock }) {
    this.#maxConcurrency = maxConcurrency;
    this.#width = maxConcurrency;
    this.#slowStartUntil = maxConcurrency;
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
        if (closings === this.#closings) this.#widen();
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

  #widen(): void {
    const step = this.#width < this.#slowStartUntil ? 1 : 1 / this.#width;
    this.#width = Math.min(this.#maxConcurrency, this.#width + step);
  }

  #close(): void {
    this.#closings += 1;
    this.#refusalsInRow += 1;
    this.#slowStartUntil = Math.max(1, Math.floor(this.#width / 2));
    this.#width = 1;
  }

  #admit(): void {
    while (this.#queue.length > 0 && this.#underWay < Math.floor(this.#width)) {
      const closedMs = this.#opensAt - this.#clock.now();
      if (closedMs > 0) {
        this.#alarm ??= this.#clock.after(closedMs, () => {
          this.#alarm = undefined;
          this.#admit();
        });
        return;
      }
      this.#underWay += 1;
      this.#queue.shift()?.admit(this.#pass());
    }
  }
}
