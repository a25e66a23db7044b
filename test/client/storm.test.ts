import { HandClock } from "./handClock";
import { simulateService } from "./simulatedService";
import { endpoint, rejection } from "./support";

/** mulberry32: a small generator whose seed makes a failure repeatable. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const TWO_MINUTES_MS = 120_000;

type Refusing = (random: () => number) => (index: number) => boolean;
const inTurn: Refusing = () => (index) => index % 3 !== 0;
const atRandom: Refusing = (random) => () => random() < 2 / 3;

test.each<[how: string, retryAfter: string | undefined, Refusing]>([
  ["in turn", undefined, inTurn],
  ["in turn", "0", inTurn],
  ["in turn", "1", inTurn],
  ["in turn", "3", inTurn],
  ["at random", undefined, atRandom],
  ["at random", "1", atRandom],
])(
  "20 registrations succeed within two minutes at a service that refuses two of three requests %s, with Retry-After %s",
  async (_, retryAfter, refusing) => {
    for (let seed = 0; seed < 25; seed += 1) {
      const random = seeded(seed);
      const clock = new HandClock();
      const service = simulateService({ clock, refuses: refusing(random), retryAfter, random });
      const client = service.client();
      const ends: string[] = [];
      for (let i = 0; i < 20; i += 1) {
        const registration = client.register({ url: endpoint.url, type: endpoint.type });
        registration.then(
          ({ id }) => ends.push(id),
          (error: Error) => ends.push(error.message),
        );
      }
      await clock.pass(TWO_MINUTES_MS);
      expect({ seed, ends }).toEqual({ seed, ends: Array<string>(20).fill(endpoint.id) });
      // No request is sent during a pause that an earlier answer asked for.
      const pauseMs = Number(retryAfter ?? 0) * 1_000;
      for (const refusedAt of service.refusedAt) {
        expect(service.sentAt.filter((at) => at > refusedAt && at < refusedAt + pauseMs)).toEqual([]);
      }
    }
  },
);

test.each([
  [undefined, 60_000],
  ["0", 60_000],
  ["60", 600_000],
])(
  "all operations end when a service refuses every request with Retry-After %s, ten times and for a minute",
  async (retryAfter, leastMs) => {
    const clock = new HandClock();
    const service = simulateService({ clock, refuses: () => true, retryAfter, random: () => 0.5 });
    const client = service.client({ maxConcurrency: 2 });
    const errors: { error: unknown; at: number }[] = [];
    for (let i = 0; i < 6; i += 1) {
      void rejection(client.get("wh_1")).then((error) => errors.push({ error, at: clock.time }));
    }
    await clock.pass(2 * leastMs);
    expect(errors).toHaveLength(6);
    for (const { error, at } of errors) {
      expect(error).toMatchObject({ code: "RATE_LIMITED" });
      expect(at).toBeGreaterThanOrEqual(leastMs * 0.9);
      expect(at).toBeLessThan(leastMs + 10_000);
    }
    // The gate sends the oldest first, so the youngest are never sent.
    const unsent = errors.filter(({ error }) =>
      String(error).includes("was not sent: for at least a minute"),
    );
    expect(unsent).toHaveLength(4);
    expect(service.sentAt.length).toBeLessThanOrEqual(30);
  },
);
