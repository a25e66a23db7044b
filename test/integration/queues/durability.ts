// Proves that no delivery is lost, and that no process grows: `npm run durability`, or `npm run durability -- sqs 1000` for one queue
// and fewer deliveries. To see growth, ten times as many are sent, except to moto, which takes longer for each the more it has had.

import { startPostgres } from "../stores/postgres";
import { startDurableRedis } from "../stores/redis";
import { startSqs } from "../stores/sqs";
import { growth } from "./growth";
import { runScenario } from "./scenario";

export const STORES = {
  bullmq: startDurableRedis,
  "bullmq-5": startDurableRedis,
  "pg-boss": startPostgres,
  sqs: startSqs,
} as const;

/** Over 50,000 deliveries, this is 40 bytes for each. */
const MOST_GROWTH_MIB = 2;

async function main([only, count = "5000"]: readonly string[]): Promise<void> {
  const names = (Object.keys(STORES) as (keyof typeof STORES)[]).filter((name) => (only ?? name) === name);
  for (const kind of names) {
    const store = await STORES[kind]();
    try {
      const deliveries = Number(count);
      const settings = {
        kind,
        store,
        deliveries,
        workers: 3,
        concurrency: 10,
        killEveryMs: 1_000,
        outages: 2,
      };
      const result = await runScenario(settings);
      const { lost, repeatedWithoutCause, repeated, killed, answers, sendingMs, totalMs } = result;
      const ok = lost.length === 0 && repeatedWithoutCause.length === 0;
      console.log(
        `${ok ? "ok    " : "FAILED"} ${kind}: ${deliveries} deliveries in ${seconds(totalMs)} s (sent in ${seconds(sendingMs)} s), ` +
          `${killed} workers killed, 2 outages, answers ${JSON.stringify(answers)}: ${lost.length} lost, ` +
          `${repeated} handled again after a kill, ${repeatedWithoutCause.length} without a cause`,
      );
      if (!ok) {
        console.log({ lost: lost.slice(0, 10), repeatedWithoutCause: repeatedWithoutCause.slice(0, 10) });
        process.exitCode = 1;
      }
      await store.dispose();
      await report(kind, kind === "sqs" ? deliveries / 5 : deliveries * 10);
    } finally {
      await store.dispose();
    }
  }
}

/** Prints how much a receiver and a worker grow. */
async function report(kind: keyof typeof STORES, deliveries: number): Promise<void> {
  const store = await STORES[kind]();
  try {
    const { answers, receiverMiB, workerMiB } = await growth(kind, store, deliveries);
    const ok = Math.max(receiverMiB, workerMiB) < MOST_GROWTH_MIB;
    console.log(
      `${ok ? "ok    " : "FAILED"} ${kind}: ${deliveries} deliveries, answers ${JSON.stringify(answers)}: the receiver grew by ` +
        `${receiverMiB.toFixed(2)} MiB, the worker by ${workerMiB.toFixed(2)} MiB`,
    );
    if (!ok) process.exitCode = 1;
  } finally {
    await store.dispose();
  }
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1);
}

if (require.main === module) void main(process.argv.slice(2));
