import { type Kind, STORES } from "./durability";
import { runScenario } from "./scenario";

jest.setTimeout(180_000);

test.each(Object.keys(STORES) as Kind[])(
  "with %s, no delivery is lost while processes are killed and the store goes away, and only for these causes one is handled again",
  async (kind) => {
    const store = await STORES[kind]();
    try {
      const settings = {
        deliveries: 200,
        workers: 2,
        concurrency: 5,
        killEvery: 60,
        outages: 1,
        repeatEvery: 10,
      };
      const result = await runScenario({ kind, store, ...settings, workMs: kind === "redis" ? 50 : 5 });
      expect(result).toMatchObject({ lost: [], repeatedWithoutCause: [] });
      expect(result.answers[kind === "redis" ? 200 : 202]).toBe(220);
      expect(result.killed).toBeGreaterThan(0);
    } finally {
      await store.dispose();
    }
  },
);
