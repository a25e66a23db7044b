import { retryDelay } from "../../src/emulator/deliveries/retry";

describe("the wait before a retry", () => {
  const now = Date.UTC(2030, 0, 1);
  const delay = (retryAfter: string | undefined, attempts = 1) =>
    retryDelay({ delaysMs: [1000, 5000], attempts, retryAfter, now });

  test.each([
    ["as planned", undefined, 1000],
    ["longer for a Retry-After in seconds", "30", 30_000],
    ["longer for a Retry-After date", new Date(now + 60_000).toUTCString(), 60_000],
    ["not shorter for a Retry-After of 0", "0", 1000],
    ["not shorter for a date in the past", new Date(now - 60_000).toUTCString(), 1000],
    ["as planned for an invalid Retry-After", "soon", 1000],
    ["one hour at most", "999999999999", 3_600_000],
  ])("the wait is %s", (_, retryAfter, expected) => {
    expect(delay(retryAfter)).toBe(expected);
  });

  test("retries end after the last planned delay, even with a Retry-After", () => {
    expect([delay(undefined, 1), delay(undefined, 2), delay("30", 3)]).toEqual([1000, 5000, null]);
  });
});
