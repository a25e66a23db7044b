import { Redis } from "ioredis";
import { redisDedupe } from "pulumi-webhook-endpoints/receiver";
import { queueWorker, sqsHandler } from "pulumi-webhook-endpoints/receiver/queues";

const options = { enableOfflineQueue: false, maxRetriesPerRequest: 1, socketTimeout: 10_000 };
const client = new Redis(process.env.REDIS_URL ?? "", options);
client.on("error", (error: Error) => console.error("redis", error.message));

const worker = queueWorker({
  // A FIFO queue remembers a delivery for five minutes only. Each application needs a prefix of its own.
  dedupe: redisDedupe({ client, prefix: "billing:webhooks:" }),
  handlers: {
    "job.succeeded": async ({ jobId }) => console.log(`${jobId} is done`),
    "job.failed": async ({ jobId }) => console.log(`${jobId} failed`),
  },
});

export const handler = sqsHandler(worker);
