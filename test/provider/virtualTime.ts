import type { Clock } from "../../src/client/clock";

/** When it begins, in milliseconds since 1970: not on a whole second, which would tell of an inexact clock. */
const EPOCH = Date.UTC(2026, 0, 1, 0, 0, 0, 789);

/** Time that passes only when nothing else is left to do: then it jumps to the next timer. So no test waits, and each run is the same. */
export class VirtualTime implements Clock {
  #now = 0;
  readonly #timers = new Map<symbol, { readonly at: number; readonly callback: () => void }>();

  /** How many timers are due: on a real clock, each would keep Node.js up. */
  get pending(): number {
    return this.#timers.size;
  }

  /** How long the machine has slept: the clock that never goes back stands still meanwhile, and dates go on. */
  sleptMs = 0;
  now = () => this.#now;
  date = () => EPOCH + this.#now + this.sleptMs;
  after = (milliseconds: number, callback: () => void) => {
    const timer = Symbol("timer");
    this.#timers.set(timer, { at: this.#now + Math.max(0, milliseconds), callback });
    return () => {
      this.#timers.delete(timer);
    };
  };

  /** Lets time pass until work is done. @throws Error if the work waits for nothing that is to come, or polls for ever */
  async until<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    const longest = this.#now + 86_400_000; // no work takes a day
    for (;;) {
      // What has no timer is done by then: nothing here waits for a socket or a file.
      await new Promise(setImmediate);
      if (isOver) return work;
      if (this.#timers.size === 0 || this.#now > longest) throw new Error("the work waits for ever");
      this.#jump();
    }
  }

  /** Lets so many milliseconds pass. */
  pass(milliseconds: number): Promise<void> {
    return this.until(new Promise<void>((resolve) => this.after(milliseconds, resolve)));
  }

  #jump(): void {
    const at = Math.min(...[...this.#timers.values()].map((timer) => timer.at));
    this.#now = Math.max(this.#now, at);
    const due = [...this.#timers].filter(([, timer]) => timer.at <= at);
    for (const [timer, { callback }] of due) if (this.#timers.delete(timer)) callback();
  }
}
