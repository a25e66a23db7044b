import type { Endpoint } from "../../src/client";
import { type Decision, decide, type Pending } from "../../src/settlement/decide";
import { UNKNOWN, windowOf } from "../../src/settlement/time";
import type { Holder } from "../../src/settlement/trace";

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

/** A registration of an earlier run, sent at `sentAt` after a complete list. */
const pendingOf = (more: Partial<Pending> = {}): Pending => ({
  window: windowOf(sentAt, patienceMs),
  before: [],
  complete: true,
  sameIp: true,
  own: false,
  explainsOnly: false,
  ...more,
});
const sentLater = (offsetMs: number) => ({ window: windowOf(sentAt + offsetMs, patienceMs) });

interface Case {
  /** Default: one registration of an earlier run. */
  readonly pending?: readonly Partial<Pending>[];
  readonly endpoints?: readonly Endpoint[];
  /** True if the list is complete. Default: true. */
  readonly complete?: boolean;
  /** The service's clock now, in milliseconds since `sentAt`; null when it sends no time. Default: a second. */
  readonly now?: number | null;
  /** The url of an endpoint of an unknown type, with the id "odd"; null if that cannot be read either. */
  readonly odd?: string | null;
  /** Who has which endpoint. */
  readonly holders?: Readonly<Record<string, Holder>>;
}

function decided({
  pending = [{}],
  endpoints = [],
  complete = true,
  now = 1_000,
  odd,
  holders = {},
}: Case): Decision {
  return decide({
    identity: { url, type: "production" },
    pending: pending.map(pendingOf),
    list: {
      endpoints,
      unrecognized: odd === undefined ? [] : [{ id: "odd", url: odd }],
      complete,
      serverTime: now === null ? null : sentAt + now,
    },
    holderOf: ({ id }) => holders[id] ?? "nobody",
    patienceMs,
  });
}

const over = patienceMs;
const old = endpoint("old", -3_599_000);
const fresh = endpoint("fresh", 200);
const second = endpoint("second", 900);
const timeless = endpoint("timeless", null);
const found = (id: string, by: Partial<Pending> = {}) => ({
  kind: "found",
  endpoint: expect.objectContaining({ id }),
  by: expect.objectContaining(by),
});
const doubt = (...ids: string[]) => ({
  kind: "doubt",
  by: expect.any(Array),
  candidates: ids.map((id) => expect.objectContaining({ id })),
  why: expect.stringMatching(/^[a-z0-9]/),
});
const wait = (milliseconds: number) => ({ kind: "wait", milliseconds });
const absent = { kind: "absent" };
const unknowable = { kind: "unknowable" };

type Rows = [title: string, given: Case, decision: unknown][];

const anotherIp: Rows = [
  [
    "a fit of a registration with another ip is in doubt",
    { pending: [{ sameIp: false }], endpoints: [fresh] },
    doubt("fresh"),
  ],
  [
    "a fit is in doubt if one of two registrations has another ip",
    { pending: [{}, { sameIp: false }], endpoints: [fresh] },
    doubt("fresh"),
  ],
  [
    "an endpoint whose id proves that it was made with another ip is not found, and a fit beside it is",
    { pending: [{ sameIp: false, id: "fresh" }, {}], endpoints: [fresh, second] },
    found("second"),
  ],
  [
    "a registration with another ip changes nothing about an endpoint that does not fit it",
    {
      pending: [{ ...sentLater(600_000) }, { sameIp: false }],
      endpoints: [endpoint("later", 600_200)],
      now: 601_000,
    },
    found("later"),
  ],
];

const tooMany: Rows = [
  ["more fits than registrations are in doubt", { endpoints: [second, fresh] }, doubt("fresh", "second")],
  [
    "more fits than registrations are in doubt if this very run sent one, too",
    { pending: [{ own: true }], endpoints: [second, fresh] },
    doubt("fresh", "second"),
  ],
  [
    "as many fits as registrations are not too many: the oldest is found",
    { pending: [{}, {}], endpoints: [second, fresh] },
    found("fresh"),
  ],
  [
    "a registration of another resource explains a fit",
    { pending: [{}, { explainsOnly: true }], endpoints: [fresh, second] },
    found("fresh", { explainsOnly: false }),
  ],
  [
    "a registration of another resource gives no right to a fit",
    { pending: [{ explainsOnly: true }], endpoints: [fresh], now: over },
    absent,
  ],
  [
    "a registration whose id is known explains the endpoint with that id, and no second one",
    { pending: [{}, { explainsOnly: true, id: "fresh" }], endpoints: [fresh, second] },
    found("second"),
  ],
];

