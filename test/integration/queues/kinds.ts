// How a program uses each queue: its receiver's side, and its workers'. Loaded by processes of their own, as pg-boss 12 is an ECMAScript
// module, which Jest cannot load.

import { setTimeout as sleep } from "node:timers/promises";
import type { DeliveryQueue } from "../../../src/receiver";
import {
  bullmqQueue,
  pgBossQueue,
  type QueueWorker,
  sqsHandler,
  sqsQueue,
} from "../../../src/receiver/queues";

export interface Opened {
  readonly queue: DeliveryQueue;
  close(): Promise<void>;
}
export interface Working {
  /** Finishes what it holds. */
  stop(): Promise<void>;
}
export interface Kind {
  /** Creates what has to exist before a receiver or a worker starts. */
  prepare(url: string): Promise<void>;
  open(url: string): Promise<Opened>;
  work(url: string, worker: QueueWorker, options: { concurrency: number }): Promise<Working>;
}

export type KindName = "bullmq" | "bullmq-5" | "pg-boss" | "sqs";

const NAME = "webhooks";
const onError = () => {};

function bullmq(load: () => Promise<typeof import("bullmq")>): Kind {
  return {
    async prepare() {},
    async open(url) {
      const { Queue } = await load();
      const connection = { path: url, enableOfflineQueue: false, maxRetriesPerRequest: 1 };
      const queue = new Queue(NAME, { connection });
      queue.on("error", onError);
      return { queue: bullmqQueue(queue), close: () => queue.close() };
    },
    async work(url, worker, { concurrency }) {
      const { Worker } = await load();
      // Shorter than the defaults, so that a test need not wait 30 seconds for what a killed worker held.
      const recovery = { lockDuration: 5_000, stalledInterval: 1_000, maxStalledCount: 1_000 };
      const connection = { path: url, maxRetriesPerRequest: null };
      const working = new Worker(NAME, worker, { connection, concurrency, ...recovery });
      working.on("error", onError);
      return { stop: () => working.close() };
    },
  };
}

const pgBoss: Kind = {
  async prepare(url) {
    const { PgBoss } = await import("pg-boss");
    const boss = new PgBoss({ connectionString: url });
    boss.on("error", onError);
    await boss.start();
    const retries = { retryLimit: 100, retryDelay: 0, heartbeatSeconds: 10 };
    await boss.createQueue(NAME, { ...retries, expireInSeconds: 60 });
    await boss.stop();
  },
  async open(url) {
    const { PgBoss } = await import("pg-boss");
    const boss = new PgBoss({
      connectionString: url,
      monitorIntervalSeconds: 1,
      superviseIntervalSeconds: 1,
    });
    boss.on("error", onError);
    await boss.start();
    return { queue: pgBossQueue(boss, NAME), close: () => boss.stop() };
  },
  async work(url, worker, { concurrency }) {
    const { PgBoss } = await import("pg-boss");
    const boss = new PgBoss({ connectionString: url, supervise: false });
    boss.on("error", onError);
    await boss.start();
    const polling = { batchSize: 1, localConcurrency: concurrency, pollingIntervalSeconds: 0.5, burst: true };
    await boss.work(NAME, polling, worker);
    return { stop: () => boss.stop() };
  },
};

const sqs: Kind = {
  async prepare(url) {
    const { SQS } = await import("@aws-sdk/client-sqs");
    const Attributes = { FifoQueue: "true", VisibilityTimeout: "5" };
    await new SQS(clientOf(url)).createQueue({ QueueName: `${NAME}.fifo`, Attributes });
  },
  async open(url) {
    const { SQS } = await import("@aws-sdk/client-sqs");
    const client = new SQS(clientOf(url));
    return { queue: sqsQueue({ client, queueUrl: queueUrlOf(url) }), close: async () => client.destroy() };
  },
  /** What AWS runs for a Lambda function on SQS: it polls, calls the handler, and deletes what did not fail. */
  async work(url, worker, { concurrency }) {
    const { SQS } = await import("@aws-sdk/client-sqs");
    const client = new SQS(clientOf(url));
    const handler = sqsHandler(worker);
    const QueueUrl = queueUrlOf(url);
    let isStopped = false;
    async function poll(): Promise<void> {
      const { Messages = [] } = await client.receiveMessage({
        QueueUrl,
        MaxNumberOfMessages: Math.min(10, concurrency),
      });
      if (Messages.length === 0) return sleep(100);
      const Records = Messages.map(({ MessageId = "", Body = "" }) => ({ messageId: MessageId, body: Body }));
      const { batchItemFailures } = await handler({ Records });
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      const done = Messages.filter(({ MessageId = "" }) => !failed.has(MessageId));
      const Entries = done.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      if (Entries.length > 0) await client.deleteMessageBatch({ QueueUrl, Entries });
    }
    const running = (async () => {
      while (!isStopped) await poll().catch(() => sleep(100));
    })();
    return {
      async stop() {
        isStopped = true;
        await running;
        client.destroy();
      },
    };
  },
};

function clientOf(endpoint: string) {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return { endpoint, region: "us-east-1", credentials };
}

function queueUrlOf(url: string): string {
  return `${url}/123456789012/${NAME}.fifo`;
}

export const kinds: Readonly<Record<KindName, Kind>> = {
  bullmq: bullmq(() => import("bullmq")),
  // Another version of the same package, whose types are its own.
  "bullmq-5": bullmq(() => import("bullmq-5" as string)),
  "pg-boss": pgBoss,
  sqs,
};
