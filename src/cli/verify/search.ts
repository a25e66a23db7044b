interface SearchOptions {
  readonly seconds: number;
  /** Called now and then with the number of candidates that were tried. */
  readonly onTried?: (tried: number) => void;
}

/** Between two calls of `onTried`, in milliseconds. */
const REPORT_MS = 250;

/** A search that ends after a while. */
export class Search {
  /** How many candidates were tried. */
  tried = 0;
  /** True once the time was over before everything was tried. */
  hasEnded = false;
  readonly seconds: number;
  readonly #options: SearchOptions;

  constructor(options: SearchOptions) {
    this.seconds = options.seconds;
    this.#options = options;
  }

  /** Returns the first result that is not undefined. Candidates are generated only when they are tried. */
  find<C, R>(candidates: Iterable<C>, test: (candidate: C) => R | undefined): R | undefined {
    const { onTried = () => {} } = this.#options;
    const startedAt = performance.now();
    let reportedAt = startedAt;
    for (const candidate of candidates) {
      const result = test(candidate);
      this.tried += 1;
      if (result !== undefined) return result;
      const now = performance.now();
      if (now - startedAt >= this.seconds * 1000) {
        this.hasEnded = true;
        return undefined;
      }
      if (now - reportedAt < REPORT_MS) continue;
      onTried(this.tried);
      reportedAt = now;
    }
    return undefined;
  }
}
