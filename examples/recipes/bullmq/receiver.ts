import http from "node:http";
import { Queue } from "bullmq";
import { nodeHandler } from "pulumi-webhook-endpoints/receiver/node";
import { bullmqQueue } from "pulumi-webhook-endpoints/receiver/queues";
import { receiverFromEnv } from "pulumi-webhook-endpoints/stack";

// While Redis is away, commands must fail rather than wait in memory: the sender is answered 503, and sends again.
const connection = {
  url: process.env.REDIS_URL ?? "",
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  socketTimeout: 10_000,
};
const queue = new Queue("webhooks", { connection });
queue.on("error", (error: Error) => console.error("redis", error.message));

const receiver = receiverFromEnv({ variable: "WEBHOOK_RECEIVER" }, { queue: bullmqQueue(queue) });
const server = http.createServer(nodeHandler(receiver)).listen(8080);

process.once("SIGTERM", () => server.close(() => queue.close()));
