import {
  createReceiver,
  type DeliveryQueue,
  type Outcome,
  type QueuedDelivery,
  type QueueReceiverOptions,
} from "../../../src/receiver";
import { type ConfiguredReceiverOptions, receiverFromEnv } from "../../../src/stack";
import { deferred, delivered, jobSucceeded, secret } from "../support";

/** Makes a receiver with a queue, and keeps what the queue and the hooks get. */
function receiverWith(options: Partial<QueueReceiverOptions> = {}) {
  const queued: QueuedDelivery[] = [];
  const outcomes: Outcome[] = [];
  const receiver = createReceiver({
    secrets: secret,
    queue: { add: async (delivery) => void queued.push(delivery) },
    onOutcome: (outcome) => outcomes.push(outcome),
    onRejected: () => {},
    ...options,
  });
  return { receiver, queued, outcomes };
}

test("a verified delivery is handed to the queue as plain JSON with the exact bytes, and answered 202", async () => {
  const { receiver, queued, outcomes } = receiverWith();
  const at = 1_700_000_000_000;
  const body = Buffer.from(' {"type":"job.succeeded","data":{"jobId":"\\u0000é\\uffff"}}\n');
  const request = delivered({ id: "msg_q", body, at });
  const now = createReceiver({
    secrets: secret,
    queue: { add: async (each) => queued.push(each) },
    now: () => at,
  });
  expect(await now.handle(request)).toMatchObject({ status: 202, body: "queued" });
  expect(queued).toEqual([
    {
      version: 1,
      id: "msg_q",
      key: "msg_q",
      timestamp: at / 1000,
      event: "job.succeeded",
      jobId: "\ufffdé\ufffd",
      body: body.toString("base64"),
    },
  ]);
  expect(JSON.parse(JSON.stringify(queued[0]))).toEqual(queued[0]);
  await receiver.handle(delivered());
  expect(outcomes).toMatchObject([
    { outcome: "queued", status: 202, event: "job.succeeded", jobId: "job_1" },
  ]);
});

test("the answer waits until the queue has confirmed the delivery", async () => {
  const stored = deferred();
  const { receiver, outcomes } = receiverWith({ queue: { add: () => stored.promise } });
  const answer = receiver.handle(delivered());
  await new Promise(setImmediate);
  expect(outcomes).toEqual([]);
  stored.resolve();
  expect(await answer).toMatchObject({ status: 202 });
});

