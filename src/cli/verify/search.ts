export interface SearchOptions {
  /** How long to search. */
  readonly seconds: number;
  /** Called now and then with the number of candidates that were tried. */
  readonly onTried?: (tried: number) => void;
}

/** How a search came out. */
export interface Searched<R> {
  /** The first result. Absent if there is none. */
  readonly found?: R;
  /** How many candidates were tried. */
  readonly tried: number;
  /** True if the time was over before everything was tried. */
  readonly hasEnded: boolean;
}

/** Between two calls of `onTried`, in milliseconds. */
const REPORT_MS = 250;

/** Looks for the first candidate that leads to a result. Candidates are generated only when they are tried. */
export function search<C, R>(
  candidates: Iterable<C>,
  test: (candidate: C) => R | undefined,
  { seconds, onTried }: SearchOptions,
): Searched<R> {
  const startedAt = performance.now();
  let reportedAt = startedAt;
  let tried = 0;
  for (const candidate of candidates) {
    const found = test(candidate);
    tried += 1;
    if (found !== undefined) return { found, tried, hasEnded: false };
    const now = performance.now();
    if (now - startedAt >= seconds * 1000) return { tried, hasEnded: true };
    if (now - reportedAt < REPORT_MS) continue;
    onTried?.(tried);
    reportedAt = now;
  }
  return { tried, hasEnded: false };
}