const othersOlder: Rows = [
  [
    "a fit that only another resource's registration explains does not hide a later fit",
    {
      pending: [sentLater(100_000), { explainsOnly: true }],
      endpoints: [fresh, endpoint("later", 100_200)],
      now: 101_000,
    },
    found("later"),
  ],
];

const unreadable: Rows = [
  [
    "an endpoint without a time is in doubt after a complete list, because anybody may have made it since",
    { endpoints: [timeless] },
    doubt("timeless"),
  ],
  [
    "an endpoint without a time is found if this very run sent the registration after a complete list",
    { pending: [{ own: true }], endpoints: [timeless] },
    found("timeless"),
  ],
  [
    "an endpoint without a time is in doubt if this very run sent the registration after a partial list",
    { pending: [{ own: true, complete: false }], endpoints: [timeless] },
    doubt("timeless"),
  ],
  [
    "an endpoint is in doubt if nothing tells the window",
    { pending: [{ window: UNKNOWN }], endpoints: [old] },
    doubt("old"),
  ],
  [
    "a time without a zone counts as no time",
    { endpoints: [endpoint("x", null, { createdAt: "2020-01-01T00:00:00" })] },
    doubt("x"),
  ],
];

const coarse: Rows = [
  [
    "an endpoint whose time is a whole minute is found within that minute if the earlier list was complete",
    {
      pending: [sentLater(7 * 60_000 + 59_000)],
      endpoints: [endpoint("x", null, { createdAt: "2026-01-01T12:07Z" })],
    },
    found("x"),
  ],
  [
    "an endpoint whose time is a whole minute is not found after that minute",
    {
      pending: [sentLater(8 * 60_000 + 6_000)],
      endpoints: [endpoint("x", null, { createdAt: "2026-01-01T12:07:00.000Z" })],
      now: 600_000,
    },
    absent,
  ],
  [
    "an endpoint whose time is a whole minute is in doubt if the earlier list was partial",
    {
      pending: [{ ...sentLater(30_000), complete: false }],
      endpoints: [endpoint("x", null, { createdAt: "2026-01-01T12:00Z" })],
    },
    doubt("x"),
  ],
  [
    "an endpoint whose time is a whole hour of its own time zone is found within that hour",
    {
      pending: [sentLater(29 * 60_000)],
      endpoints: [endpoint("x", null, { createdAt: "2026-01-01T17:00+05:30" })],
    },
    found("x"),
  ],
  [
    "an endpoint whose time is a date is found if that day is today in any time zone",
    { pending: [sentLater(-1)], endpoints: [endpoint("x", null, { createdAt: "2025-12-31" })] },
    found("x"),
  ],
  [
    "an endpoint whose time is an earlier date is not found",
    { endpoints: [endpoint("x", null, { createdAt: "2025-12-30" })], now: over },
    absent,
  ],
];

const partial: Rows = [
  ["a partial list without a fit shows nothing", { complete: false, now: 600_000 }, unknowable],
  ["a fit in a partial list is found", { endpoints: [fresh], complete: false }, found("fresh")],
  ["an endpoint of this url with an unknown type may be the one", { odd: url, now: 600_000 }, unknowable],
  ["an endpoint whose url cannot be read may be the one", { odd: null, now: 600_000 }, unknowable],
  [
    "an endpoint of another url with an unknown type is not the one",
    { odd: "https://other.example.com", now: 600_000 },
    absent,
  ],
  [
    "an endpoint with an unknown type that was there before is not the one",
    { pending: [{ before: ["odd"] }], odd: url, now: 600_000 },
    absent,
  ],
];

const taken: Rows = [
  [
    "the fit of this run's own lost answer is found",
    { pending: [{ own: true }], endpoints: [fresh] },
    found("fresh", { own: true }),
  ],
  ["the fit of a registration of an earlier run is found", { endpoints: [fresh, old] }, found("fresh")],
  [
    "an endpoint dated within five seconds before the request is found",
    { endpoints: [endpoint("skewed", -4_999)] },
    found("skewed"),
  ],
  [
    "another spelling of the url is the same url",
    { endpoints: [{ ...fresh, url: url.replace("hooks", "HOOKS") }] },
    found("fresh"),
  ],
  [
    "an endpoint whose id the service had answered is found, though a second one fits its window",
    { pending: [{ id: "second" }], endpoints: [fresh, second] },
    found("second", { id: "second" }),
  ],
  [
    "an id that the service had answered comes before one whose evidence may be out of date",
    { pending: [{ id: "fresh", doubt: "so it is" }, { id: "second" }], endpoints: [fresh, second] },
    found("second"),
  ],
  [
    "a registration that this run has sent is sure, though an older one beside it is in doubt",
    { pending: [{ doubt: "so it is" }, { own: true, before: ["old"] }], endpoints: [fresh], now: 1_000 },
    found("fresh", { own: true }),
  ],
];

