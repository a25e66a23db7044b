import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";

/** The longest time that a timer of Node.js holds, in milliseconds. With a longer one it fires at once. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

/** Ends the emulator's waits and deliveries when it is closed. */
export class Timers {
  readonly #closing = new AbortController();
  /** Aborted by `close()`. */
  readonly signal: AbortSignal = this.#closing.signal;

  constructor() {
    setMaxListeners(0, this.signal);
  }

  /** Waits, at most 24.8 days. Resolves to false when the emulator is closed before the time has passed. */
  async sleep(milliseconds: number): Promise<boolean> {
    const longest = Math.min(milliseconds, MAX_DELAY_MS);
    if (longest > 0) await wait(longest, undefined, { signal: this.signal }).catch(() => undefined);
    return !this.signal.aborted;
  }

  close(): void {
    this.#closing.abort();
  }
}
