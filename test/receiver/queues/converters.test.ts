import type { QueuedDelivery } from "../../../src/receiver";
import { bullmqQueue, pgBossQueue, sqsHandler, sqsQueue } from "../../../src/receiver/queues";

const delivery = (key: string): QueuedDelivery => ({ version: 1, id: "msg_1", key, timestamp: 1, body: "" });

describe("bullmqQueue", () => {
  const optionsFor = async (key: string, defaultJobOptions?: object) => {
    const add = jest.fn();
    await bullmqQueue({ add, defaultJobOptions }).add(delivery(key));
    expect(add).toHaveBeenCalledWith("delivery", delivery(key), expect.anything());
    return add.mock.calls[0][2];
  };

  test("encodes every key into an id that BullMQ accepts, and different keys into different ids", async () => {
    const keys = ["msg_1", "1", "-5", "a:b:c", "a b", "ü", "", "x".repeat(256), "webhook-1", "0"];
    const ids = await Promise.all(keys.map(async (key) => (await optionsFor(key)).jobId));
    expect(ids[0]).toBe("webhook-msg_1");
    expect(new Set(ids).size).toBe(keys.length);
    for (const id of ids) expect(id).toMatch(/^webhook[-~][\w-]+$/);
  });

  test("keeps what completed for three days, what failed until it is removed, and deduplicates by the job id alone", async () => {
    const kept = { removeOnComplete: { age: 259_200 }, removeOnFail: false, deduplication: undefined };
    const backoff = { type: "exponential", delay: 1000 };
    expect(await optionsFor("k")).toMatchObject({ ...kept, attempts: 11, backoff });
    const own = { attempts: 3, removeOnComplete: true, deduplication: { id: "one" } };
    expect(await optionsFor("k", own)).toMatchObject({ ...kept, attempts: 3, backoff });
  });
});

describe("pgBossQueue", () => {
  test("derives an id from the key that PostgreSQL takes for a UUID, always the same", async () => {
    const send = jest.fn().mockResolvedValue("id");
    const queue = pgBossQueue({ send, getJobById: jest.fn() }, "webhooks");
    for (const key of ["msg_1", "msg_1", "msg_2"]) await queue.add(delivery(key));
    const ids = send.mock.calls.map(([, , { id }]) => id);
    expect(ids[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  test("rejects a delivery that pg-boss dropped, and not one that it has already", async () => {
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
    await expect(queue.add(delivery("b"))).rejects.toThrow(/dropped the delivery.*policy "standard"/);
  });
});

describe("sqsQueue", () => {
  test("deduplicates in a FIFO queue by the key, each delivery in a group of its own", async () => {
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
    const queueUrl = "https://sqs/1/q";
    expect(sqsQueue({ client, queueUrl }).maxBodyBytes).toBe(193_536);
    const larger = sqsQueue({ client, queueUrl, maxMessageBytes: 1_048_576 }).maxBodyBytes ?? 0;
    expect((larger * 4) / 3 + 4096).toBeLessThanOrEqual(1_048_576);
  });
});

describe("sqsHandler", () => {
  const records = (...bodies: string[]) => ({
    Records: bodies.map((body) => ({ messageId: `id of ${body}`, body })),
  });
  const back = (...bodies: string[]) => ({
    batchItemFailures: bodies.map((body) => ({ itemIdentifier: `id of ${body}` })),
  });

  test("returns the messages that failed, and no other", async () => {
    const worker = async (body: unknown) => {
      if (body === "b") throw new Error("no");
    };
    expect(await sqsHandler(worker)(records("a", "b", "c"))).toEqual(back("b"));
  });

  test.each([[{}], [{ Records: [{ Sns: {} }] }]])(
    "rejects %j, which is not a batch of SQS",
    async (event) => {
      const worker = jest.fn();
      await expect(sqsHandler(worker)(event as never)).rejects.toThrow(/not messages of SQS/);
      expect(worker).not.toHaveBeenCalled();
    },
  );
});
