import type { Wait } from "../../src/client";
import { HandClock } from "./handClock";
import { simulateService } from "./simulatedService";

/** Refuses requests beyond `perSecond`, with bursts of up to `burst`. */
function limiter(clock: HandClock, { perSecond, burst }: { perSecond: number; burst: number }) {
  let tokens = burst;
  let filledAt = 0;
  return () => {
    tokens = Math.min(burst, tokens + ((clock.time - filledAt) * perSecond) / 1000);
    filledAt = clock.time;
    if (tokens < 1) return true;
    tokens -= 1;
    return false;
  };
}

test.each([
  { perSecond: 40, burst: 20, retryAfter: "1" },
  { perSecond: 40, burst: 1, retryAfter: "0" },
])("200 concurrent requests succeed at a service with the limit %j, few of them refused", async (limit) => {
  const clock = new HandClock();
  const waits: Wait[] = [];
  const service = simulateService({
    clock,
    refuses: limiter(clock, limit),
    retryAfter: limit.retryAfter,
    random: () => 0.5,
  });
  const client = service.client({ onWait: (wait) => waits.push(wait) });
  const all = Promise.all(Array.from({ length: 200 }, () => client.get("wh_1")));
  await clock.pass(60_000);
  expect(await all).toHaveLength(200);
  // The first burst, sent before the limit is known, and a small part of the others.
  expect(service.refusedAt.length).toBeLessThan(64 + 100);
  expect(waits.length).toBeGreaterThan(0);
  expect(waits.every(({ code, statusCode }) => code === "RATE_LIMITED" && statusCode === 429)).toBe(true);
});
