import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { delivered, jobSucceeded, secret } from "../../receiver/support";
import type { Store } from "../stores/store";
import { type Started, startProgram } from "./processes";
import type { ProgramOptions } from "./program";
import { CONNECTIONS, connections, post } from "./sender";

export interface ScenarioOptions {
  readonly kind: ProgramOptions["kind"];
  readonly store: Store;
  readonly deliveries: number;
  readonly workers: number;
  readonly concurrency: number;
  /** How often a worker is killed. */
  readonly killEveryMs: number;
  /** How often the store goes away, in the course of the deliveries. */
  readonly outages: number;
  readonly dedupe?: string;
  /** Of every so many deliveries, one is sent twice. */
  readonly repeatEvery?: number;
}

export interface ScenarioResult {
  /** The answers of the receiver, counted by status. */
  readonly answers: Readonly<Record<string, number>>;
  readonly killed: number;
  /** Acknowledged, but never handled to the end. */
  readonly lost: readonly string[];
  /** Handled again, although no killed worker held it. */
  readonly repeatedWithoutCause: readonly string[];
  /** Handled again after a worker that held it was killed. */
  readonly repeated: number;
  readonly sendingMs: number;
  readonly totalMs: number;
}

/** How long the last deliveries may take after the last kill. */
const DRAIN_MS = 120_000;

/** Sends deliveries through a receiver and its queue to workers that are killed all the time, while the store goes away. */
export async function runScenario(options: ScenarioOptions): Promise<ScenarioResult> {
  const { kind, store, deliveries, concurrency, repeatEvery = 50 } = options;
  const folder = mkdtempSync(join(tmpdir(), "queue-"));
  const log = join(folder, "log");
  const common = {
    kind,
    url: store.url,
    secrets: [secret],
    log,
    concurrency,
    workMs: 5,
    handlerTimeoutMs: 5_000,
  };
  const worker = () =>
    startProgram({ ...common, role: "worker", ...(options.dedupe ? { dedupe: options.dedupe } : {}) });
  const workers: Started[] = [];
  const killed = new Set<number>();
  let isOver = false;
  let sent = 0;
  let startedAt = Date.now();
  try {
    await (await startProgram({ ...common, role: "prepare" })).kill();
    const receiver = await startProgram({ ...common, role: "receiver" });
    workers.push(receiver);
    const pool = await Promise.all(Array.from({ length: options.workers }, worker));

    startedAt = Date.now();
    const killing = (async () => {
      for (let turn = 0; !isOver; turn++) {
        await sleep(options.killEveryMs);
        const victim = pool[turn % pool.length];
        if (isOver || victim === undefined) break;
        killed.add(victim.child.pid ?? 0);
        await victim.kill();
        pool[turn % pool.length] = await untilStarted(worker);
      }
    })();
    const breaking = (async () => {
      for (let outage = 1; outage <= options.outages; outage++) {
        while (sent < (deliveries * outage) / (options.outages + 1)) await sleep(20);
        await store.stop();
        await sleep(500);
        await store.start();
      }
    })();

    const answers: Record<string, number> = {};
    const ids = Array.from({ length: deliveries }, (_, index) => `msg_${index}`);
    const agent = connections();
    const next = ids.entries();
    const connection = async () => {
      for (const [index, id] of next) {
        const request = delivered({ id, body: jobSucceeded(`job_${index}`) });
        const times = index % repeatEvery === 0 ? 2 : 1;
        for (let accepted = 0; accepted < times; ) {
          const status = await post(receiver.url, agent, request);
          answers[status] = (answers[status] ?? 0) + 1;
          if (status === 202) accepted++;
          else await sleep(50);
        }
        sent++;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    const sendingMs = Date.now() - startedAt;
    await breaking;

    const until = Date.now() + DRAIN_MS;
    while (handledIn(log).done.size < deliveries && Date.now() < until) await sleep(200);
    isOver = true;
    await killing;
    const totalMs = Date.now() - startedAt;
    // What a worker was killed over comes again later than everything else.
    await sleep(1_000);
    workers.push(...pool);
    agent.destroy();
    const { done, starts } = handledIn(log);
    const again = [...starts].filter(([, pids]) => pids.length > 1);
    const uncaused = again.filter(([, pids]) => !pids.slice(0, -1).every((pid) => killed.has(pid)));
    return {
      answers,
      killed: killed.size,
      lost: ids.filter((id) => !done.has(id)),
      repeatedWithoutCause: uncaused.map(([id]) => id),
      repeated: again.length - uncaused.length,
      sendingMs,
      totalMs,
    };
  } finally {
    isOver = true;
    await Promise.all(workers.map((each) => each.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts a program again until the store is back, as a supervisor does. */
async function untilStarted(start: () => Promise<Started>): Promise<Started> {
  for (;;) {
    try {
      return await start();
    } catch {
      await sleep(200);
    }
  }
}

function handledIn(log: string) {
  const done = new Set<string>();
  const starts = new Map<string, number[]>();
  const lines = existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
  for (const line of lines) {
    const [what, pid, id = ""] = line.split(" ");
    if (what === "done") done.add(id);
    else starts.set(id, [...(starts.get(id) ?? []), Number(pid)]);
  }
  return { done, starts };
}
