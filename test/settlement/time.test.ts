import { isSameTime, parseTimestamp, patienceFor, placeIn, windowOf } from "../../src/settlement/time";

const sentAt = Date.UTC(2026, 0, 1, 12);
const at = (offsetMs: number) => new Date(sentAt + offsetMs).toISOString();

test.each([
  "2026-01-01T12:00:00Z",
  "2026-01-01T13:00:00+01:00",
  "Thu, 01 Jan 2026 12:00:00 GMT",
  "2026/01/01 12:00:00 +0000",
  "Thursday, 1-Jan-2026 12:00:00 GMT",
  "Thu Jan 01 2026 12:00:00 GMT+0000",
  "January 1, 2026 12:00:00 UTC",
  " 2026-01-01T12:00:00Z\n",
])("the timestamp %s is read", (timestamp) => {
  expect(parseTimestamp(timestamp)).toBe(sentAt);
});

test.each([
  null,
  undefined,
  "",
  "2026-01-01T12:00:00",
  "1767268800",
  "soon Z",
  "03-11-2026",
  "09/11/2026 10:00:00 +00:00",
  "11-09-2026 10:00:00 UTC",
  "10:00:00 11-09-2026",
  "10:00:00 Nov-09-2026",
  "Nov 23 19:24:24 GMT",
  "26-Nov-23 19:24:24 GMT",
  "mar 09/11/2026 19:24:24 GMT",
  "Nov 2026 19:24:24 GMT",
])("the timestamp %s cannot be read", (timestamp) => {
  expect(parseTimestamp(timestamp)).toBeNaN();
});

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
  expect(placeIn(windowOf(null, 20_000), at(0))).toBe("unknown");
});

test.each([
  ["2026-01-01T12:00:00Z", "2026-01-01T13:00:00+01:00", true],
  ["2026-01-01T12:00:00Z", "2026-01-01T12:00:00.999Z", true],
  ["2026-01-01T12:00:01Z", "2026-01-01T12:00:02Z", false],
  // A service may show whole minutes in a list, and exact times elsewhere.
  ["2026-01-01T12:10:00Z", "2026-01-01T12:10:59Z", undefined],
  ["2026-01-01T12:10:00Z", "2026-01-01T12:12:00Z", false],
  [null, "2026-01-01T12:00:01Z", undefined],
])("that %s and %s are the same time is %s", (a, b, same) => {
  expect(isSameTime(a, b)).toBe(same);
});

test("what was sent twice may be made between the first time and the patience after the last", () => {
  const window = windowOf(sentAt, 20_000, sentAt + 60_000);
  expect([-5_000, 30_000, 80_000].map((offset) => placeIn(window, at(offset)))).toEqual([
    "inside",
    "inside",
    "inside",
  ]);
  expect([-5_001, 80_001].map((offset) => placeIn(window, at(offset)))).toEqual(["outside", "outside"]);
});

test("before a window is sure, an endpoint lies across its border", () => {
  const window = { from: sentAt, sureFrom: sentAt + 10_000, until: sentAt + 20_000 };
  expect([-1, 9_999, 10_000].map((offset) => placeIn(window, at(offset)))).toEqual([
    "outside",
    "across",
    "inside",
  ]);
});
