import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { delivered, jobSucceeded, secret } from "../../receiver/support";
import type { Store } from "../stores/store";
import { type Started, startProgram } from "./processes";
import type { ProgramOptions } from "./program";
import { CONNECTIONS, connections, post } from "./sender";

export interface Growth {
  readonly answers: Readonly<Record<string, number>>;
  /** How much more memory is in use after the deliveries than after the first tenth of them, in MiB, once garbage is collected. */
  readonly receiverMiB: number;
  readonly workerMiB: number;
}

/**
 * Sends deliveries through a receiver to a worker. In the middle, the store is away, and a tenth of the deliveries are refused. A
 * process with an unhandled rejection ends, and nothing answers any more.
 */
export async function growth(
  kind: ProgramOptions["kind"],
  store: Store,
  deliveries: number,
): Promise<Growth> {
  const folder = mkdtempSync(join(tmpdir(), "growth-"));
  const common = { kind, url: store.url, secrets: [secret], log: join(folder, "log") };
  const settings = { ...common, concurrency: 10, workMs: 0, handlerTimeoutMs: 5_000 };
  const started: Started[] = [];
  const start = async (role: ProgramOptions["role"]) => {
    const program = await startProgram({ ...settings, role });
    started.push(program);
    return program;
  };
  const agent = connections();
  const answers: Record<string, number> = {};
  try {
    await start("prepare");
    const receiver = await start("receiver");
    const worker = await start("worker");
    let next = 0;
    async function send(count: number): Promise<void> {
      const last = next + count;
      const connection = async () => {
        while (next < last) {
          const id = `msg_${next++}`;
          const status = await post(receiver.url, agent, delivered({ id, body: jobSucceeded(id) }));
          answers[status] = (answers[status] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    }

    const tenth = deliveries / 10;
    await send(tenth);
    const before = [await heapOf(receiver), await heapOf(worker)];
    await send(4 * tenth);
    await store.stop();
    await send(tenth);
    await store.start();
    while ((await post(receiver.url, agent, delivered())) !== 202) await sleep(50);
    await send(4 * tenth);
    const after = [await heapOf(receiver), await heapOf(worker)];
    const [receiverMiB = Number.NaN, workerMiB = Number.NaN] = after.map((mib, i) => mib - (before[i] ?? 0));
    return { answers, receiverMiB, workerMiB };
  } finally {
    agent.destroy();
    await Promise.all(started.map((each) => each.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function heapOf({ child }: Started): Promise<number> {
  child.send("heap");
  const [{ heapMiB }] = await once(child, "message");
  return heapMiB;
}
