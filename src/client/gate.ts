import { type Clock, sleep } from "./clock";

/** A client has stalled once the service refused it this often and for so many milliseconds, and let no request through. */
const STALLED_PAUSES = 3;
const STALLED_MS = 60_000;

/** Limits how many operations of a client are under way, and holds the pause that the service asks all of them for. */
export class Gate {
  readonly #waiting = new Set<() => void>();
  #inside = 0;
  #opensAt = Number.NEGATIVE_INFINITY;
  #pausedSince = 0;
  /** How many pauses the service has asked for since it last let a request through. */
  pauses = 0;

  constructor(private readonly options: { readonly maxConcurrency: number; readonly clock: Clock }) {}

  /** Waits for a turn, in the order of arrival. An abort ends the wait. Call `leave` once after either. */
  enter(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const enter = () => {
        this.#waiting.delete(enter);
        signal.removeEventListener("abort", enter);
        this.#inside += 1;
        resolve();
      };
      this.#waiting.add(enter);
      signal.addEventListener("abort", enter);
      if (signal.aborted) enter();
      else this.#admit();
    });
  }

  leave(): void {
    this.#inside -= 1;
    this.#admit();
  }

  #admit(): void {
    for (const enter of this.#waiting) {
      if (this.#inside >= this.options.maxConcurrency) return;
      enter();
    }
  }

  /** Begins a pause, or prolongs the one that is on. Returns true if it begins one. */
  pause(pauseMs: number): boolean {
    const now = this.options.clock.now();
    const begins = now >= this.#opensAt;
    if (begins && this.pauses === 0) this.#pausedSince = now;
    if (begins) this.pauses += 1;
    this.#opensAt = Math.max(this.#opensAt, now + pauseMs);
    return begins;
  }

  /** True in a pause that is not worth waiting for. */
  get hasStalled(): boolean {
    const now = this.options.clock.now();
    const isLong = this.pauses >= STALLED_PAUSES && now - this.#pausedSince >= STALLED_MS;
    return isLong && now < this.#opensAt;
  }

  /** Waits until the pause is over, the signal is aborted, or the client has stalled. */
  async whenOpen(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    for (;;) {
      const waitMs = this.#opensAt - clock.now();
      if (waitMs <= 0 || signal.aborted || this.hasStalled) return;
      await sleep(waitMs, { clock, signal });
    }
  }
}
