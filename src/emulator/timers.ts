import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";

/** Ends the emulator's waits and deliveries when it is closed. */
export class Timers {
  readonly #closing = new AbortController();
  /** Aborted by `close()`. */
  readonly signal: AbortSignal = this.#closing.signal;

  constructor() {
    setMaxListeners(0, this.signal);
  }

  /** Resolves to false when the emulator is closed before the time has passed. */
  async sleep(milliseconds: number): Promise<boolean> {
    await wait(milliseconds, undefined, { signal: this.signal }).catch(() => undefined);
    return !this.signal.aborted;
  }

  close(): void {
    this.#closing.abort();
  }
}
