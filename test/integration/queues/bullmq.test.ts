import { Queue, Worker } from "bullmq";
import { createReceiver } from "../../../src/receiver";
import { bullmqQueue, queueWorker } from "../../../src/receiver/queues";
import { delivered, jobSucceeded, secret } from "../../receiver/support";
import { queueOptions, workerOptions } from "../redis/options";
import { startRedis } from "../stores/redis";
import type { Store } from "../stores/store";

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
  const connection = { path: redis.url, ...queueOptions };
  queue = new Queue("webhooks", { connection });
  await queue.waitUntilReady();
  const worker = queueWorker({ handlers: { "job.succeeded": ({ id }) => void handled.push(id) } });
  const waiting = { path: redis.url, ...workerOptions };
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
