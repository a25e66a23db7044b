/** Runs so much at once, in the order in which it was added. */
export class Pool {
  readonly #running = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;

  constructor(private readonly size: number) {}

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  async add(work: () => Promise<unknown>): Promise<void> {
    while (this.#running.size >= this.size) await Promise.race(this.#running);
    if (this.#failure) return;
    const running = (async () => {
      try {
        await work();
      } catch (error) {
        this.#failure ??= { error };
      }
    })();
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
    if (this.size === 1) await running;
  }

  async drained(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure) throw this.#failure.error;
  }
}
