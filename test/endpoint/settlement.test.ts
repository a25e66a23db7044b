import type { Endpoint } from "../../src/client";
import { type Decision, decide, isMadeInTime, parseTimestamp } from "../../src/endpoint/settlement";
import type { UnansweredRegistration } from "../../src/endpoint/types";

const url = "https://hooks.example.com/jobs";
const sentAt = Date.UTC(2026, 0, 1, 12);
const patienceMs = 60_000;

const at = (offsetMs: number) => new Date(sentAt + offsetMs).toISOString();
const endpoint = (id: string, offsetMs: number | null, more: Partial<Endpoint> = {}): Endpoint => ({
  id,
  url,
  type: "production",
  createdAt: offsetMs === null ? null : at(offsetMs),
  updatedAt: null,
  ...more,
});

interface Case {
  readonly endpoints?: readonly Endpoint[];
  /** True if the current list is complete. */
  readonly complete?: boolean;
  /** The service's clock now, in milliseconds since the request; null when it sends no time. */
  readonly now?: number | null;
  readonly registration?: Partial<UnansweredRegistration>;
  /** The url of an endpoint of an unknown type, with the id "odd". */
  readonly odd?: string;
  /** Endpoints that a known resource has. */
  readonly taken?: readonly string[];
}

function decided({
  endpoints = [],
  complete = true,
  now = 1_000,
  registration,
  odd,
  taken = [],
}: Case): Decision {
  return decide(
    { url, type: "production" },
    { before: [], attemptedAt: sentAt, complete: true, ...registration },
    {
      endpoints,
      unrecognized: odd === undefined ? [] : [{ id: "odd", url: odd }],
      complete,
      serverTime: now === null ? null : sentAt + now,
    },
    { patienceMs, mayBeLost: (id) => !taken.includes(id) },
  );
}

const old = endpoint("old", -3_599_000);
const fresh = endpoint("fresh", 200);
/** A registration that was sent just now, so many milliseconds later than `sentAt`. */
const later = (offsetMs: number) => ({ now: offsetMs, registration: { attemptedAt: sentAt + offsetMs } });
const waiting = { kind: "wait", milliseconds: expect.any(Number) };
const found = (id: string) => ({ kind: "found", endpoint: expect.objectContaining({ id }) });

