import http from "node:http";
import { Queue } from "bullmq";
import { nodeHandler } from "pulumi-webhook-endpoints/receiver/node";
import { bullmqQueue } from "pulumi-webhook-endpoints/receiver/queues";
import { receiverFromEnv } from "pulumi-webhook-endpoints/stack";

// node_modules/pulumi-webhook-endpoints/docs/receiving.md says what each option prevents.
const queue = new Queue("webhooks", {
  connection: {
    url: process.env.REDIS_URL ?? "",
    maxRetriesPerRequest: 1,
    connectTimeout: 2_000,
    socketTimeout: 3_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
    reconnectOnError: ({ message }: Error) => message.includes("READONLY"),
  },
});
queue.on("error", (error: Error) => console.error("redis", error.message));

const receiver = receiverFromEnv({ variable: "WEBHOOK_RECEIVER" }, { queue: bullmqQueue(queue) });
const server = http.createServer(nodeHandler(receiver)).listen(8080);

process.once("SIGTERM", () => server.close(() => queue.close()));
