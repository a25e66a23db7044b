import type { Endpoint, EndpointList } from "../client";
import { alike, type Identity } from "./identity";
import type { UnansweredRegistration } from "./types";
import { sameUrl } from "./url";

/** How much earlier than our request an endpoint may be dated and still come from it, in milliseconds. */
const CLOCK_TOLERANCE_MS = 5_000;
/** The resolution of the service's clock, whose `Date` header has whole seconds. */
const CLOCK_RESOLUTION_MS = 1_000;

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

/** How old a registration without an answer must be at least before it counts as never made, in milliseconds. */
const LEAST_PATIENCE_MS = 20_000;

/** Returns how old a registration without an answer must be before it counts as never made, in milliseconds. */
export function patienceMsFor(timeoutMs: number): number {
  return Math.max(2 * timeoutMs, LEAST_PATIENCE_MS);
}

/**
 * What a list shows about a registration that got no answer:
 * - `found`: it made this endpoint
 * - `absent`: it never happened
 * - `wait`: it may still happen, within so many milliseconds
 * - `unknowable`: the list is partial, so an endpoint that it lacks may exist
 */
export type Decision =
  | { readonly kind: "found"; readonly endpoint: Endpoint }
  | { readonly kind: "absent" | "unknowable" }
  | { readonly kind: "wait"; readonly milliseconds: number };

export interface Policy {
  /** How old a registration must be before it counts as never made, in milliseconds. */
  readonly patienceMs: number;
  /** True for an endpoint that no known resource has. It is asked only about those that would fit. */
  readonly mayBeLost: (id: string) => boolean;
}

/** Decides what a list shows about a registration that got no answer. Pure. */
export function decide(
  identity: Identity,
  registration: UnansweredRegistration,
  list: EndpointList,
  { patienceMs, mayBeLost }: Policy,
): Decision {
  const [endpoint] = candidates(identity, registration, list, mayBeLost);
  if (endpoint) return { kind: "found", endpoint };
  // Nor does a list say anything about an endpoint of a type that it spells in an unknown way.
  const unclear = list.unrecognized.some(
    ({ id, url }) => url !== null && sameUrl(url, identity.url) && !registration.before.includes(id),
  );
  if (!list.complete || unclear) return { kind: "unknowable" };
  const { attemptedAt } = registration;
  if (attemptedAt === null || list.serverTime === null) return { kind: "absent" };
  // The service's clock may have been set back. Never wait longer than for a registration that was sent just now.
  const milliseconds = Math.min(attemptedAt - list.serverTime, 0) + patienceMs;
  return milliseconds > 0 ? { kind: "wait", milliseconds } : { kind: "absent" };
}

/** Returns the endpoints that may have come from this registration: those with an exact time first, the oldest first. */
export function candidates(
  identity: Identity,
  registration: UnansweredRegistration,
  list: EndpointList,
  mayBeLost: Policy["mayBeLost"],
): Endpoint[] {
  const { before, complete } = registration;
  const added = alike(list, identity)
    .filter(({ id }) => !before.includes(id))
    .toSorted((a, b) => (parseTimestamp(a.createdAt) || 0) - (parseTimestamp(b.createdAt) || 0));
  const later = added.filter((endpoint) => isLater(registration, endpoint));
  const possible = added.filter(
    (endpoint) => !later.includes(endpoint) && isNotEarlier(registration, endpoint),
  );
  return (complete ? [...later, ...possible] : later).filter(({ id }) => mayBeLost(id));
}

/** Returns whether an endpoint's time shows that it was made after the registration was sent. */
function isLater({ attemptedAt }: UnansweredRegistration, { createdAt }: Endpoint): boolean {
  return attemptedAt !== null && spanOf(createdAt).from >= attemptedAt - CLOCK_TOLERANCE_MS;
}

/**
 * Returns whether an endpoint's time, with all that it leaves open, allows that it was made after the registration was sent. That
 * proves something only about an endpoint that a complete list from before the registration lacks.
 */
function isNotEarlier({ attemptedAt }: UnansweredRegistration, { createdAt }: Endpoint): boolean {
  return attemptedAt === null || !(spanOf(createdAt).to <= attemptedAt - CLOCK_TOLERANCE_MS);
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
 * Returns whether an endpoint was made before its registration counted as never made. A later one may be an equal registration
 * that another process sent instead.
 */
export function isMadeInTime(
  { createdAt }: Endpoint,
  { attemptedAt }: UnansweredRegistration,
  patienceMs: number,
) {
  return (
    attemptedAt === null || !(parseTimestamp(createdAt) >= attemptedAt + patienceMs - CLOCK_RESOLUTION_MS)
  );
}

/**
 * Parses a service's timestamp into milliseconds since 1970. Returns NaN when it cannot be read, also when it has no time
 * zone: then nothing says which clock it is on.
 */
export function parseTimestamp(timestamp: string | null | undefined): number {
  return timestamp && ZONED.test(timestamp.trim()) ? Date.parse(timestamp) : Number.NaN;
}
