import { runInNewContext } from "node:vm";
import { createReceiver, type Delivery, memoryDedupe } from "../../../src/receiver";
import { type QueueWorkerOptions, queueWorker, type WorkerOutcome } from "../../../src/receiver/queues";
import { queuedDelivery } from "../../../src/receiver/queues/delivery";
import { deferred, delivered, jobSucceeded, receiverOf, secret } from "../support";

let ids = 0;
function queued({ id = `msg_${++ids}`, body, key = id }: { id?: string; body?: unknown; key?: string } = {}) {
  const rawBody = Buffer.from(
    typeof body === "string" ? body : JSON.stringify(body ?? jobSucceeded("job_1")),
  );
  const unread = {
    event: undefined,
    jobId: undefined,
    data: undefined,
    signal: new AbortController().signal,
  };
  return JSON.parse(
    JSON.stringify(queuedDelivery({ id, timestamp: 1_700_000_000, rawBody, ...unread }, key)),
  );
}

function workerOf(options: Partial<QueueWorkerOptions> = {}) {
  const outcomes: WorkerOutcome[] = [];
  const worker = queueWorker({ handlers: {}, onOutcome: (outcome) => outcomes.push(outcome), ...options });
  return { worker, outcomes };
}

/** A job as BullMQ passes it. */
const bullmqJob = (data: unknown) => ({ id: "1", data, moveToFailed() {} });

const bytesOf = (data: unknown) => Buffer.from(JSON.stringify(data));

function sharedBytesOf(data: unknown): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(bytesOf(data).length);
  new Uint8Array(shared).set(bytesOf(data));
  return shared;
}

test("the handler gets the same delivery as in a receiver", async () => {
  const seen: Delivery[] = [];
  const handlers = { "job.succeeded": (delivery: Delivery) => seen.push({ ...delivery }) };
  const request = delivered({
    id: "msg_same",
    body: '{"type":"job.succeeded","data":{"jobId":9007199254740993}} ',
  });
  await receiverOf({ handlers }).receiver.handle(request);
  const adding: unknown[] = [];
  const receiver = createReceiver({ secrets: secret, queue: { add: async (each) => adding.push(each) } });
  await receiver.handle(request);
  await workerOf({ handlers }).worker(JSON.parse(JSON.stringify(adding[0])));
  const [first, second] = seen.map(({ signal, rawBody, ...rest }) => ({
    ...rest,
    body: Buffer.from(rawBody),
  }));
  expect(second).toEqual(first);
  expect(second).toMatchObject({ id: "msg_same", jobId: "9007199254740993", body: request.body });
});

test.each<[string, (data: unknown) => unknown]>([
  ["a queued delivery", (data) => data],
  ["JSON", (data) => JSON.stringify(data)],
  ["the bytes of JSON", bytesOf],
  ["an ArrayBuffer", (data) => new Uint8Array(bytesOf(data)).buffer],
  ["a DataView in a job", (data) => ({ data: new DataView(new Uint8Array(bytesOf(data)).buffer) })],
  ["shared memory", sharedBytesOf],
  [
    "bytes of another realm",
    (data) => runInNewContext("Uint8Array.from(bytes)", { bytes: [...bytesOf(data)] }),
  ],
  ["JSON with a byte order mark", (data) => `\uFEFF${JSON.stringify(data)}`],
  ["its bytes with a byte order mark", (data) => Buffer.from(`\uFEFF${JSON.stringify(data)}`)],
  ["a job of BullMQ", bullmqJob],
  ["a batch of pg-boss", (data) => [{ id: "1", name: "webhooks", data }]],
])("a worker takes %s", async (_what, wrap) => {
  const handler = jest.fn();
  const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": handler } });
  await worker(wrap(queued()));
  expect(handler).toHaveBeenCalledWith(expect.objectContaining({ jobId: "job_1", timestamp: 1_700_000_000 }));
  expect(outcomes).toMatchObject([{ outcome: "handled", event: "job.succeeded", jobId: "job_1" }]);
});