const doubted: Rows = [
  [
    "an endpoint with the answered id is in doubt if the service dates it before its registration",
    { pending: [{ id: "behind" }], endpoints: [endpoint("behind", -10_000)] },
    doubt("behind"),
  ],
  [
    "of two that fit, one is not explained by a registration that is in doubt",
    {
      pending: [{}, { doubt: "its url is a secret" }],
      endpoints: [fresh, endpoint("later", 2_000)],
      now: 3_000,
    },
    doubt("fresh", "later"),
  ],
  [
    "a fit of evidence that may be out of date is in doubt",
    { pending: [{ doubt: "so it is" }], endpoints: [fresh] },
    doubt("fresh"),
  ],
  [
    "an endpoint whose id the service had answered is in doubt if the evidence may be out of date",
    { pending: [{ id: "fresh", doubt: "so it is" }], endpoints: [fresh] },
    doubt("fresh"),
  ],
  [
    "an endpoint that a resource with another key or base URL may have is in doubt",
    { endpoints: [fresh], holders: { fresh: "unclear" } },
    doubt("fresh"),
  ],
  [
    "an endpoint whose id the service had answered is in doubt if a resource with another key or base URL may have it",
    { pending: [{ id: "fresh" }], endpoints: [fresh], holders: { fresh: "unclear" } },
    doubt("fresh"),
  ],
  [
    "doubtful evidence without a fit shows that nothing was made",
    { pending: [{ doubt: "so it is" }], endpoints: [old], now: over },
    absent,
  ],
];

const none: Rows = [
  ["an endpoint made before the window is not found", { endpoints: [old] }, wait(59_000)],
  [
    "an endpoint made after the window is not found",
    { endpoints: [endpoint("late", patienceMs + 1)], now: 600_000 },
    absent,
  ],
  [
    "an endpoint with the answered id that was there before is not found",
    { pending: [{ id: "old", before: ["old"] }], endpoints: [endpoint("old", -10_000)], now: 600_000 },
    absent,
  ],
  [
    "an endpoint whose id was used again after the window is not found",
    { pending: [{ id: "late" }], endpoints: [endpoint("late", patienceMs + 1)], now: 600_000 },
    absent,
  ],
  [
    "an endpoint of another type is not found",
    { endpoints: [{ ...fresh, type: "development" }] },
    wait(59_000),
  ],
  [
    "an endpoint that was listed before is not found",
    { pending: [{ before: ["fresh"] }], endpoints: [fresh] },
    wait(59_000),
  ],
  [
    "an endpoint that a resource has is not found",
    { endpoints: [fresh], holders: { fresh: "somebody" } },
    wait(59_000),
  ],
  ["a registration that was just sent may still complete", { now: 0 }, wait(patienceMs)],
  [
    "the longest window decides how long to wait",
    { pending: [{}, sentLater(10_000)], now: 20_000 },
    wait(50_000),
  ],
  ["a registration whose window is over never happened", { now: over }, absent],
  [
    "an endpoint whose id is known and that is gone is not waited for",
    { pending: [{ id: "gone" }], now: 0 },
    absent,
  ],
  [
    "after the service's clock was set back, the wait is no longer than for a new registration",
    { now: -3_600_000 },
    wait(patienceMs),
  ],
  ["without the service's time, a whole patience has to pass", { now: null }, wait(patienceMs)],
  ["without a window, a whole patience has to pass", { pending: [{ window: UNKNOWN }] }, wait(patienceMs)],
  [
    "what no resource will take is not waited for",
    { pending: [{ window: UNKNOWN, unwanted: true, doubt: "it is old" }] },
    absent,
  ],
];

describe("the table", () => {
  test.each([
    ...anotherIp,
    ...tooMany,
    ...othersOlder,
    ...unreadable,
    ...coarse,
    ...partial,
    ...taken,
    ...doubted,
    ...none,
  ])("%s", (_, given, decision) => {
    expect(decided(given)).toEqual(decision);
  });
});
