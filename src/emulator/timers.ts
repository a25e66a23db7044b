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

/** Keeps track of the emulator's waits, so that `close()` can end all of them at once. */
export class Timers {
  readonly #pending = new Set<() => void>();
  #closed = false;

  get closed(): boolean {
    return this.#closed;
  }

  /** Waits. Resolves to false when the emulator is closed before the time has passed. */
  sleep(milliseconds: number): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    if (milliseconds <= 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(true), Math.min(milliseconds, MAX_DELAY_MS));
      const end = () => settle(false);
      const settle = (passed: boolean) => {
        clearTimeout(timer);
        this.#pending.delete(end);
        resolve(passed);
      };
      this.#pending.add(end);
    });
  }

  close(): void {
    this.#closed = true;
    for (const end of [...this.#pending]) end();
  }
}
