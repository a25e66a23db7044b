import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { redisDedupe } from "../../../src/receiver";
import { delivered, receiverOf } from "../../receiver/support";
import { startRedis } from "../stores/redis";
import type { Store } from "../stores/store";
import { clients } from "./clients";
import type { WorkerMessage, WorkerOptions } from "./worker";

let redis: Store;
beforeEach(async () => {
  redis = await startRedis();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
  await redis.dispose();
});

type Request = ReturnType<typeof delivered>;

interface Worker {
  /** The ids of the deliveries that its handler got. */
  readonly handled: readonly string[];
  post(request: Request): Promise<number>;
  kill(): Promise<void>;
}
const workers: Worker[] = [];

/** Starts a receiver in a process of its own. All share one Redis. */
async function startWorker(options: Partial<WorkerOptions> = {}): Promise<Worker> {
  const workerOptions: WorkerOptions = {
    path: redis.url,
    clientName: "node-redis 6",
    leaseMs: 30_000,
    handlerTimeoutMs: 20_000,
    workMs: 20,
    ...options,
  };
  const execArgv = ["--require", "ts-node/register/transpile-only"];
  const child = fork(join(__dirname, "worker.ts"), [JSON.stringify(workerOptions)], { execArgv });
  const handled: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error("The worker ended before it was ready.")));
    child.on("message", (message: WorkerMessage) => {
      if ("url" in message) resolve(message.url);
      else handled.push(message.handled);
    });
  });
  const worker = {
    handled,
    async post({ headers, body }: Request): Promise<number> {
      const response = await fetch(url, { method: "POST", headers: { ...headers }, body });
      await response.text();
      return response.status;
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
  workers.push(worker);
  return worker;
}

/** Retries until the answer is 200, as a sender does. Returns the status codes. */
async function sendUntilAccepted(worker: Worker, request: Request): Promise<number[]> {
  const answers: number[] = [];
  while (answers.at(-1) !== 200) {
    if (answers.length > 0) await sleep(50);
    answers.push(await worker.post(request));
  }
  return answers;
}

test("two processes on one Redis handle each delivery once", async () => {
  const [one, two] = await Promise.all([startWorker(), startWorker({ clientName: "ioredis 6" })]);
  const requests = Array.from({ length: 100 }, () => delivered());
  const answers: number[] = [];
  for (let wave = 0; wave < requests.length; wave += 10) {
    // Each delivery arrives at both workers at once, twice.
    const sendings = requests.slice(wave, wave + 10).flatMap((request, index) => {
      const to = index % 2 ? [one, two, one, two] : [two, one, two, one];
      return to.map((worker) => sendUntilAccepted(worker, request));
    });
    answers.push(...(await Promise.all(sendings)).flat());
  }
  expect(answers.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  const sent = requests.map(({ headers }) => headers["webhook-id"]);
  expect([...one.handled, ...two.handled].sort()).toEqual(sent.sort());
  expect(one.handled).not.toHaveLength(0);
  expect(two.handled).not.toHaveLength(0);
});

test("of 50 copies of one delivery, sent to two processes at once, one is handled", async () => {
  await Promise.all([startWorker({ workMs: 300 }), startWorker({ workMs: 300 })]);
  const request = delivered();
  const copies = Array.from({ length: 25 }, () => workers.map((worker) => worker.post(request)));
  const answers = await Promise.all(copies.flat());
  expect(answers.filter((status) => status === 200)).not.toHaveLength(0);
  expect(answers.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  await Promise.all(workers.map((worker) => sendUntilAccepted(worker, request)));
  expect(workers.flatMap((worker) => worker.handled)).toHaveLength(1);
});

test("a delivery of a process that died is taken over when its lease has ended, and not before", async () => {
  const times = { leaseMs: 3000, handlerTimeoutMs: 2000 };
  const [dying, heir] = await Promise.all([startWorker({ ...times, workMs: 1900 }), startWorker(times)]);
  const request = delivered();
  const lost = dying.post(request).catch(() => "lost");
  while (dying.handled.length === 0) await sleep(5);
  await dying.kill();
  expect(await lost).toBe("lost");
  const [first, ...others] = await sendUntilAccepted(heir, request);
  expect(first).toBe(503);
  expect(others.at(-1)).toBe(200);
  expect(heir.handled).toHaveLength(1);
});

test.each(Object.keys(clients))(
  "a receiver with %s answers 503 while Redis is down, and recovers by itself",
  async (name) => {
    const connection = await clients[name]?.(redis.url);
    if (connection === undefined) throw new Error(`no client ${name}`);
    const handled: string[] = [];
    const { receiver, outcomes } = receiverOf({
      dedupe: redisDedupe({ client: connection.client }),
      handlers: { "job.succeeded": ({ id }) => handled.push(id) },
    });
    const [before, during] = [delivered(), delivered()];
    expect(await receiver.handle(before)).toMatchObject({ status: 200 });

    await redis.stop();
    const refused = await receiver.handle(during);
    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": expect.any(String) } });
    expect(outcomes.at(-1)).toMatchObject({ outcome: "store-unavailable", error: expect.any(Error) });

    await redis.start();
    while ((await receiver.handle(during)).status !== 200) await sleep(50);
    expect(handled).toEqual([before, during].map(({ headers }) => headers["webhook-id"]));
    expect(await receiver.handle(during)).toMatchObject({ status: 200 });
    expect(outcomes.at(-1)?.outcome).toBe("duplicate");
    await connection.close();
  },
);

test.each(["node-redis 6", "ioredis 6"])(
  "a delivery that a receiver with %s handled while Redis restarts is recorded as soon as Redis is back",
  async (name) => {
    const connection = await clients[name]?.(redis.url);
    if (connection === undefined) throw new Error(`no client ${name}`);
    const { receiver, outcomes, outcomeOf } = receiverOf({
      dedupe: redisDedupe({ client: connection.client }),
      handlers: { "job.succeeded": () => redis.stop() },
    });
    const request = delivered();
    expect(await receiver.handle(request)).toMatchObject({ status: 200 });
    expect(outcomes).toMatchObject([{ outcome: "handled", error: expect.any(Error) }]);
    await redis.start();
    const keys = () => connection.send("KEYS", "*").catch(() => []);
    while (((await keys()) as string[]).length === 0) await sleep(50);
    expect(await outcomeOf(request)).toBe("duplicate");
    await connection.close();
  },
);
