import { mayBeSameTime, parseTimestamp, patienceFor, placeIn, windowOf } from "../../src/settlement/time";

const sentAt = Date.UTC(2026, 0, 1, 12);
const at = (offsetMs: number) => new Date(sentAt + offsetMs).toISOString();

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

test.each([
  [30_000, 60_000],
  [10_000, 20_000],
  [1_000, 20_000],
])("the patience after a timeout of %d ms is %d ms", (timeoutMs, patienceMs) => {
  expect(patienceFor(timeoutMs)).toBe(patienceMs);
});

test.each([
  [-5_001, "outside"],
  [-5_000, "inside"],
  [1, "inside"],
  [19_999, "inside"],
  [20_001, "outside"],
] as const)(
  "an endpoint made %d ms after the request, with a patience of 20 s, lies %s its window",
  (offset, place) => {
    expect(placeIn(windowOf(sentAt, 20_000), at(offset))).toBe(place);
  },
);

test.each([
  ["2026-01-01T12:00Z", "across"],
  ["2026-01-01", "across"],
  ["2026-01-01T11:58Z", "outside"],
  ["2026-01-01T12:01Z", "outside"],
  ["2026-01-01T12:00:00", "unknown"],
] as const)("the timestamp %s lies %s a window of 20 s", (timestamp, place) => {
  expect(placeIn(windowOf(sentAt, 20_000), timestamp)).toBe(place);
});

test("nothing lies in a window that is unknown", () => {
  expect(windowOf(null, 20_000)).toBeUndefined();
  expect(placeIn(undefined, at(0))).toBe("unknown");
});

test.each([
  ["2026-01-01T12:00:00Z", "2026-01-01T13:00:00+01:00", true],
  ["2026-01-01T12:00:00Z", "2026-01-01T12:00:01Z", false],
  [null, "2026-01-01T12:00:01Z", true],
])("that %s and %s may be the same time is %s", (a, b, same) => {
  expect(mayBeSameTime(a, b)).toBe(same);
});
