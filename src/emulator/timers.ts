import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { EmulatorError } from "./errors";

/** The longest time that a timer of Node.js holds, in milliseconds. With a longer one it fires at once. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

export function isDelay(milliseconds: number): boolean {
  return milliseconds >= 0 && milliseconds <= MAX_DELAY_MS;
}

/** @throws EmulatorError for a time that no timer holds */
export function checkDelay(name: string, milliseconds: number): void {
  if (isDelay(milliseconds)) return;
  throw new EmulatorError("EMULATOR_OPTIONS", `${name} must be from 0 to ${MAX_DELAY_MS} milliseconds.`);
}

/** Ends the emulator's waits and deliveries when it is closed. */
export class Timers {
  readonly #closing = new AbortController();
  /** Aborted by `close()`. */
  readonly signal: AbortSignal = this.#closing.signal;

  constructor() {
    setMaxListeners(0, this.signal);
  }

  /** Waits. Resolves to false when the emulator is closed before the time has passed. */
  async sleep(milliseconds: number): Promise<boolean> {
    if (milliseconds > 0) {
      const longest = Math.min(milliseconds, MAX_DELAY_MS);
      await wait(longest, undefined, { signal: this.signal }).catch(() => undefined);
    }
    return !this.signal.aborted;
  }

  close(): void {
    this.#closing.abort();
  }
}
