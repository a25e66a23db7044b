// A receiver in a process of its own. It sends its parent its URL, and the id of each delivery that its handler gets.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver, redisDedupe } from "../../../src/receiver";
import { nodeHandler } from "../../../src/receiver/adapters/node";
import { secret } from "../../receiver/support";
import { clients } from "./clients";

/** A worker's argument, as JSON. */
export interface WorkerOptions {
  readonly path: string;
  /** A name of `clients`. */
  readonly clientName: string;
  readonly leaseMs: number;
  readonly handlerTimeoutMs: number;
  /** How long the handler takes. */
  readonly workMs: number;
}

export type WorkerMessage = { readonly url: string } | { readonly handled: string };

async function main({ path, clientName, leaseMs, handlerTimeoutMs, workMs }: WorkerOptions): Promise<void> {
  const connection = await clients[clientName]?.(path);
  if (connection === undefined) throw new Error(`no client ${clientName}`);
  const receiver = createReceiver({
    secrets: secret,
    dedupe: redisDedupe({ client: connection.client }),
    leaseMs,
    handlerTimeoutMs,
    handlers: {
      "job.succeeded": async ({ id }) => {
        tell({ handled: id });
        await sleep(workMs);
      },
    },
  });
  const server = createServer(nodeHandler(receiver)).listen(0, "127.0.0.1", () => {
    tell({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
  });
  process.once("disconnect", () => process.exit());
}

function tell(message: WorkerMessage): void {
  process.send?.(message);
}

if (process.send !== undefined && process.argv[2] !== undefined) void main(JSON.parse(process.argv[2]));
