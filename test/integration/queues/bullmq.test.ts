import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { Queue, Worker } from "bullmq";
import { type Delivery, startEmulator } from "../../../src/emulator";
import { createReceiver } from "../../../src/receiver";
import { nodeHandler } from "../../../src/receiver/adapters/node";
import { bullmqQueue, queueWorker } from "../../../src/receiver/queues";
import { delivered, jobSucceeded, secret } from "../../receiver/support";
import { startRedis } from "../stores/redis";
import type { Store } from "../stores/store";

const EVENTS_PER_SECOND = 200;
/** How many deliveries wait for an answer at most, on a machine that is too slow for the pace. */
const MOST_OPEN = 50;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let redis: Store;
let queue: Queue;
let working: Worker;
const handled: string[] = [];
let isOver = false;
beforeEach(async () => {
  isOver = false;
  redis = await startRedis();
  const connection = { path: redis.url, enableOfflineQueue: false, maxRetriesPerRequest: 1 };
  queue = new Queue("webhooks", { connection });
  await queue.waitUntilReady();
  const worker = queueWorker({ handlers: { "job.succeeded": ({ id }) => void handled.push(id) } });
  const waiting = { path: redis.url, maxRetriesPerRequest: null };
  working = new Worker("webhooks", worker, { connection: waiting, concurrency: 10 });
  await working.waitUntilReady();
});
afterEach(async () => {
  isOver = true;
  jest.restoreAllMocks();
  handled.length = 0;
  await working.close();
  await queue.close();
  await redis.dispose();
});

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    if (isOver) throw new Error("The test has timed out.");
    await new Promise((wake) => setTimeout(wake, 20));
  }
}
const untilHandled = (count: number) => until(() => handled.length >= count);

test("rotating a secret at 200 deliveries a second loses none through a queue, and handles none twice", async () => {
  const emulator = await startEmulator({ retryDelaysMs: [100, 200, 400, 1_000, 1_000] });
  let secrets = [...emulator.secrets("development")];
  let waitedMs = 0;
  const now = () => Date.now() + waitedMs;
  const refused: string[] = [];
  const receiver = createReceiver({
    ...{ secrets: () => secrets, now, queue: bullmqQueue(queue) },
    onRejected: ({ reason }) => refused.push(reason),
  });
  const server = http.createServer(nodeHandler(receiver)).listen(0, "127.0.0.1");
  await once(server, "listening");
  emulator.add({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, type: "development" });

  const sent: Promise<Delivery>[] = [];
  const startedAt = performance.now();
  let open = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * EVENTS_PER_SECOND;
    while (sent.length < due && open < MOST_OPEN) {
      open += 1;
      const sending = emulator.deliver({ type: "job.succeeded", data: { jobId: `job_${sent.length}` } });
      sent.push(sending.finally(() => (open -= 1)));
    }
  }, 10);
  const more = async () => {
    const enough = sent.length + EVENTS_PER_SECOND / 2;
    await until(() => sent.length >= enough);
    await Promise.all(sent.slice(0, enough));
  };
  try {
    await more();
    const rotation = emulator.rotateSecret();
    await more();
    secrets = [...secrets, rotation.secret];
    waitedMs += 60_000; // a receiver has asked for its secrets by then
    await more();
    rotation.finish();
    await more();
    secrets = [rotation.secret];
    waitedMs += 60_000;
    await more();
    clearInterval(timer);
    const deliveries = await Promise.all(sent);
    await untilHandled(deliveries.length);
    expect(deliveries.filter((delivery) => !delivery.delivered)).toEqual([]);
    expect(refused).toEqual([]);
    expect(handled.toSorted()).toEqual(deliveries.map(({ id }) => id).toSorted());
  } finally {
    clearInterval(timer);
    await Promise.allSettled(sent);
    await emulator.close();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

test("the same delivery an hour and two days later is queued once, and three days after it was handled once more", async () => {
  let laterMs = 0;
  const { now } = Date;
  jest.spyOn(Date, "now").mockImplementation(() => now() + laterMs);
  const receiver = createReceiver({ secrets: secret, queue: bullmqQueue(queue) });
  const statusOf = async (id: string) =>
    (await receiver.handle(delivered({ id, body: jobSucceeded(id) }))).status;

  expect(await statusOf("msg_again")).toBe(202);
  await untilHandled(1);
  for (const [age, other] of [
    [HOUR_MS, "msg_hour"],
    [2 * DAY_MS, "msg_days"],
  ] as const) {
    laterMs = age;
    expect(await statusOf("msg_again")).toBe(202);
    // BullMQ forgets what is too old whenever a job completes.
    expect(await statusOf(other)).toBe(202);
    await untilHandled(age === HOUR_MS ? 2 : 3);
  }
  expect(handled).toEqual(["msg_again", "msg_hour", "msg_days"]);

  laterMs = 3 * DAY_MS + HOUR_MS;
  expect(await statusOf("msg_late")).toBe(202);
  await untilHandled(4);
  await until(async () => (await queue.getJob("webhook-msg_again")) === undefined);
  expect(await statusOf("msg_again")).toBe(202);
  await untilHandled(5);
  expect(handled.at(-1)).toBe("msg_again");
});
