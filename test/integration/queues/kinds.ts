// How a program uses each queue: its receiver's side, and its workers'. Loaded by processes of their own, which are killed, and because
// pg-boss 12 is an ECMAScript module, which Jest cannot load.

import { setTimeout as sleep } from "node:timers/promises";
import type { DeliveryQueue } from "../../../src/receiver";
import * as queues from "../../../src/receiver/queues";
import { queueOptions, workerOptions } from "../redis/options";

interface Kind {
  /** Creates what has to exist before a receiver or a worker starts. */
  prepare(url: string): Promise<unknown>;
  open(url: string): Promise<DeliveryQueue>;
  /** Runs a worker until its process ends. */
  work(url: string, worker: queues.QueueWorker, concurrency: number): Promise<unknown>;
}

export type KindName = "bullmq" | "bullmq-5" | "pg-boss" | "sqs";

const NAME = "webhooks";
const onError = () => {};

function bullmq(load: () => Promise<typeof import("bullmq")>): Kind {
  return {
    async prepare() {},
    async open(url) {
      const { Queue } = await load();
      const connection = { path: url, ...queueOptions };
      return queues.bullmqQueue(new Queue(NAME, { connection }).on("error", onError));
    },
    async work(url, worker, concurrency) {
      const { Worker } = await load();
      // Shorter than the defaults, so that a test need not wait 30 seconds for what a killed worker held.
      const recovery = { lockDuration: 5_000, stalledInterval: 1_000, maxStalledCount: 1_000 };
      const connection = { path: url, ...workerOptions };
      new Worker(NAME, worker, { connection, concurrency, ...recovery }).on("error", onError);
    },
  };
}

async function bossAt(url: string, options: object = {}) {
  const { PgBoss } = await import("pg-boss");
  const boss = new PgBoss({ connectionString: url, ...options });
  boss.on("error", onError);
  return boss.start();
}

const pgBoss: Kind = {
  async prepare(url) {
    const boss = await bossAt(url);
    await boss.createQueue(NAME, {
      retryLimit: 100,
      retryDelay: 0,
      heartbeatSeconds: 10,
      expireInSeconds: 60,
    });
  },
  async open(url) {
    const boss = await bossAt(url, { monitorIntervalSeconds: 1, superviseIntervalSeconds: 1 });
    return queues.pgBossQueue(boss, NAME);
  },
  async work(url, worker, concurrency) {
    const boss = await bossAt(url, { supervise: false });
    const polling = { batchSize: 1, localConcurrency: concurrency, pollingIntervalSeconds: 0.5, burst: true };
    await boss.work(NAME, polling, worker);
  },
};

const QUEUE = `123456789012/${NAME}.fifo`;

async function sqsAt(endpoint: string) {
  const { SQS } = await import("@aws-sdk/client-sqs");
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return new SQS({ endpoint, region: "us-east-1", credentials });
}

const sqs: Kind = {
  async prepare(url) {
    const Attributes = { FifoQueue: "true", VisibilityTimeout: "5" };
    await (await sqsAt(url)).createQueue({ QueueName: `${NAME}.fifo`, Attributes });
  },
  async open(url) {
    return queues.sqsQueue({ client: await sqsAt(url), queueUrl: `${url}/${QUEUE}` });
  },
  /** What AWS runs for a Lambda function on SQS: it polls, calls the handler, and deletes what did not fail. */
  async work(url, worker, concurrency) {
    const client = await sqsAt(url);
    const handler = queues.sqsHandler(worker);
    const QueueUrl = `${url}/${QUEUE}`;
    async function poll(): Promise<void> {
      const MaxNumberOfMessages = Math.min(10, concurrency);
      const { Messages = [] } = await client.receiveMessage({ QueueUrl, MaxNumberOfMessages });
      if (Messages.length === 0) return sleep(100);
      const Records = Messages.map(({ MessageId = "", Body = "" }) => ({ messageId: MessageId, body: Body }));
      const { batchItemFailures } = await handler({ Records });
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      const done = Messages.filter(({ MessageId = "" }) => !failed.has(MessageId));
      const Entries = done.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      if (Entries.length > 0) await client.deleteMessageBatch({ QueueUrl, Entries });
    }
    void (async () => {
      for (;;) await poll().catch(() => sleep(100));
    })();
  },
};

export const kinds: Readonly<Record<KindName, Kind>> = {
  bullmq: bullmq(() => import("bullmq")),
  // Another version of the same package, whose types are its own.
  "bullmq-5": bullmq(() => import("bullmq-5" as string)),
  "pg-boss": pgBoss,
  sqs,
};
