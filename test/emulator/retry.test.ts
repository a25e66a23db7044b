import { retryDelay } from "../../src/emulator/deliveries/retry";

describe("the wait before a retry", () => {
  const now = Date.UTC(2030, 0, 1);
  const delay = (retryAfter: string | undefined, attempts = 1) =>
    retryDelay({ delaysMs: [1000, 5000], attempts, retryAfter, now });

  test.each([
    ["as planned", undefined, 1000],
    ["longer when asked in seconds", "30", 30_000],
    ["longer when asked by a date", new Date(now + 60_000).toUTCString(), 60_000],
    ["never shorter", "0", 1000],
    ["not shorter for a date that is over", new Date(now - 60_000).toUTCString(), 1000],
    ["not other for what nobody understands", "soon", 1000],
    ["an hour at most", "999999999999", 3_600_000],
  ])("is %s", (_, retryAfter, expected) => {
    expect(delay(retryAfter)).toBe(expected);
  });

  test("grows, and ends with the plan whatever the receiver asks", () => {
    expect([delay(undefined, 1), delay(undefined, 2), delay("30", 3)]).toEqual([1000, 5000, null]);
  });
});
