import type { Clock } from "../../src/client";

/** A clock that moves only when a test moves it. Promises settle between two of its alarms. */
export class HandClock implements Clock {
  time = 0;
  #alarms: { at: number; ring: () => void }[] = [];

  /** How many calls are due: on a real clock, each would keep Node.js up. */
  get pending(): number {
    return this.#alarms.length;
  }

  now = () => this.time;
  date = () => this.time;

  after(milliseconds: number, ring: () => void): () => void {
    const alarm = { at: this.time + milliseconds, ring };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  }

  async pass(milliseconds: number): Promise<void> {
    const end = this.time + milliseconds;
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const [next] = this.#alarms.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#alarms = this.#alarms.filter((other) => other !== next);
      this.time = Math.max(this.time, next.at);
      next.ring();
    }
    this.time = end;
  }
}
