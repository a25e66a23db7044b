import fc from "fast-check";
import { backoffMs, longestRetryAfterMs, retryAfterMs } from "../../src/client/retryTiming";

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

describe("backoff", () => {
  test("is full jitter under a ceiling that doubles and then stays", () => {
    const ceilings = [0, 1, 2, 3, 4, 5, 50].map((repeat) => backoffMs(repeat, () => 1));
    expect(ceilings).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    expect(backoffMs(7, () => 0)).toBe(0);
  });
});

describe("Retry-After", () => {
  test.each([
    ["0", 0],
    ["7", 7_000],
    [" 7 ", 7_000],
    ["0.5", 500],
    ["3600", longestRetryAfterMs],
    ["99999999999999999999", longestRetryAfterMs],
    ["Thu, 01 Jan 2026 12:00:10 GMT", 10_000],
    ["Thursday, 01-Jan-26 12:00:10 GMT", 10_000],
    ["Thu Jan  1 12:00:10 2026", 10_000],
    ["Thu, 01 Jan 2026 11:00:00 GMT", 0],
    ["Thu, 01 Jan 2099 00:00:00 GMT", longestRetryAfterMs],
  ])("%j asks for %d ms", (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });

  test.each([
    undefined,
    "",
    "-1",
    "1e3",
    "soon",
    "1 second",
    "NaN",
    "Infinity",
    "2026-01-01T12:00:10Z",
    "Thu",
    "Thu, 99 Foo 12",
  ])("%j asks for nothing that can be understood", (header) => {
    expect(retryAfterMs(header, now)).toBeUndefined();
  });

  test("is a wait from nothing to a minute, or not understood, whatever a service sends", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.double().map(String),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        ),
        (header) => {
          const wait = retryAfterMs(header, now) ?? 0;
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(longestRetryAfterMs);
        },
      ),
    );
  });
});
