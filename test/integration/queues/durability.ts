// Proves that no delivery is lost: `npm run durability`, or `npm run durability -- sqs 1000` for one store and fewer deliveries.

import { startPostgres } from "../stores/postgres";
import { startDurableRedis } from "../stores/redis";
import { startSqs } from "../stores/sqs";
import { runScenario } from "./scenario";

export const STORES = {
  redis: startDurableRedis,
  bullmq: startDurableRedis,
  "bullmq-5": startDurableRedis,
  "pg-boss": startPostgres,
  sqs: startSqs,
} as const;
export type Kind = keyof typeof STORES;

async function main([only, count = "5000"]: readonly string[]): Promise<void> {
  const names = (Object.keys(STORES) as Kind[]).filter((name) => (only ?? name) === name);
  const settings = {
    workers: 3,
    concurrency: 10,
    workMs: 5,
    killEvery: 100,
    outages: 2,
    repeatEvery: 50,
  };
  for (const kind of names) {
    const store = await STORES[kind]();
    try {
      const result = await runScenario({ kind, store, deliveries: Number(count), ...settings });
      const { lost, repeatedWithoutCause, repeated, killed, answers, totalMs } = result;
      const ok = lost.length === 0 && repeatedWithoutCause.length === 0;
      console.log(
        `${ok ? "ok    " : "FAILED"} ${kind}: ${count} deliveries in ${(totalMs / 1000).toFixed(1)} s, ${killed} processes killed, ` +
          `2 outages, answers ${JSON.stringify(answers)}: ${lost.length} lost, ${repeated} handled again after a kill or an outage, ` +
          `${repeatedWithoutCause.length} without a cause`,
      );
      if (ok) continue;
      console.log({ lost: lost.slice(0, 10), repeatedWithoutCause: repeatedWithoutCause.slice(0, 10) });
      process.exitCode = 1;
    } finally {
      await store.dispose();
    }
  }
}

if (require.main === module) void main(process.argv.slice(2));
