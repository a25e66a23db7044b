// A receiver or a worker in a process of its own: argv[2] holds a `ProgramOptions` as JSON. A receiver tells its parent its URL. A worker
// appends a line to a file for each call of its handler, before and after its work, which SIGKILL cannot take back.

import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver, redisDedupe } from "../../../src/receiver";
import { nodeHandler } from "../../../src/receiver/adapters/node";
import { queueWorker } from "../../../src/receiver/queues";
import { type KindName, kinds } from "./kinds";

export interface ProgramOptions {
  readonly role: "prepare" | "receiver" | "worker";
  readonly kind: KindName;
  readonly url: string;
  readonly secrets: readonly string[];
  readonly log: string;
  readonly concurrency: number;
  /** How long a handler takes. */
  readonly workMs: number;
  readonly handlerTimeoutMs: number;
  /** The socket of a Redis for the dedupe store of the worker. */
  readonly dedupe?: string;
}

export type ProgramMessage = "ready" | { readonly url: string } | { readonly heapMiB: number };

async function main({
  role,
  kind,
  url,
  secrets,
  log,
  concurrency,
  workMs,
  handlerTimeoutMs,
  dedupe,
}: ProgramOptions) {
  const queue = kinds[kind];
  process.on("unhandledRejection", (error) => {
    console.error("unhandled rejection", error);
    process.exit(1);
  });
  if (role === "prepare") {
    await queue.prepare(url);
    process.exit();
  }
  process.on("message", () => {
    globalThis.gc?.();
    tell({ heapMiB: process.memoryUsage().heapUsed / 2 ** 20 });
  });
  if (role === "receiver") {
    const opened = await queue.open(url);
    const receiver = createReceiver({
      secrets,
      queue: opened.queue,
      handlerTimeoutMs,
      onOutcome() {},
      onRejected() {},
    });
    const server = createServer(nodeHandler(receiver)).listen(0, "127.0.0.1", () => {
      tell({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
    });
    return;
  }
  const note = (what: string, id: string) => appendFileSync(log, `${what} ${process.pid} ${id}\n`);
  const worker = queueWorker({
    ...(dedupe === undefined ? {} : { dedupe: redisDedupe({ client: await redisAt(dedupe) }) }),
    onOutcome() {},
    handlers: {
      async "job.succeeded"({ id }) {
        note("start", id);
        await sleep(workMs);
        note("done", id);
      },
    },
  });
  await queue.work(url, worker, { concurrency });
  tell("ready");
}

async function redisAt(path: string) {
  const { Redis } = await import("ioredis");
  const client = new Redis({ path, enableOfflineQueue: false, maxRetriesPerRequest: 1 });
  client.on("error", () => {});
  return client;
}

function tell(message: ProgramMessage): void {
  process.send?.(message);
}

process.once("disconnect", () => process.exit());
if (process.send !== undefined && process.argv[2] !== undefined) {
  const options: ProgramOptions = JSON.parse(process.argv[2]);
  // The store may be away.
  main(options).catch(() => process.exit(2));
}
