/** A timestamp that ends with its time zone. */
const ZONED = /(Z|GMT|UTC|[+-]\d\d:?\d\d)$/i;
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
/** The shortest patience, in milliseconds. */
const LEAST_PATIENCE_MS = 20_000;

/** Returns how long after a registration was sent the service may still make its endpoint, in milliseconds. */
export function patienceFor(timeoutMs: number): number {
  return Math.max(2 * timeoutMs, LEAST_PATIENCE_MS);
}

/** When the service may have made an endpoint, in milliseconds on its own clock. */
export interface Window {
  readonly from: number;
  readonly until: number;
}

/** Returns the window of a registration; undefined when the service's time is unknown. */
export function windowOf(sentAt: number | null, patienceMs: number): Window | undefined {
  return sentAt === null ? undefined : { from: sentAt - CLOCK_TOLERANCE_MS, until: sentAt + patienceMs };
}

/**
 * Returns where a service's timestamp lies:
 * - `inside` or `outside` the window, whatever the timestamp leaves open
 * - `across` its border, because the timestamp is a whole minute, hour or day
 * - `unknown`: the timestamp cannot be read, or there is no window
 */
export function placeIn(
  window: Window | undefined,
  timestamp: string | null,
): "inside" | "outside" | "across" | "unknown" {
  const { from, to } = spanOf(timestamp);
  if (window === undefined || Number.isNaN(from)) return "unknown";
  if (to < window.from || from > window.until) return "outside";
  return from >= window.from && to <= window.until ? "inside" : "across";
}

/**
 * Returns whether two timestamps may mean the same moment. A service that counts whole minutes in one answer and not in another
 * is not expected.
 */
export function mayBeSameTime(a: string | null, b: string | null): boolean {
  const [first, second] = [parseTimestamp(a), parseTimestamp(b)];
  return Number.isNaN(first) || Number.isNaN(second) || first === second;
}

/** Returns the earliest and the latest time that a timestamp may mean: NaN when it cannot be read. */
function spanOf(timestamp: string | null): { from: number; to: number } {
  if (timestamp !== null && DATE_ONLY.test(timestamp)) {
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
 * zone: then nothing says which clock it is on.
 */
export function parseTimestamp(timestamp: string | null | undefined): number {
  return timestamp && ZONED.test(timestamp.trim()) ? Date.parse(timestamp) : Number.NaN;
}
