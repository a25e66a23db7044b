import fc from "fast-check";
import { backoffMs, LONGEST_PAUSE_MS, retryAfterMs } from "../../src/client/retryPolicy";

const now = Date.UTC(2026, 0, 1, 12, 0, 0);
const askedMs = (header: string | undefined) => retryAfterMs({ headers: { "retry-after": header } }, now);

test("backoffMs has full jitter under a ceiling that doubles and then stays", () => {
  const ceilings = [0, 1, 2, 3, 4, 5, 50].map((repeat) => backoffMs(repeat, () => 1));
  expect(ceilings).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  expect(backoffMs(7, () => 0)).toBe(0);
});

test.each([
  ["0", 0],
  ["7", 7_000],
  ["0.5", 500],
  ["3600", LONGEST_PAUSE_MS],
  ["-1", 0],
  ["Thu, 01 Jan 2026 12:00:10 GMT", 10_000],
  ["Thu, 01 Jan 2026 11:00:00 GMT", 0],
  ["Thu, 01 Jan 2099 00:00:00 GMT", LONGEST_PAUSE_MS],
  [undefined, undefined],
  ["soon", undefined],
  ["Thu, 99 Foo 12", undefined],
])("Retry-After: %j asks for a pause of %p ms", (header, expected) => {
  expect(askedMs(header)).toBe(expected);
});

test("any Retry-After is a pause of at most a minute, or not understood", () => {
  const dates = fc.date({ noInvalidDate: true }).map((date) => date.toUTCString());
  const property = fc.property(fc.oneof(fc.string(), fc.double().map(String), dates), (header) => {
    const wait = askedMs(header) ?? 0;
    expect(wait).toBeGreaterThanOrEqual(0);
    expect(wait).toBeLessThanOrEqual(LONGEST_PAUSE_MS);
  });
  fc.assert(property);
});