test("a failed handler rejects with its own error, so that the queue retries", async () => {
  const error = new Error("no");
  const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": () => Promise.reject(error) } });
  await expect(worker(queued())).rejects.toBe(error);
  await expect(worker(bullmqJob(queued()))).rejects.toBe(error);
  expect(outcomes).toMatchObject([
    { outcome: "failed", error },
    { outcome: "failed", error },
  ]);
  const { worker: throwing } = workerOf({ handlers: { "job.succeeded": () => Promise.reject("no error") } });
  await expect(throwing(queued())).rejects.toThrow(Error);
});

test("of a batch, every delivery is handled, and one that failed fails the batch", async () => {
  const handler = jest.fn().mockRejectedValueOnce(new Error("first"));
  const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": handler } });
  await expect(worker([{ data: queued() }, { data: queued() }])).rejects.toThrow("first");
  expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["failed", "handled"]);
});

test("an event without a handler is acknowledged, or reaches onUnhandled", async () => {
  const { worker, outcomes } = workerOf();
  await worker(queued({ body: { type: "invoice.paid" } }));
  expect(outcomes).toMatchObject([{ outcome: "unhandled", event: "invoice.paid" }]);
  const onUnhandled = jest.fn();
  await workerOf({ onUnhandled }).worker(queued({ body: "no JSON" }));
  expect(onUnhandled).toHaveBeenCalledTimes(1);
});

describe("at the handler's deadline", () => {
  test("its signal fires, and the worker rejects", async () => {
    const reasons: unknown[] = [];
    const hanging = ({ signal }: Delivery) =>
      new Promise(() => signal.addEventListener("abort", () => reasons.push(signal.reason)));
    const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": hanging }, handlerTimeoutMs: 20 });
    await expect(worker(queued())).rejects.toMatchObject({ code: "HANDLER_DEADLINE" });
    expect(reasons).toMatchObject([{ code: "HANDLER_DEADLINE" }]);
    expect(outcomes).toMatchObject([{ outcome: "timed-out" }]);
  });
});

test("a worker warns once if pg-boss gives its job away before the handler's deadline", async () => {
  const warn = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  const { worker } = workerOf({ handlerTimeoutMs: 60_000 });
  await worker([{ data: queued(), expireInSeconds: 61 }]);
  expect(warn).not.toHaveBeenCalled();
  await worker([{ data: queued(), expireInSeconds: 60 }]);
  await worker([{ data: queued(), expireInSeconds: 60 }]);
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/after 60 seconds.*expireInSeconds to more/), expect.anything()],
  ]);
});

