// A receiver or a worker in a process of its own: argv[2] holds a `ProgramOptions` as JSON. It tells its parent when it is ready. Its
// handler appends a line to a file before and after its work, which SIGKILL cannot take back.

import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver, type Receiver, redisDedupe } from "../../../src/receiver";
import { nodeHandler } from "../../../src/receiver/adapters/node";
import { queueWorker } from "../../../src/receiver/queues";
import { secret } from "../../receiver/support";
import { ioredisOptions } from "../redis/options";
import { type KindName, kinds } from "./kinds";

export interface ProgramOptions {
  /** A receiver hands deliveries to the queue, a worker handles them, and a handler does both, with a dedupe store. */
  readonly role: "prepare" | "receiver" | "worker" | "handler";
  readonly kind: KindName | "redis";
  readonly url: string;
  readonly log: string;
  readonly concurrency: number;
  /** How long a handler takes, in milliseconds. */
  readonly workMs: number;
}
/** What a program tells its parent; a receiver has a URL. */
export type ProgramMessage = { readonly url: string };

async function main({ role, kind, url, log, concurrency, workMs }: ProgramOptions) {
  const note = (what: string, id: string) => appendFileSync(log, `${what} ${process.pid} ${id}\n`);
  const handlers = {
    async "job.succeeded"({ id }: { id: string }) {
      note("start", id);
      await sleep(workMs);
      note("done", id);
    },
  };
  const quiet = { secrets: secret, handlerTimeoutMs: 5_000, onRejected() {} };
  if (kind === "redis") {
    const { Redis } = await import("ioredis");
    const client = new Redis({ path: url, ...ioredisOptions });
    client.on("error", () => {});
    return serve(
      createReceiver({
        ...{ ...quiet, handlers, dedupe: redisDedupe({ client }), handlerTimeoutMs: 1_000, leaseMs: 2_000 },
        // The named cause of a second call: the store could not record the first.
        onOutcome: ({ outcome, id, error }) => outcome === "handled" && error && note("unrecorded", id),
      }),
    );
  }
  const queue = kinds[kind];
  if (role === "prepare") return queue.prepare(url).then(() => process.exit());
  if (role === "receiver")
    return serve(createReceiver({ ...quiet, queue: await queue.open(url), onOutcome() {} }));
  await queue.work(url, queueWorker({ handlers, onOutcome() {} }), concurrency);
  tell({ url: "" });
}

function serve(receiver: Receiver): void {
  const server = createServer(nodeHandler(receiver)).listen(0, "127.0.0.1", () => {
    tell({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
  });
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
