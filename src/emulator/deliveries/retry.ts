/** About two minutes in total: quick enough to watch, slow enough to fix a receiver in the meantime. */
export const DEFAULT_RETRY_DELAYS_MS: readonly number[] = [
  1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000,
];

/** The longest wait that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 3_600_000;

interface RetryQuestion {
  readonly delaysMs: readonly number[];
  /** The number of attempts so far. */
  readonly attempts: number;
  readonly retryAfter: string | undefined;
  readonly now: number;
}

/** Returns the wait before the next attempt, or null when there is none. Retry-After can only make the wait longer. */
export function retryDelay({ delaysMs, attempts, retryAfter, now }: RetryQuestion): number | null {
  const planned = delaysMs[attempts - 1];
  return planned === undefined ? null : Math.max(planned, retryAfterMs(retryAfter, now));
}

/** Parses both forms of RFC 9110, section 10.2.3: seconds and a date. Anything else counts as 0. */
function retryAfterMs(value: string | undefined, now: number): number {
  if (value === undefined) return 0;
  const text = value.trim();
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return milliseconds > 0 ? Math.min(milliseconds, MAX_RETRY_AFTER_MS) : 0;
}
