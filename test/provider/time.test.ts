import { gracePeriodFor, parseTimestamp } from "../../src/provider/facts/time";

const noon = Date.UTC(2026, 0, 1, 12);
test.each<[string | null, number | undefined]>([
  ["2026-01-01T12:00:00Z", noon],
  ["2026-01-01T12:00:00.000Z", noon],
  [" 2026-01-01 12:00:00+00:00 ", noon],
  ["2026-01-01T13:00:00+0100", noon],
  ["2026-01-01 12:00:00+00", noon],
  ["2026-01-01 17:30:00.000000+0530", noon],
  ["2026-01-01T04:00:00-08", noon],
  ["2026-01-01 12:00:00 UTC", noon],
  ["2026-01-01T12:00:00.000utc", noon],
  ["2026-01-01 12:00 +00:00", noon],
  ["2026-01-01t12:00:00.000000000z", noon],
  ["Thu, 01 Jan 2026 12:00:00 GMT", noon],
  [`${noon}`, noon],
  [`${noon / 1000}`, noon],
  // Without a zone, nothing says which clock it is on.
  ["2026-01-01T12:00:00", undefined],
  ["2026-01-01", undefined],
  ["2026-01-01 12:00:00 CET", undefined],
  ["2026-01-01 12:00:00 +1", undefined],
  ["2026-01-01 25:00:00+00", undefined],
  ["2026-01-01 12:00:00 whatever UTC", undefined],
  ["Tue, 3rd of June (about noon)", undefined],
  ["yesterday", undefined],
  // What a service says that does not know the time.
  ["0001-01-01T00:00:00Z", undefined],
  ["1970-01-01T00:00:00.000Z", undefined],
  ["0000000000", undefined],
  ["7", undefined],
  [null, undefined],
])("the timestamp %s is read as %s", (timestamp, expected) => {
  expect(parseTimestamp(timestamp)).toBe(expected);
});

test("the grace period is twice the timeout, and at least 20 s", () => {
  expect([1, 10_000, 30_000].map(gracePeriodFor)).toEqual([20_000, 20_000, 60_000]);
});
