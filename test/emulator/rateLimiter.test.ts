import { RateLimiter } from "../../src/emulator/rateLimiter";

describe("the rate limiter", () => {
  test("the rate limiter allows a burst, then a steady rate, and returns the exact wait", () => {
    let time = 0;
    const limiter = new RateLimiter({ requestsPerSecond: 10 }, () => time);
    const waits = Array.from({ length: 11 }, () => limiter.take("a"));
    expect(waits).toEqual([...Array(10).fill(0), 100]);
    expect(limiter.take("b")).toBe(0);
    time = 60;
    expect(limiter.take("a")).toBeCloseTo(40);
    time = 100;
    expect(limiter.take("a")).toBe(0);
    time = 1_000_000;
    expect(Array.from({ length: 11 }, () => limiter.take("a")).filter((wait) => wait === 0)).toHaveLength(10);
  });
});
