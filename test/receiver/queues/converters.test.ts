import type { QueuedDelivery } from "../../../src/receiver";
import {
  bullmqQueue,
  pgBossQueue,
  type SqsQueueOptions,
  sqsHandler,
  sqsQueue,
} from "../../../src/receiver/queues";

const delivery = (key: string): QueuedDelivery => ({ version: 1, id: "msg_1", key, timestamp: 1, body: "" });
const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  jest.spyOn(process, "emitWarning").mockImplementation((warning) => void warnings.push(String(warning)));
});
afterEach(() => jest.restoreAllMocks());

describe("bullmqQueue", () => {
  const idOf = async (key: string) => {
    const add = jest.fn();
    await bullmqQueue({ add }).add(delivery(key));
    return add.mock.calls[0][2].jobId as string;
  };

  test("encodes every key into an id that BullMQ accepts, and different keys into different ids", async () => {
    const keys = ["msg_1", "1", "-5", "a:b:c", "a b", "ü", "", "x".repeat(256), "webhook-1", "0"];
    const ids = await Promise.all(keys.map(idOf));
    expect(ids[0]).toBe("webhook-msg_1");
    expect(new Set(ids).size).toBe(keys.length);
    for (const id of ids) expect(`${Number.parseInt(id, 10)}` !== id && !id.includes(":")).toBe(true);
  });

  test("keeps what completed for three days, and what failed until it is removed", async () => {
    const add = jest.fn();
    await bullmqQueue({ add, defaultJobOptions: { attempts: 3 } }).add(delivery("k"));
    const kept = { removeOnComplete: { age: 259_200 }, removeOnFail: false };
    expect(add).toHaveBeenLastCalledWith("delivery", delivery("k"), { jobId: "webhook-k", ...kept });
    await bullmqQueue({ add }).add(delivery("k"));
    const retries = { attempts: 11, backoff: { type: "exponential", delay: 1000 } };
    expect(add).toHaveBeenLastCalledWith("delivery", delivery("k"), {
      jobId: "webhook-k",
      ...retries,
      ...kept,
    });
  });

  test("refuses a queue that keeps one job of several", () => {
    const defaultJobOptions = { deduplication: { id: "one" } };
    expect(() => bullmqQueue({ add: jest.fn(), defaultJobOptions })).toThrow(
      /deduplication or debounce.*drop the others/,
    );
  });

  test("keeps the backoff of the queue if only that is set", async () => {
    const add = jest.fn();
    await bullmqQueue({ add, defaultJobOptions: { backoff: 500 } }).add(delivery("k"));
    expect(add.mock.calls[0][2]).toMatchObject({ attempts: 11 });
    expect(add.mock.calls[0][2]).not.toHaveProperty("backoff");
  });

  test.each<[unknown, number]>([
    [{ host: "a" }, 1],
    [{ host: "a", enableOfflineQueue: true }, 1],
    [{ host: "a", enableOfflineQueue: false }, 0],
    [{ host: "a", enableOfflineQueue: false, maxRetriesPerRequest: null }, 1],
    [{ host: "a", enableOfflineQueue: false, maxRetriesPerRequest: 1 }, 0],
    [{ options: { enableOfflineQueue: false } }, 0],
    [{ options: {} }, 1],
    [{ isOpen: true }, 0],
    [undefined, 0],
  ])("with the connection %j, warns %i times of commands that wait", (connection, times) => {
    bullmqQueue({ add: jest.fn(), opts: { connection } });
    expect(warnings).toHaveLength(times);
  });
});

