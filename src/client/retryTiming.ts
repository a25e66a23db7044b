/** The first backoff is at most this long, in milliseconds; each later one at most twice the one before. */
const firstBackoffMs = 250;
const longestBackoffMs = 5_000;
/** However long a service asks for, it is asked again after this, in milliseconds. */
export const longestRetryAfterMs = 60_000;

/** How long to back off before the repeat of this number (from 0): full jitter, so that many do not come back at once. */
export function backoffMs(repeat: number, random: () => number): number {
  return random() * Math.min(longestBackoffMs, firstBackoffMs * 2 ** repeat);
}

/** The three forms of an HTTP date (RFC 9110, section 5.6.7) begin with the day of the week. */
const httpDate = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? .*\d/i;

/**
 * `Retry-After` in either of its forms as milliseconds to wait, at most a minute; undefined where it is neither.
 *
 * @param now in milliseconds since 1970 on the clock that a date is meant on: the service's, where it told it.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? "";
  let wait = Number.NaN;
  if (/^\d+(\.\d+)?$/.test(text)) wait = Number(text) * 1000;
  // The oldest form names no zone, and means Greenwich as the others do.
  else if (httpDate.test(text)) wait = Date.parse(/GMT$/i.test(text) ? text : `${text} GMT`) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longestRetryAfterMs);
}