test.each<[string, Case, unknown]>([
  ["an endpoint that appeared after the request is found", { endpoints: [fresh] }, found("fresh")],
  ["the oldest new endpoint is found first", { endpoints: [endpoint("b", 900), fresh] }, found("fresh")],
  [
    "another spelling of the url is the same url",
    { endpoints: [{ ...fresh, url: url.replace("hooks", "HOOKS") }] },
    found("fresh"),
  ],
  [
    "an endpoint dated within five seconds before the request is found",
    { endpoints: [endpoint("skewed", -4_999)] },
    found("skewed"),
  ],
  ["an endpoint in a partial list is found", { endpoints: [fresh], complete: false }, found("fresh")],
  [
    "an endpoint without a time is found if the earlier list was complete",
    { endpoints: [endpoint("x", null)] },
    found("x"),
  ],
  [
    "a time without a zone counts as no time",
    { endpoints: [endpoint("x", null, { createdAt: "2020-01-01T00:00:00" })] },
    found("x"),
  ],
  [
    "an endpoint whose time is a whole minute is found within that minute if the earlier list was complete",
    { endpoints: [endpoint("x", null, { createdAt: "2026-01-01T12:07Z" })], ...later(7 * 60_000 + 59_000) },
    found("x"),
  ],
  [
    "an endpoint whose time is a whole minute is not found after that minute",
    {
      endpoints: [endpoint("x", null, { createdAt: "2026-01-01T12:07:00.000Z" })],
      ...later(8 * 60_000 + 6_000),
    },
    waiting,
  ],
  [
    "an endpoint whose time is a whole hour of its own time zone is found within that hour",
    { endpoints: [endpoint("x", null, { createdAt: "2026-01-01T17:00+05:30" })], ...later(29 * 60_000) },
    found("x"),
  ],
  [
    "an endpoint whose time is a day is found on that day",
    { endpoints: [endpoint("x", null, { createdAt: "2026-01-01T00:00:00Z" })] },
    found("x"),
  ],
  [
    "an endpoint whose time is a date is found if that day is today in any time zone",
    { endpoints: [endpoint("x", null, { createdAt: "2025-12-31" })], ...later(-1) },
    found("x"),
  ],
  [
    "an endpoint whose time is an earlier date is not found",
    { endpoints: [endpoint("x", null, { createdAt: "2025-12-30" })] },
    { kind: "wait", milliseconds: 59_000 },
  ],
  [
    "an endpoint whose time is a whole minute is not found if the earlier list was partial",
    {
      endpoints: [endpoint("x", null, { createdAt: "2026-01-01T12:00Z" })],
      registration: { attemptedAt: sentAt + 30_000, complete: false },
    },
    waiting,
  ],
  [
    "an endpoint with an exact time is found before one with a coarse time",
    { endpoints: [endpoint("coarse", 0), endpoint("exact", 31_000)], ...later(30_000) },
    found("exact"),
  ],
  [
    "without our own time, an endpoint is found if the earlier list was complete",
    { endpoints: [old], registration: { attemptedAt: null } },
    found("old"),
  ],
  [
    "an endpoint of another type is not found",
    { endpoints: [{ ...fresh, type: "development" }] },
    { kind: "wait", milliseconds: 59_000 },
  ],
  ["an older endpoint is not found", { endpoints: [old] }, { kind: "wait", milliseconds: 59_000 }],
  [
    "an endpoint that was listed before is not found",
    { endpoints: [fresh], registration: { before: ["fresh"] } },
    { kind: "wait", milliseconds: 59_000 },
  ],
  [
    "an endpoint that a resource has is not found",
    { endpoints: [fresh], taken: ["fresh"] },
    { kind: "wait", milliseconds: 59_000 },
  ],
  [
    "an endpoint without a time is not found if the earlier list was partial",
    { endpoints: [endpoint("x", null)], registration: { complete: false } },
    { kind: "wait", milliseconds: 59_000 },
  ],
  ["a young registration may still complete", { now: 0 }, { kind: "wait", milliseconds: 60_000 }],
  ["a registration older than the patience never happened", { now: 60_000 }, { kind: "absent" }],
  [
    "after the service's clock was set back, the wait is no longer than for a new registration",
    { now: -3_600_000 },
    { kind: "wait", milliseconds: 60_000 },
  ],
  [
    "without the service's time, a complete list shows that it never happened",
    { now: null },
    { kind: "absent" },
  ],
  [
    "without our own time, a complete list shows that it never happened",
    { registration: { attemptedAt: null } },
    { kind: "absent" },
  ],
  [
    "an endpoint of this url with an unknown type may be the one",
    { odd: url, now: 600_000 },
    { kind: "unknowable" },
  ],
  [
    "an endpoint of another url with an unknown type is not the one",
    { odd: "https://other.example.com", now: 600_000 },
    { kind: "absent" },
  ],
  [
    "an endpoint with an unknown type that was there before is not the one",
    { odd: url, now: 600_000, registration: { before: ["odd"] } },
    { kind: "absent" },
  ],
  [
    "a partial list does not show that it never happened",
    { complete: false, now: 600_000 },
    { kind: "unknowable" },
  ],
])("%s", (_, given, decision) => {
  expect(decided(given)).toEqual(decision);
});

test.each([
  [200, true],
  [58_999, true],
  [59_000, false],
  [600_000, false],
])("an endpoint made %d ms after a request with a patience of 60 s came in time: %s", (offset, inTime) => {
  const registration = { before: [], attemptedAt: sentAt, complete: true };
  expect(isMadeInTime(endpoint("x", offset), registration, patienceMs)).toBe(inTime);
});

test.each(["2026-01-01T12:00:00Z", "2026-01-01T13:00:00+01:00", "Thu, 01 Jan 2026 12:00:00 GMT"])(
  "the timestamp %s is read",
  (timestamp) => {
    expect(parseTimestamp(timestamp)).toBe(sentAt);
  },
);

test.each([null, undefined, "", "2026-01-01T12:00:00", "1767268800", "soon Z"])(
  "the timestamp %s cannot be read",
  (timestamp) => {
    expect(parseTimestamp(timestamp)).toBeNaN();
  },
);
