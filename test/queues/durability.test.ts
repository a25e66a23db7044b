import { STORES } from "./durability";
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
