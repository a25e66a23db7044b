/** How much earlier than its request an endpoint may be dated, in milliseconds: `Date` has whole seconds, and clocks differ. */
const TOLERANCE_MS = 5_000;
/** How long get and list may lag behind what the service has done, in milliseconds. */
export const LAG_MS = 5_000;
/** `Date` has whole seconds, and services print times with more or fewer digits. In milliseconds. */
export const PRECISION_MS = 1_000;
/** How long after a registration was sent the service may make its endpoint, at least, in milliseconds. */
export const LEAST_GRACE_MS = 20_000;
/** How long a wait must be to be worth a line, in milliseconds. */
export const WORTH_A_LINE_MS = 1_000;

/** When an endpoint was made, as far as the state tells, or a list. */
export interface RecordedTimes {
  readonly createdAt?: string | null;
  readonly registeredAt?: number;
}

/** Returns how long after a registration was sent the service may still make its endpoint, in milliseconds. */
export function gracePeriodFor(timeoutMs: number): number {
  return Math.max(2 * timeoutMs, LEAST_GRACE_MS);
}

/** ISO 8601 with a time zone, also as databases print it. Without a zone, nothing says which clock a time is on. */
const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:Z|UTC|GMT|([+-]\d\d):?(\d\d)?)$/i;
/** The format of HTTP. */
const HTTP = /^[a-z]{3}, \d\d [a-z]{3} \d{4} .* (GMT|UTC)$/i;
/** Seconds, or milliseconds, since 1970. */
const EPOCH = /^\d{10}(\d{3})?$/;

/** An earlier time is none: a service that does not know one may say year 1, or 1970. */
const FIRST_TIME = Date.UTC(1971, 0, 1);

/** Parses a service's timestamp into milliseconds since 1970. Returns undefined if it cannot be read, or tells no real time. */
export function parseTimestamp(timestamp: string | null): number | undefined {
  const text = timestamp?.trim() ?? "";
  const time = EPOCH.test(text) ? Number(text.padEnd(13, "0")) : Date.parse(dateOf(text));
  return time >= FIRST_TIME ? time : undefined;
}

/** Returns a timestamp in a form that `Date.parse` reads as it is meant; "" if it has no form that is known here. */
function dateOf(text: string): string {
  const [iso, date, timeOfDay, hours = "+00", minutes = "00"] = ISO.exec(text) ?? [];
  return iso === undefined ? (HTTP.exec(text)?.[0] ?? "") : `${date}T${timeOfDay}${hours}:${minutes}`;
}

/** Returns whether something made at a time may come of what was sent at another, both on the service's clock. */
export function isInWindow(made: number, earliestSentAt: number, graceMs: number): boolean {
  return made >= earliestSentAt - TOLERANCE_MS && made <= earliestSentAt + graceMs;
}
