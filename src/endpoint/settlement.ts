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
  /** True for an endpoint that no known resource has. */
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

/** Returns the endpoints that may have come from this registration, the oldest first. */
export function candidates(
  identity: Identity,
  registration: UnansweredRegistration,
  list: EndpointList,
  mayBeLost: Policy["mayBeLost"],
): Endpoint[] {
  return alike(list, identity)
    .filter((candidate) => mayBeLost(candidate.id) && mayComeFrom(registration, candidate))
    .toSorted((a, b) => (parseTimestamp(a.createdAt) || 0) - (parseTimestamp(b.createdAt) || 0));
}

/** Returns whether an endpoint was not there before the registration, and is not older. */
function mayComeFrom(
  { before, attemptedAt, complete }: UnansweredRegistration,
  { id, createdAt }: Endpoint,
): boolean {
  if (before.includes(id)) return false;
  const created = parseTimestamp(createdAt);
  // Without times to compare, only a complete list from before the request shows what is new.
  if (Number.isNaN(created) || attemptedAt === null) return complete;
  return created >= attemptedAt - CLOCK_TOLERANCE_MS;
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
