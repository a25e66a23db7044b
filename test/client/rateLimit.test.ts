import { createServer } from "node:http";
import type { Wait } from "../../src/client";
import { cleanUp, clientOf, endpoint, listen } from "./support";

afterEach(cleanUp);

/** A service that allows so many requests a second, so many of them at once, and says 429 to the rest. */
async function startLimited({
  perSecond,
  burst,
  retryAfter,
}: {
  perSecond: number;
  burst: number;
  retryAfter: string;
}) {
  let tokens = burst;
  let filledAt = performance.now();
  const counts = { accepted: 0, refused: 0 };
  const server = createServer((_, response) => {
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - filledAt) * perSecond) / 1000);
    filledAt = now;
    if (tokens < 1) {
      counts.refused += 1;
      response.writeHead(429, { "retry-after": retryAfter }).end();
      return;
    }
    tokens -= 1;
    counts.accepted += 1;
    response.writeHead(200).end(JSON.stringify(endpoint));
  });
  return { baseUrl: `http://127.0.0.1:${await listen(server)}`, counts };
}

test.each([
  { perSecond: 40, burst: 20, retryAfter: "1" },
  { perSecond: 40, burst: 1, retryAfter: "0" },
])(
  "200 requests at once get through a service's limit without a storm: %j",
  async (limit) => {
    const service = await startLimited(limit);
    const waits: Wait[] = [];
    const client = clientOf(service.baseUrl, { onWait: (wait) => waits.push(wait) });
    const all = await Promise.all(Array.from({ length: 200 }, () => client.get("wh_1")));
    expect(all).toHaveLength(200);
    expect(service.counts.accepted).toBe(200);
    // The first burst, which knows of no limit, and a small part of the rest.
    expect(service.counts.refused).toBeLessThan(64 + 100);
    expect(waits.length).toBeGreaterThan(0);
    expect(waits.every(({ code, statusCode }) => code === "RATE_LIMITED" && statusCode === 429)).toBe(true);
  },
  60_000,
);
