/** When the accelerated time begins, in milliseconds since 1970. */
const epoch = Date.UTC(2026, 0, 1);

/**
 * Time that runs so many times faster than it does: the provider's time-outs and its looking for lost registrations take
 * minutes, and here moments. The service must live by the same clock.
 */
export class FastClock {
  readonly #startedAt = Date.now();

  constructor(readonly speed: number) {}

  /** Milliseconds since 1970, by this clock. */
  readonly now = (): number => epoch + (Date.now() - this.#startedAt) * this.speed;

  /** How long so many milliseconds of this clock really take. */
  real(milliseconds: number): number {
    return milliseconds / this.speed;
  }

  /** The same clock as code for another process: what a provider takes as its `clock`. */
  get code(): string {
    return `{
      now: () => performance.now() * ${this.speed},
      date: () => ${epoch} + (Date.now() - ${this.#startedAt}) * ${this.speed},
      after: (milliseconds, callback) => {
        const timer = setTimeout(callback, milliseconds / ${this.speed});
        return () => clearTimeout(timer);
      },
    }`.replaceAll("\n", " ");
  }
}
