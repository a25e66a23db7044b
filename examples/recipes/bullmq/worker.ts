import { Worker } from "bullmq";
import { queueWorker } from "pulumi-webhook-endpoints/receiver/queues";

const worker = queueWorker({
  handlers: {
    "job.succeeded": async ({ jobId }) => console.log(`${jobId} is done`),
    "job.failed": async ({ jobId }) => console.log(`${jobId} failed`),
  },
});

const working = new Worker("webhooks", worker, {
  // node_modules/pulumi-webhook-endpoints/docs/receiving.md says what each option prevents.
  connection: {
    url: process.env.REDIS_URL ?? "",
    // BullMQ demands it.
    maxRetriesPerRequest: null,
    connectTimeout: 2_000,
    // Longer than BullMQ waits for a job.
    socketTimeout: 30_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
    reconnectOnError: ({ message }: Error) => message.includes("READONLY"),
  },
  concurrency: 10,
  // How many workers may die over one delivery before it is a dead letter. BullMQ's default is 1.
  maxStalledCount: 10,
});
working.on("error", (error: Error) => console.error("redis", error.message));

// Finishes the deliveries in progress.
process.once("SIGTERM", () => working.close());
