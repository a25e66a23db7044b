import { queueWorker } from "pulumi-webhook-endpoints/receiver/queues";
import { startBoss } from "./queue.js";

const worker = queueWorker({
  handlers: {
    "job.succeeded": async ({ jobId }) => console.log(`${jobId} is done`),
    "job.failed": async ({ jobId }) => console.log(`${jobId} failed`),
  },
});

const boss = await startBoss();
await boss.work("webhooks", { localConcurrency: 10, burst: true }, worker);

// Finishes the deliveries in progress. The timeout must be longer than the worker's `handlerTimeoutMs`, which is 15 seconds by default.
process.once("SIGTERM", () => boss.stop({ timeout: 30_000 }));