describe("pgBossQueue", () => {
  test("derives a UUID from the key, always the same", async () => {
    const send = jest.fn().mockResolvedValue("id");
    const queue = pgBossQueue({ send }, "webhooks");
    for (const key of ["msg_1", "msg_1", "msg_2"]) await queue.add(delivery(key));
    const ids = send.mock.calls.map(([, , { id }]) => id);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  test("rejects what pg-boss dropped for another reason than that it has the delivery", async () => {
    const jobs: string[] = [];
    const send = async (_name: string, _data: object, { id }: { id: string }) => {
      if (jobs.length > 0) return null; // the policy `short` allows one queued job
      jobs.push(id);
      return id;
    };
    const getJobById = async (_name: string, id: string) => (jobs.includes(id) ? { id } : null);
    const queue = pgBossQueue({ send, getJobById }, "webhooks");
    await queue.add(delivery("a"));
    await queue.add(delivery("a"));
    await expect(queue.add(delivery("b"))).rejects.toMatchObject({ code: "QUEUE_DROPPED" });
  });

  test("warns once of a queue that forgets within three days, at its start or as soon as it can be read", async () => {
    const getQueue = jest.fn().mockResolvedValue({ deleteAfterSeconds: 3600 });
    getQueue.mockRejectedValueOnce(new Error("not started"));
    const queue = pgBossQueue({ send: jest.fn(), getQueue }, "webhooks");
    await new Promise(setImmediate);
    expect(warnings).toEqual([]);
    await queue.add(delivery("a"));
    await new Promise(setImmediate);
    await queue.add(delivery("b"));
    expect(warnings).toEqual([expect.stringMatching(/forgets a delivery 3600 seconds/)]);
    expect(getQueue).toHaveBeenCalledTimes(2);
    for (const kept of [{ deleteAfterSeconds: 0 }, { deleteAfterSeconds: 259_200 }, null])
      await pgBossQueue({ send: jest.fn(), getQueue: async () => kept }, "q").add(delivery("a"));
    await new Promise(setImmediate);
    expect(warnings).toHaveLength(1);
  });

  test("warns of pg-boss 10, which npm installs on Node 20", async () => {
    await pgBossQueue({ send: jest.fn(), getQueue: async () => ({ policy: "standard" }) }, "q").add(
      delivery("a"),
    );
    expect(warnings).toEqual([expect.stringMatching(/version 10 after 12 hours.*Use pg-boss 12/)]);
  });
});

describe("sqsQueue", () => {
  test("dedupes in a FIFO queue by the key, each delivery in a group of its own", async () => {
    const sendMessage = jest.fn().mockResolvedValue({});
    await sqsQueue({ client: { sendMessage }, queueUrl: "https://sqs/1/q.fifo" }).add(delivery("k"));
    await sqsQueue({ client: { sendMessage }, queueUrl: "https://sqs/1/q" }).add(delivery("k"));
    const message = { QueueUrl: "https://sqs/1/q", MessageBody: JSON.stringify(delivery("k")) };
    const id = expect.stringMatching(/^[\w-]{43}$/);
    expect(sendMessage.mock.calls).toEqual([
      [{ ...message, QueueUrl: "https://sqs/1/q.fifo", MessageDeduplicationId: id, MessageGroupId: id }],
      [message],
    ]);
  });

  test("bounds the bodies to what fits into a message", () => {
    const client = { sendMessage: jest.fn() };
    expect(sqsQueue({ client, queueUrl: "q" }).maxBodyBytes).toBe(193_536);
    const larger = sqsQueue({ client, queueUrl: "q", maxMessageBytes: 1_048_576 }).maxBodyBytes ?? 0;
    expect((larger * 4) / 3 + 4096).toBeLessThanOrEqual(1_048_576);
  });

  test("refuses an SQSClient, unknown options and an empty url", () => {
    const start = (options: object) => () => sqsQueue(options as SqsQueueOptions);
    const client = { sendMessage() {} };
    expect(start({ client: { send() {} }, queueUrl: "q" })).toThrow(/An SQSClient has none/);
    expect(start({ client, queueURL: "q" })).toThrow(/did you mean queueUrl\?/);
    expect(start({ client, queueUrl: "" })).toThrow(/queueUrl must be a non-empty string/);
  });
});

test("the converters refuse what is not their client", () => {
  expect(() => bullmqQueue({} as never)).toThrow(/Pass a Queue of BullMQ/);
  expect(() => pgBossQueue({} as never, "q")).toThrow(/Pass a PgBoss/);
  expect(() => pgBossQueue({ send: jest.fn() }, "")).toThrow(/name must be a non-empty string/);
});

describe("sqsHandler", () => {
  const records = (...bodies: string[]) => ({
    Records: bodies.map((body) => ({ messageId: `id of ${body}`, body })),
  });

  test("returns the messages that failed, and no other", async () => {
    const worker = async (body: unknown) => {
      if (body === "b") throw new Error("no");
    };
    expect(await sqsHandler(worker)(records("a", "b", "c"))).toEqual({
      batchItemFailures: [{ itemIdentifier: "id of b" }],
    });
  });

  test("refuses at start what is no worker", () => {
    expect(() => sqsHandler({ handlers: {} } as never)).toThrow(/Pass queueWorker\(\{ handlers \}\)/);
  });

  test("hands back what still runs shortly before the function's time is up, after telling it to stop", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const worker = (body: unknown, context?: { signal?: AbortSignal } | string) => {
      if (body !== "slow") return Promise.resolve();
      signals.push(typeof context === "object" ? context.signal : undefined);
      return new Promise<void>(() => {});
    };
    jest.useFakeTimers();
    try {
      const batch = sqsHandler(worker as never)(records("fast", "slow"), {
        getRemainingTimeInMillis: () => 10_000,
      });
      const ended = jest.fn();
      void batch.then(ended);
      await jest.advanceTimersByTimeAsync(8_499);
      expect(signals[0]?.aborted).toBe(false);
      await jest.advanceTimersByTimeAsync(1_000);
      expect([signals[0]?.aborted, ended.mock.calls]).toEqual([true, []]);
      await jest.advanceTimersByTimeAsync(1);
      expect(ended.mock.calls).toEqual([[{ batchItemFailures: [{ itemIdentifier: "id of slow" }] }]]);
    } finally {
      jest.useRealTimers();
    }
  });
});
