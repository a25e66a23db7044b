/** A timestamp with a time, that ends with its time zone: the end of "03-11-2026" is none. */
const ZONED = /(?<=:\d\d.*)(Z|GMT|UTC|[+-]\d\d:?\d\d)$/i;
const MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*";
/** A whole date that nobody can read in two ways, before its time: the year first, or the month by its name, and four digits of the year. */
const CLEAR_DATE = new RegExp(
  `^(\\d{4}[-/]\\d\\d?[-/]\\d\\d?|((mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?(\\d\\d?[ -]${MONTH}[ -]\\d{4}|${MONTH} \\d\\d?,? \\d{4}))[ T]`,
  "i",
);
/** A date without a time: of which time zone is unknown. */
const DATE_ONLY = /^\d{4}-\d\d-\d\d$/;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** How far time zones are ahead of UTC and behind it, in milliseconds. */
const ZONES_AHEAD_MS = 14 * HOUR_MS;
const ZONES_BEHIND_MS = 12 * HOUR_MS;

/** How much earlier than its request an endpoint may be dated, in milliseconds: the clocks differ, and `Date` has whole seconds. */
export const CLOCK_TOLERANCE_MS = 5_000;
const LEAST_PATIENCE_MS = 20_000;

/** Returns how long after a registration was sent the service may still make its endpoint, in milliseconds. */
export function patienceFor(timeoutMs: number): number {
  return Math.max(2 * timeoutMs, LEAST_PATIENCE_MS);
}

/** When something may have happened, in milliseconds: an endpoint was made, on the service's clock, or a request sent, on this machine's. */
export interface Window {
  readonly from: number;
  /** From when on nothing but its registration explains an endpoint. Default: from the beginning. */
  readonly sureFrom?: number;
  readonly until: number;
}

/** The window of a registration of which nothing tells when it was sent. */
export const UNKNOWN: Required<Window> = {
  from: Number.NEGATIVE_INFINITY,
  sureFrom: Number.POSITIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
};

/** Returns the window of what was sent at a time of the service, or between two; null when its time is unknown. */
export function windowOf(first: number | null, patienceMs: number, last = first): Window {
  if (first === null || last === null) return UNKNOWN;
  return { from: first - CLOCK_TOLERANCE_MS, until: last + patienceMs };
}

/**
 * Returns where a service's timestamp lies:
 * - `inside` or `outside` the window, whatever the timestamp leaves open
 * - `across` its border, because the timestamp is a whole minute, hour or day, or in the part of the window that is not sure
 * - `unknown`: the timestamp cannot be read, or the window is unknown
 */
export function placeIn(
  { from, sureFrom = from, until }: Window,
  timestamp: string | null | undefined,
): "inside" | "outside" | "across" | "unknown" {
  const made = spanOf(timestamp);
  if (until === UNKNOWN.until || Number.isNaN(made.from)) return "unknown";
  if (made.to < from || made.from > until) return "outside";
  return made.from >= sureFrom && made.to <= until ? "inside" : "across";
}

/**
 * Returns whether two timestamps mean the same moment; undefined when one of them cannot be read, or may be cut to a whole minute, hour or
 * day. Some services cut off fractions of a second.
 */
export function isSameTime(a: string | null | undefined, b: string | null | undefined): boolean | undefined {
  const apart = Math.abs(parseTimestamp(a) - parseTimestamp(b));
  if (Number.isNaN(apart) || apart < 1_000) return Number.isNaN(apart) ? undefined : true;
  const [one, other] = [spanOf(a), spanOf(b)];
  return one.from <= other.to && other.from <= one.to ? undefined : false;
}

/** Returns the earliest and the latest time that a timestamp may mean: NaN when it cannot be read. */
function spanOf(timestamp: string | null | undefined): { from: number; to: number } {
  if (timestamp && DATE_ONLY.test(timestamp)) {
    const day = Date.parse(timestamp);
    return { from: day - ZONES_AHEAD_MS, to: day + DAY_MS + ZONES_BEHIND_MS };
  }
  const from = parseTimestamp(timestamp);
  // Trailing zeros may mean that the service counts in whole minutes, hours or days of its own time zone.
  const local = Date.parse(timestamp?.trim().replace(ZONED, "Z") ?? "");
  return { from, to: from + ([DAY_MS, HOUR_MS, MINUTE_MS].find((unit) => local % unit === 0) ?? 0) };
}

/**
 * Parses a service's timestamp into milliseconds since 1970. Returns NaN when it cannot be read, also when it has no time
 * zone, because nothing says which clock it is on, and when its date is 09/11/2026, which is in September or in November.
 */
export function parseTimestamp(timestamp: string | null | undefined): number {
  const text = timestamp?.trim() ?? "";
  return CLEAR_DATE.test(text) && ZONED.test(text) ? Date.parse(text) : Number.NaN;
}
