import { Redis } from "ioredis";
import { redisDedupe } from "pulumi-webhook-endpoints/receiver";
import { queueWorker, sqsHandler } from "pulumi-webhook-endpoints/receiver/queues";

// node_modules/pulumi-webhook-endpoints/docs/receiving.md says what each option prevents.
const client = new Redis(process.env.REDIS_URL ?? "", {
  lazyConnect: true,
  maxRetriesPerRequest: 1,
  connectTimeout: 2_000,
  socketTimeout: 3_000,
  retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  reconnectOnError: ({ message }) => message.includes("READONLY"),
});
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