describe("a worker that is told to stop", () => {
  /** A handler that waits, and resolves when its signal fires. */
  const stopping = ({ signal }: Delivery) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));

  test.each([
    ["in the context", (signal: AbortSignal) => [queued(), { signal }] as const],
    ["as BullMQ's third argument", (signal: AbortSignal) => [bullmqJob(queued()), "token", signal] as const],
    ["in a job of pg-boss", (signal: AbortSignal) => [[{ data: queued(), signal }]] as const],
  ])("hands back what a handler that watches its signal holds, with the signal %s", async (_where, args) => {
    const controller = new AbortController();
    const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": stopping } });
    const [job, context, signal] = args(controller.signal);
    const working = worker(job, context, signal);
    const reason = new Error("shutting down");
    setImmediate(() => controller.abort(reason));
    await expect(working).rejects.toBe(reason);
    expect(outcomes).toMatchObject([{ outcome: "failed", error: reason }]);
  });

  test("finishes what a handler that does not watch its signal holds", async () => {
    const controller = new AbortController();
    const gate = deferred();
    const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": () => gate.promise } });
    const working = worker(queued(), { signal: controller.signal });
    controller.abort();
    gate.resolve();
    await working;
    expect(outcomes).toMatchObject([{ outcome: "handled" }]);
  });

  test("before it starts, fires the signal at once", async () => {
    const signal = AbortSignal.abort(new Error("already"));
    const handlers = { "job.succeeded": (delivery: Delivery) => delivery.signal.throwIfAborted() };
    await expect(workerOf({ handlers }).worker(queued(), { signal })).rejects.toThrow("already");
  });

  test("before it starts, hands back without calling the handler", async () => {
    const handler = jest.fn();
    const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": handler } });
    const reason = new Error("already");
    await expect(worker(queued(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(outcomes).toMatchObject([{ outcome: "failed", error: reason }]);
    expect(handler).not.toHaveBeenCalled();
  });

  test("BullMQ passes its signal only to a function with three parameters", () => {
    expect(workerOf().worker).toHaveLength(3);
  });
});

test.each<[string, unknown, RegExp]>([
  [
    "an event of Lambda",
    { Records: [{ messageId: "1", body: "{}" }] },
    /Pass sqsHandler\(worker\) to Lambda/,
  ],
  ["a message of SQS", { MessageId: "1", Body: "{}" }, /Pass its Body/],
  ["a message of Kafka", { key: null, value: Buffer.from("{}"), offset: "1" }, /Pass its value/],
  ["what kafkajs passes to eachMessage", { topic: "t", message: { value: "{}" } }, /Pass message\.value/],
])(
  "%s in place of what it holds is handed back, as an acknowledgment would lose it",
  async (_what, given, advice) => {
    const { worker, outcomes } = workerOf();
    await expect(worker(given)).rejects.toThrow(advice);
    expect(outcomes).toMatchObject([{ outcome: "failed", error: { name: "TypeError" } }]);
  },
);

describe("a delivery inside something else is handed back, with the advice what to pass", () => {
  const json = JSON.stringify({ version: 1, id: "m", key: "m", timestamp: 1, body: "" });
  const bytes = Buffer.from(json);
  const base64 = bytes.toString("base64");
  const record = { messageId: "1", body: json };
  class Message {
    readonly #body: string;
    constructor(body: string) {
      this.#body = body;
    }
    get body() {
      return this.#body;
    }
  }

  test.each<[string, unknown, string]>([
    ["a record of SQS", record, "Pass its `body`."],
    ["a record as JSON", JSON.stringify(record), "Pass its `body`."],
    ["a list of records", [record], "Pass its `[0].body`, and the same of each other element."],
    ["an event of Lambda on SQS", { Records: [record] }, "Pass sqsHandler(worker) to Lambda."],
    ["what ReceiveMessage returns", { Messages: [{ Body: json }] }, "Pass its `Messages[0].Body`, and"],
    ["what SNS sends", JSON.stringify({ Type: "Notification", Message: json }), "Pass its `Message`."],
    [
      "an event of Lambda on Kafka",
      { records: { "webhooks-0": [{ offset: 1, value: base64 }] } },
      'Pass its `records["webhooks-0"][0].value`, decoded from base64, and',
    ],
    ["a value in base64", base64, "Decode it from base64 first."],
    ["a batch of kafkajs", { batch: { messages: [{ value: bytes }] } }, "`batch.messages[0].value`"],
    ["a message of amqplib", { content: bytes, fields: {} }, "Pass its `content`."],
    ["the same as JSON", JSON.stringify({ content: bytes }), "Pass its `content`."],
    ["an entry of a Redis stream", { id: "1-0", message: { delivery: json } }, "`message.delivery`"],
    ["what Pub/Sub pushes", { message: { data: base64 } }, "Pass its `message.data`, decoded from base64."],
    ["data in base64", { data: base64 }, "Pass its `data`, decoded from base64."],
    ["a job of BullMQ with a record", bullmqJob(record), "Pass its `data.body`."],
    ["a job of pg-boss with a record", [{ id: "1", data: record }], "Pass its `[0].data.body`"],
    ["JSON of JSON", JSON.stringify(json), "Parse it as JSON first."],
    ["a later version", { body: json.replace("1", "2") }, "Pass its `body`."],
    ["a field that may be a secret", { [`whsec_${base64}`]: json }, "Pass its `[…]`"],
  ])("%s", async (_what, given, advice) => {
    const { worker, outcomes } = workerOf();
    await expect(worker(given)).rejects.toThrow(advice);
    expect(outcomes).toMatchObject([{ outcome: "failed", error: { name: "TypeError" } }]);
  });

  test.each([
    ["a promise", Promise.resolve(json), "Await it first"],
    ["undefined", undefined, "undefined, which no queue holds"],
    ["a function", () => json, "function, which no queue holds"],
    ["a promise in a job", { data: Promise.resolve(json) }, "Await it first"],
    ["a Blob", new Blob([json]), "an object of a class, which no queue holds"],
    ["a Map in a job", { data: new Map([["body", json]]) }, "an object of a class, which no queue holds"],
    ["a Set", new Set([json]), "an object of a class, which no queue holds"],
    ["a String object", new String(json), "an object of a class, which no queue holds"],
    ["a message whose body is a getter", new Message(json), "an object of a class, which no queue holds"],
    ["an ArrayBuffer in a field", { body: new Uint8Array(bytes).buffer }, "Pass its `body`."],
  ])(
    "a worker that is called with %s fails, because an acknowledgment would lose the delivery",
    async (_what, given, reason) => {
      const { worker, outcomes } = workerOf();
      await expect(worker(given)).rejects.toThrow(reason);
      expect(outcomes).toMatchObject([{ outcome: "failed", error: { name: "TypeError" } }]);
    },
  );

  const strings = { version: "1", timestamp: "1" };
  test.each([
    ["a stream of Redis, which holds strings", strings, "whose version is no number"],
    ["a column of type bigint", { timestamp: "1" }, "whose timestamp is no number"],
    ["a client that returns big integers", { timestamp: 1n }, "whose timestamp is no number"],
    ["a client that reads base64", { body: Buffer.from("{}") }, "whose body is no base64"],
    ["one that breaks its lines", { body: "e30=\n" }, "whose body is no base64"],
  ])("a delivery that came back from %s", async (_what, changed, reason) => {
    const { worker, outcomes } = workerOf();
    await expect(worker({ ...JSON.parse(json), ...changed })).rejects.toThrow(reason);
    expect(outcomes).toMatchObject([{ outcome: "failed", error: { name: "TypeError" } }]);
  });

  const stored = Object.entries(JSON.parse(json));
  test.each([
    ["an entry of a stream of Redis", ["1-0", stored.flat().map(String)], "a list of names and values"],
    ["JSON that a short column has cut off", json.slice(0, -9), "that is cut off"],
    ["the fields of one", stored.flat().map(String), "a list of names and values"],
    [
      "an image of DynamoDB",
      Object.fromEntries(stored.map(([name, value]) => [name, { S: String(value) }])),
      "with an object for each value",
    ],
  ])("a delivery as %s is not acknowledged", async (_what, given, reason) => {
    const { worker, outcomes } = workerOf();
    await expect(worker(given)).rejects.toThrow(reason);
    expect(outcomes.at(-1)).toMatchObject({ outcome: "failed", error: { name: "TypeError" } });
  });

  test("what has no end, or fails when it is read, holds no delivery", async () => {
    const endless: Record<string, unknown> = { many: Array.from({ length: 20_000 }, () => ({})) };
    endless.itself = [endless, endless];
    const fails = () => {
      throw new Error("no");
    };
    const { worker, outcomes } = workerOf();
    await worker(endless);
    await worker(Object.defineProperty({}, "field", { enumerable: true, get: fails }));
    expect(outcomes).toMatchObject([{ outcome: "not-a-delivery" }, { outcome: "not-a-delivery" }]);
  });
});

describe("data that is no delivery", () => {
  const wrong: [string, unknown, RegExp][] = [
    ["null", null, /not a JSON object/],
    ["a number", 5, /not a JSON object/],
    ["no JSON", "{", /not a JSON object/],
    ["another object", { hello: "world" }, /no version 1/],
    ["an object without a prototype", Object.create(null), /no version 1/],
    ["an object of another realm", runInNewContext("({})"), /no version 1/],
    ["a delivery without a body", { ...queued(), body: undefined }, /its body is not a string/],
    ["a delivery whose body was decoded", { ...queued(), body: '{"type":1}' }, /its body is not base64/],
    ["a delivery with a wrong time", { ...queued(), timestamp: "soon" }, /its timestamp is not an integer/],
  ];

  test.each(wrong)("%s, is acknowledged and reported with a reason", async (_what, data, problem) => {
    const { worker, outcomes } = workerOf();
    await worker(data);
    await worker([{ id: "1", name: "webhooks", data }]);
    const error = { code: "NOT_A_DELIVERY", message: expect.stringMatching(problem) };
    expect(outcomes).toMatchObject([{ outcome: "not-a-delivery", id: undefined, error }, { error }]);
  });

  test.each(wrong)("%s, fails with the error that BullMQ does not retry", async (_what, data) => {
    const { worker, outcomes } = workerOf();
    await expect(worker(bullmqJob(data))).rejects.toMatchObject({
      name: "UnrecoverableError",
      code: "NOT_A_DELIVERY",
    });
    expect(outcomes).toMatchObject([{ outcome: "not-a-delivery" }]);
  });

  test("a delivery of a later version is retried, as a newer worker can read it", async () => {
    const { worker, outcomes } = workerOf();
    const error = { code: "DELIVERY_VERSION", name: "QueuedDeliveryError" };
    await expect(worker(bullmqJob({ ...queued(), version: 2 }))).rejects.toMatchObject(error);
    expect(outcomes).toMatchObject([{ outcome: "failed", error }]);
  });
});

describe("with a dedupe store", () => {
  test("a delivery is handled once by its key, and again after a failure", async () => {
    const handler = jest.fn().mockRejectedValueOnce(new Error("no"));
    const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": handler }, dedupe: memoryDedupe() });
    const [job, same] = [queued({ key: "k" }), queued({ key: "k" })];
    await expect(worker(job)).rejects.toThrow("no");
    await worker(job);
    await worker(same);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["failed", "handled", "duplicate"]);
  });

  test("a delivery that another worker holds is handed back", async () => {
    const gate = deferred();
    const { worker } = workerOf({
      handlers: { "job.succeeded": () => gate.promise },
      dedupe: memoryDedupe(),
    });
    const job = queued();
    const first = worker(job);
    await expect(worker(job)).rejects.toMatchObject({ code: "DELIVERY_HELD" });
    gate.resolve();
    await first;
  });

  test("a store that fails hands the delivery back", async () => {
    const dedupe = { ...memoryDedupe(), claim: () => Promise.reject(new Error("store down")) };
    const handlers = { "job.succeeded": () => {} };
    await expect(workerOf({ dedupe, handlers }).worker(queued())).rejects.toThrow("store down");
  });

  test("without one, a delivery is handled each time that the queue asks", async () => {
    const handler = jest.fn();
    const { worker } = workerOf({ handlers: { "job.succeeded": handler } });
    const job = queued();
    await worker(job);
    await worker(job);
    expect(handler).toHaveBeenCalledTimes(2);
  });
});

test("queueWorker refuses unknown and wrong options", () => {
  const start = (more: object) => () => queueWorker({ handlers: {}, ...more });
  expect(start({ handler: {} })).toThrow(
    /handler is not an option of queueWorker \(did you mean handlers\?\)/,
  );
  expect(start({ dedupe: {} })).toThrow(/queueWorker: dedupe has no function/);
  expect(start({ handlers: { "job.done": () => {} } })).toThrow(/queueWorker: "job.done" is not an event/);
  expect(start({ handlerTimeoutMs: 0 })).toThrow(RangeError);
  expect(start({ onOutcome: 5 })).toThrow(/queueWorker: onOutcome must be a function/);
});

test("by default, failures and what is not a delivery are logged", async () => {
  const log = jest.spyOn(console, "error").mockImplementation();
  try {
    const worker = queueWorker({ handlers: {} });
    await worker("garbage");
    expect(log.mock.calls).toEqual([
      [expect.stringMatching(/without an id.*not-a-delivery/), expect.any(Error)],
    ]);
  } finally {
    log.mockRestore();
  }
});
