import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { delivered, jobSucceeded } from "../../receiver/support";
import type { Store } from "../stores/store";
import { type Started, startProgram } from "./processes";
import type { ProgramOptions } from "./program";

export interface ScenarioOptions {
  /** A queue; or "redis" for receivers that share a dedupe store and have none. */
  readonly kind: ProgramOptions["kind"];
  readonly store: Store;
  readonly deliveries: number;
  /** How many processes handle deliveries. */
  readonly workers: number;
  readonly concurrency: number;
  readonly workMs: number;
  /** One of them is killed each time so many further deliveries were handled. The last delivery is sent after the first kill. */
  readonly killEvery: number;
  /** How often the store goes away, in the course of the deliveries. */
  readonly outages: number;
  /** Of every so many deliveries, one is sent twice. */
  readonly repeatEvery: number;
}

export interface ScenarioResult {
  /** The answers to the deliveries, counted by status; 0 is a broken connection. */
  readonly answers: Readonly<Record<string, number>>;
  readonly killed: number;
  /** Acknowledged, but never handled to the end. */
  readonly lost: readonly string[];
  /** Handled again, although nobody who held it was killed, and the store recorded it. */
  readonly repeatedWithoutCause: readonly string[];
  /** Handled again for one of these causes. */
  readonly repeated: number;
  readonly totalMs: number;
}

const CONNECTIONS = 8;
/** How long the last deliveries may take after the last kill. */
const DRAIN_MS = 120_000;

/** Sends deliveries to processes that are killed all the time, directly or through a queue, while the store goes away. */
export async function runScenario(options: ScenarioOptions): Promise<ScenarioResult> {
  const { kind, store, deliveries, repeatEvery } = options;
  const folder = mkdtempSync(join(tmpdir(), "queue-"));
  const log = join(folder, "log");
  const common = { kind, url: store.url, log, concurrency: options.concurrency, workMs: options.workMs };
  const start = (role: ProgramOptions["role"]) => startProgram({ ...common, role });
  const startWorker = () => start(kind === "redis" ? "handler" : "worker");
  const pool: Started[] = [];
  const receivers = kind === "redis" ? pool : [];
  const killed = new Set<number>();
  let [isOver, sent] = [false, 0];
  try {
    if (kind !== "redis") {
      await start("prepare");
      receivers.push(await start("receiver"));
    }
    pool.push(...(await Promise.all(Array.from({ length: options.workers }, startWorker))));

    const startedAt = Date.now();
    const killing = (async () => {
      for (let due = options.killEvery; !isOver; await sleep(50)) {
        const handled = handledIn(log).done.size;
        const at = killed.size % pool.length;
        const victim = pool[at];
        if (handled < due || victim === undefined) continue;
        due = handled + options.killEvery;
        killed.add(victim.pid);
        await victim.kill();
        pool[at] = await untilStarted(startWorker);
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
    const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const next = ids.entries();
    const connection = async () => {
      for (const [index, id] of next) {
        while (index === deliveries - 1 && killed.size === 0) await sleep(20);
        const request = delivered({ id, body: jobSucceeded(`job_${index}`) });
        let accepted = index % repeatEvery === 0 ? -1 : 0;
        for (let attempt = index; accepted < 1; attempt++) {
          const status = await post(receivers[attempt % receivers.length]?.url ?? "", agent, request);
          answers[status] = (answers[status] ?? 0) + 1;
          if (status === 200 || status === 202) accepted++;
          else await sleep(50);
        }
        sent++;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    agent.destroy();
    await breaking;

    const until = Date.now() + DRAIN_MS;
    while (handledIn(log).done.size < deliveries && Date.now() < until) await sleep(200);
    isOver = true;
    await killing;
    const totalMs = Date.now() - startedAt;
    // A delivery whose worker was killed is retried after all others.
    await sleep(1_000);
    const { done, starts, unrecorded } = handledIn(log);
    const again = [...starts].filter(([, pids]) => pids.length > 1);
    const uncaused = again.filter(
      ([id, pids]) => !unrecorded.has(id) && !pids.slice(0, -1).every((pid) => killed.has(pid)),
    );
    return {
      answers,
      killed: killed.size,
      lost: ids.filter((id) => !done.has(id)),
      repeatedWithoutCause: uncaused.map(([id]) => id),
      repeated: again.length - uncaused.length,
      totalMs,
    };
  } finally {
    isOver = true;
    await Promise.all([...receivers, ...pool].map((each) => each.kill()));
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

/** Returns the status, or 0 if the connection broke. */
function post(
  url: string,
  agent: http.Agent,
  { headers, body }: ReturnType<typeof delivered>,
): Promise<number> {
  return new Promise((resolve) => {
    const all = { ...headers, "content-length": body.length };
    const request = http.request(url, { method: "POST", agent, headers: all });
    request.on("response", (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
      response.on("error", () => resolve(0));
    });
    request.on("error", () => resolve(0)).end(body);
  });
}

/** Reads what the handlers noted: who started which delivery, what was done, and what the store could not record. */
function handledIn(log: string) {
  const done = new Set<string>();
  const unrecorded = new Set<string>();
  const starts = new Map<string, number[]>();
  const lines = existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
  for (const line of lines) {
    const [what, pid, id = ""] = line.split(" ");
    if (what === "done") done.add(id);
    else if (what === "unrecorded") unrecorded.add(id);
    else starts.set(id, [...(starts.get(id) ?? []), Number(pid)]);
  }
  return { done, starts, unrecorded };
}
