import type { Clock } from "./clock";

/** A client has stalled once the service refused it this often and for so many milliseconds, and let no request through. */
const STALLED_REFUSALS = 3;
const STALLED_MS = 60_000;

/** How waiting for a turn ended. In a client that has stalled, waiting is pointless. */
export type Entry = "admitted" | "aborted" | "stalled";

/**
 * Decides when each request of a client is sent, in the order of their arrival. At most `maxConcurrency` are under way, and
 * after a refusal (429) none is sent until the pause is over that the service asked for.
 */
export class Gate {
  readonly #waiting: ((entry: Entry) => void)[] = [];
  #underWay = 0;
  #opensAt = Number.NEGATIVE_INFINITY;
  #refusedSince = 0;
  /** Cancels the timer of the next turn. */
  #cancelAlarm = () => {};
  /** How often the gate was closed since a request was last let through. */
  refusals = 0;

  constructor(private readonly options: { readonly maxConcurrency: number; readonly clock: Clock }) {}

  /** Waits for a turn. Whoever is admitted calls `leave` or `refuse` once, when the request has ended. */
  enter(signal: AbortSignal): Promise<Entry> {
    return new Promise((resolve) => {
      const end = (entry: Entry) => {
        signal.removeEventListener("abort", abort);
        resolve(entry);
      };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(end), 1);
        end("aborted");
        this.#admit();
      };
      signal.addEventListener("abort", abort);
      this.#waiting.push(end);
      if (signal.aborted) abort();
      else this.#admit();
    });
  }

  /** @param letThrough whether the service handled the request, successfully or not */
  leave({ letThrough }: { readonly letThrough: boolean }): void {
    if (letThrough) this.refusals = 0;
    this.#underWay -= 1;
    this.#admit();
  }

  /**
   * Closes the gate for so many milliseconds, in which the service wants no request. Returns whether this refusal closed it,
   * or only shares the pause of its burst, or ends all waiting.
   */
  refuse(pauseMs: number): "closed" | "shared" | "stalled" {
    const now = this.options.clock.now();
    const closes = now >= this.#opensAt;
    if (closes && this.refusals === 0) this.#refusedSince = now;
    if (closes) this.refusals += 1;
    this.#opensAt = Math.max(this.#opensAt, now + pauseMs);
    const hasStalled = this.refusals >= STALLED_REFUSALS && now - this.#refusedSince >= STALLED_MS;
    if (hasStalled) for (const end of this.#waiting.splice(0)) end("stalled");
    this.leave({ letThrough: false });
    if (hasStalled) return "stalled";
    return closes ? "closed" : "shared";
  }

  /** Admits whom it may, and sets a timer only while somebody has to wait for it: a timer keeps the process alive. */
  #admit(): void {
    this.#cancelAlarm();
    while (this.#waiting.length > 0 && this.#underWay < this.options.maxConcurrency) {
      const waitMs = this.#opensAt - this.options.clock.now();
      if (waitMs > 0) {
        this.#cancelAlarm = this.options.clock.after(waitMs, () => this.#admit());
        return;
      }
      this.#underWay += 1;
      this.#waiting.shift()?.("admitted");
    }
  }
}
