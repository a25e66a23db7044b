import { setImmediate } from "node:timers/promises";

/** How long the search may keep Ctrl-C and the progress waiting, in milliseconds, beside the time of one candidate. */
const SLICE_MS = 50;

export interface SearchOptions {
  readonly seconds: number;
  /** Milliseconds. */
  readonly clock?: () => number;
}

/** A search that ends after a while. It pauses often, so that Ctrl-C ends the command meanwhile. */
export class Search {
  /** How many candidates were tried. */
  tried = 0;
  /** True once the time was over before everything was tried. */
  hasEnded = false;
  readonly seconds: number;
  readonly #clock: () => number;
  #startedAt: number | undefined;

  constructor({ seconds, clock = () => performance.now() }: SearchOptions) {
    this.seconds = seconds;
    this.#clock = clock;
  }

  /** Returns the first result that is not undefined. Candidates are generated only when they are tried. */
  async find<C, R>(candidates: Iterable<C>, test: (candidate: C) => R | undefined): Promise<R | undefined> {
    this.#startedAt ??= this.#clock();
    let sliceAt = this.#clock();
    for (const candidate of candidates) {
      const result = test(candidate);
      this.tried += 1;
      if (result !== undefined) return result;
      const now = this.#clock();
      if (now - this.#startedAt >= this.seconds * 1000) {
        this.hasEnded = true;
        return undefined;
      }
      if (now - sliceAt < SLICE_MS) continue;
      await setImmediate();
      sliceAt = this.#clock();
    }
    return undefined;
  }
}
