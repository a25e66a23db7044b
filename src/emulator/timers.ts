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
      const timer = setTimeout(() => settle(true), milliseconds);
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
