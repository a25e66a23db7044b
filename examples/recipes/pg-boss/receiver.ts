import http from "node:http";
import { nodeHandler } from "pulumi-webhook-endpoints/receiver/node";
import { pgBossQueue } from "pulumi-webhook-endpoints/receiver/queues";
import { receiverFromEnv } from "pulumi-webhook-endpoints/stack";
import { startBoss } from "./queue.js";

const boss = await startBoss();
const receiver = receiverFromEnv({ variable: "WEBHOOK_RECEIVER" }, { queue: pgBossQueue(boss, "webhooks") });
const server = http.createServer(nodeHandler(receiver)).listen(8080);

process.once("SIGTERM", () => server.close(() => boss.stop()));
