import { STORES } from "./durability";
import { growth } from "./growth";
import { runScenario } from "./scenario";

jest.setTimeout(180_000);

test.each(Object.entries(STORES))(
  "with %s, no delivery is lost while workers are killed and the store goes away, and only what they held is handled again",
  async (kind, start) => {
    const store = await start();
    try {
      const fast = {
        deliveries: 200,
        workers: 2,
        concurrency: 5,
        killEveryMs: 1_000,
        outages: 1,
        repeatEvery: 10,
      };
      const result = await runScenario({ kind: kind as keyof typeof STORES, store, ...fast });
      expect(result).toMatchObject({ lost: [], repeatedWithoutCause: [], answers: { 202: 220 } });
    } finally {
      await store.dispose();
    }
  },
);

test.each(Object.entries(STORES))(
  "with %s, neither a receiver nor a worker grows with the deliveries, not even while the store is away",
  async (kind, start) => {
    const store = await start();
    try {
      // moto takes longer for each message the more it has had.
      const deliveries = kind === "sqs" ? 400 : 2_000;
      const { answers, ...grown } = await growth(kind as keyof typeof STORES, store, deliveries);
      expect(answers).toEqual({ 202: 0.9 * deliveries, 503: 0.1 * deliveries });
      // A thousand bytes for each delivery would be 1.7 MiB.
      expect(Math.max(grown.receiverMiB, grown.workerMiB)).toBeLessThan(1.5);
    } finally {
      await store.dispose();
    }
  },
);