test.each<[string, DeliveryQueue["add"], object]>([
  ["rejects", () => Promise.reject(new Error("down")), { message: "down" }],
  [
    "throws",
    () => {
      throw new Error("down");
    },
    { message: "down" },
  ],
  [
    "does not confirm in time",
    () => new Promise(() => {}),
    { name: "QueueDeadlineError", code: "QUEUE_DEADLINE" },
  ],
  // `fetch` resolves whatever the queue answers, and so do the commands of a MULTI in Redis.
  [
    "answers with 503",
    async () => new Response("", { status: 503 }),
    { message: expect.stringMatching(/queue's add .* status 503/) },
  ],
  ["resolves with an error", async () => new Error("down"), { message: "down" }],
  ["resolves with a rejection", () => Promise.allSettled([Promise.reject(1)]), { cause: 1 }],
  ["resolves with the error of one command", async () => [[new Error("OOM"), null]], { message: "OOM" }],
  [
    "returns no promise",
    () => undefined as never,
    { message: expect.stringMatching(/must return a promise/) },
  ],
])("if the queue %s, the answer is 503 with Retry-After", async (_how, add, error) => {
  const { receiver, outcomes } = receiverWith({ queue: { add }, handlerTimeoutMs: 50 });
  const answer = await receiver.handle(delivered());
  expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
  expect(outcomes).toMatchObject([{ outcome: "queue-unavailable", status: 503, error }]);
});

test("a queue that rejects without an error is logged, too", async () => {
  const log = jest.spyOn(console, "error").mockImplementation();
  const receiver = createReceiver({ secrets: secret, queue: { add: () => Promise.reject() } });
  expect(await receiver.handle(delivered())).toMatchObject({ status: 503 });
  expect(log.mock.calls).toEqual([[expect.stringMatching(/queue-unavailable/), undefined]]);
  log.mockRestore();
});

test("a queue that fails after its deadline is no unhandled rejection", async () => {
  const stored = deferred();
  const { receiver } = receiverWith({ queue: { add: () => stored.promise }, handlerTimeoutMs: 10 });
  expect(await receiver.handle(delivered())).toMatchObject({ status: 503 });
  stored.reject(new Error("much later"));
  await new Promise(setImmediate);
});

test("forged, late and large deliveries, other methods and validations never reach the queue", async () => {
  const { receiver, queued } = receiverWith({ maxBodyBytes: 100 });
  const forged = { ...delivered(), body: Buffer.from("{}") };
  expect(await receiver.handle(forged)).toMatchObject({ status: 401 });
  expect(await receiver.handle(delivered({ at: Date.now() - 3_600_000 }))).toMatchObject({ status: 401 });
  expect(await receiver.handle(delivered({ body: "x".repeat(101) }))).toMatchObject({ status: 413 });
  expect(await receiver.handle({ ...delivered(), method: "GET" })).toMatchObject({ status: 405 });
  const validation = delivered({ body: { type: "webhook.validation" } });
  expect(await receiver.handle(validation)).toMatchObject({ status: 200, body: "validated" });
  expect(queued).toEqual([]);
});

test("dedupeKey gives the queue its key, and a key that is long or not ASCII is hashed", async () => {
  const keys = ["job.succeeded:job_1", "k".repeat(257), "ключ", "line\nend"];
  const { receiver, queued, outcomes } = receiverWith({ dedupeKey: () => keys[queued.length] ?? "" });
  for (const _ of keys) await receiver.handle(delivered());
  expect(queued.map(({ key }) => key)).toEqual([
    "job.succeeded:job_1",
    ...keys.slice(1).map(() => expect.stringMatching(/^sha256=[\w-]{43}$/)),
  ]);
  expect(new Set(queued.map(({ key }) => key)).size).toBe(keys.length);
  expect(await receiver.handle(delivered())).toMatchObject({ status: 500 });
  expect(outcomes.at(-1)).toMatchObject({ outcome: "failed", error: expect.any(TypeError) });
});

test("the queue's largest body bounds the receiver's", () => {
  const queue = { add: async () => {}, maxBodyBytes: 1000 };
  expect(receiverWith({ queue }).receiver.maxBodyBytes).toBe(1000);
  expect(receiverWith({ queue, maxBodyBytes: 500 }).receiver.maxBodyBytes).toBe(500);
  expect(() => receiverWith({ queue, maxBodyBytes: 1001 })).toThrow(
    /maxBodyBytes must be a whole number from 0 to 1000/,
  );
});

describe("createReceiver refuses", () => {
  const add = async () => {};
  const handlers = { "job.succeeded": () => {} };
  test.each<[string, object, RegExp]>([
    [
      "handlers and a queue",
      { queue: { add }, handlers },
      /queue cannot be combined with handlers\. Pass it to queueWorker/,
    ],
    [
      "a queue with dedupe and leaseMs",
      { queue: { add }, dedupe: {}, leaseMs: 1 },
      /combined with dedupe, leaseMs\. Pass these/,
    ],
    ["neither handlers nor a queue", {}, /handlers must be an object.*, unless there is a queue/],
    [
      "a queue with a wrong bound",
      { queue: { add, maxBodyBytes: "9" } },
      /queue\.maxBodyBytes must be a whole number/,
    ],
    ["a queue without add", { queue: {} }, /queue has no function add\. Pass bullmqQueue\(queue\)/],
    ["a function as queue", { queue: add }, /queue is a function/],
    ["a promise of a queue", { queue: Promise.resolve({ add }) }, /queue is a promise/],
    ["null as queue", { queue: null }, /queue has no function add/],
    ["a queue of BullMQ itself", { queue: { add, addBulk: add } }, /Pass bullmqQueue\(queue\)/],
  ])("%s", (_what, options, message) => {
    const start = () => createReceiver({ secrets: secret, ...options } as QueueReceiverOptions);
    expect(start).toThrow(message);
  });

  test("in types, handlers together with a queue, and neither of them", () => {
    const both = () => createReceiver({ secrets: secret, queue: { add }, handlers: undefined });
    expect(both).not.toThrow();
    // @ts-expect-error Exactly one of both is needed.
    expect(() => createReceiver({ secrets: secret, queue: { add }, handlers })).toThrow();
    // @ts-expect-error Exactly one of both is needed.
    expect(() => createReceiver({ secrets: secret })).toThrow();
    // @ts-expect-error A queue must confirm.
    createReceiver({ secrets: secret, queue: { add: () => {} } });
  });
});

test("a receiver from the environment can have a queue", async () => {
  process.env.WEBHOOK_RECEIVER = JSON.stringify({ version: 1, secrets: [secret] });
  try {
    const queued: QueuedDelivery[] = [];
    const receiver = receiverFromEnv({}, { queue: { add: async (delivery) => queued.push(delivery) } });
    await receiver.handle(delivered({ body: jobSucceeded("job_9") }));
    expect(queued).toMatchObject([{ jobId: "job_9" }]);
    const neither = {} as ConfiguredReceiverOptions;
    expect(() => receiverFromEnv({}, neither)).toThrow(/handlers must be an object/);
  } finally {
    delete process.env.WEBHOOK_RECEIVER;
  }
});
