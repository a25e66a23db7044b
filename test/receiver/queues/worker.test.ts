import { createReceiver, type Delivery, memoryDedupe, type QueuedDelivery } from "../../../src/receiver";
import { type QueueWorkerOptions, queueWorker, type WorkerOutcome } from "../../../src/receiver/queues";
import { deferred, delivered, jobSucceeded, receiverOf, secret } from "../support";

let ids = 0;
interface Queued {
  id?: string;
  body?: unknown;
  key?: string;
}
function queued({ id = `msg_${++ids}`, body = jobSucceeded("job_1"), key = id }: Queued = {}) {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return { version: 1, id, key, timestamp: 1_700_000_000, body: bytes.toString("base64") };
}

function workerOf(options: Partial<QueueWorkerOptions> = {}) {
  const outcomes: WorkerOutcome[] = [];
  const handlers = { "job.succeeded": () => {} };
  const worker = queueWorker({ handlers, onOutcome: (outcome) => outcomes.push(outcome), ...options });
  return { worker, outcomes };
}

test("the handler gets the same delivery as in a receiver, also after a byte order mark, which rawBody keeps", async () => {
  const seen: Delivery[] = [];
  const handlers = { "job.succeeded": (delivery: Delivery) => seen.push({ ...delivery }) };
  const request = delivered({
    id: "msg_same",
    body: `\uFEFF{"type":"job.succeeded","data":{"jobId":"\\u0031é"}} `,
  });
  await receiverOf({ handlers }).receiver.handle(request);
  const adding: QueuedDelivery[] = [];
  const receiver = createReceiver({ secrets: secret, queue: { add: async (each) => adding.push(each) } });
  await receiver.handle(request);
  await workerOf({ handlers }).worker(JSON.parse(JSON.stringify(adding[0])));
  const [first, second] = seen.map(({ signal, rawBody, ...rest }) => ({
    ...rest,
    body: Buffer.from(rawBody),
  }));
  expect(second).toEqual(first);
  expect(second).toMatchObject({ id: "msg_same", jobId: "1é", body: request.body });
});

const bytesOf = (data: unknown) => Buffer.from(JSON.stringify(data));

test.each<[string, (data: unknown) => unknown]>([
  ["a queued delivery", (data) => data],
  ["JSON", (data) => JSON.stringify(data)],
  ["the bytes of JSON", bytesOf],
  ["a Uint8Array of JSON", (data) => new Uint8Array(bytesOf(data))],
  ["a job of BullMQ", (data) => ({ id: "1", data, moveToFailed() {} })],
  ["a job whose data is JSON", (data) => ({ data: JSON.stringify(data) })],
  ["a batch of pg-boss", (data) => [{ id: "1", name: "webhooks", data }]],
])("a worker takes %s", async (_what, wrap) => {
  const handler = jest.fn();
  const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": handler } });
  await worker(wrap(queued()));
  expect(handler).toHaveBeenCalledWith(expect.objectContaining({ jobId: "job_1", timestamp: 1_700_000_000 }));
  expect(outcomes).toMatchObject([{ outcome: "handled", event: "job.succeeded", jobId: "job_1" }]);
});

const json = JSON.stringify(queued());
const wrong: [string, unknown, RegExp][] = [
  ["null", null, /not a JSON object/],
  ["a number", 5, /not a JSON object/],
  ["JSON that is cut off", json.slice(0, -9), /not a JSON object/],
  ["JSON of JSON", JSON.stringify(json), /not a JSON object/],
  ["another object", { hello: "world" }, /version is not 1/],
  ["a promise of a delivery", Promise.resolve(json), /version is not 1/],
  ["a message of SQS, in place of its body", { MessageId: "1", Body: json }, /an SQS message its body/],
  ["an event of Lambda", { Records: [{ messageId: "1", body: json }] }, /in Lambda, use sqsHandler/],
  ["a delivery of a later version", { ...queued(), version: 2 }, /version is not 1.* update the worker/],
  ["a delivery without a key", { ...queued(), key: undefined }, /its id, key, timestamp or body/],
  ["a delivery with a wrong time", { ...queued(), timestamp: "soon" }, /its id, key, timestamp or body/],
  ["a delivery without a body", { ...queued(), body: undefined }, /its id, key, timestamp or body/],
  [
    "a delivery whose body was decoded",
    { ...queued(), body: '{"type":1}' },
    /its id, key, timestamp or body/,
  ],
];

// An acknowledgment would delete a real event that is inside something else.
test.each(wrong)("a worker rejects %s, so that the queue keeps it", async (_what, data, problem) => {
  const handler = jest.fn();
  const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": handler }, onUnhandled: handler });
  const error = { code: "NOT_A_DELIVERY", message: expect.stringMatching(problem) };
  await expect(worker(data)).rejects.toMatchObject(error);
  await expect(worker([{ id: "1", name: "webhooks", data }])).rejects.toMatchObject(error);
  expect(outcomes).toMatchObject([{ outcome: "not-a-delivery", id: undefined, error }, { error }]);
  expect(handler).not.toHaveBeenCalled();
});

test("a failed handler rejects with its own error, so that the queue retries", async () => {
  const error = new Error("no");
  const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": () => Promise.reject(error) } });
  await expect(worker(queued())).rejects.toBe(error);
  expect(outcomes).toMatchObject([{ outcome: "failed", error }]);
  const { worker: throwing } = workerOf({ handlers: { "job.succeeded": () => Promise.reject("no error") } });
  await expect(throwing(queued())).rejects.toThrow(Error);
});

test.each<[string, () => unknown]>([
  ["a function", () => () => {}],
  ["a generator", function* () {}],
])("a handler that returns %s has not run, so the queue keeps the job", async (_what, handler) => {
  const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": handler } });
  await expect(worker(queued())).rejects.toThrow(/so it counts as failed/);
  expect(outcomes).toMatchObject([{ outcome: "failed" }]);
});

test.each<[string, readonly unknown[]]>([
  ["an index and a list, as map does", [0, [{}]]],
  ["an object with a signal's name", [{ signal: "SIGTERM" }]],
  ["an object that is no signal", ["token", { aborted: false }]],
  ["null and a function", [null, () => {}]],
])("what a queue passes besides, %s, is ignored", async (_what, others) => {
  const { worker, outcomes } = workerOf();
  const call: (...args: readonly unknown[]) => Promise<void> = worker as never;
  await call(queued(), ...others);
  await call([{ data: queued(), signal: 15 }], ...others);
  expect(outcomes).toMatchObject([{ outcome: "handled" }, { outcome: "handled" }]);
});

test("of a batch, every delivery is handled, and one that failed fails the batch", async () => {
  const handler = jest.fn().mockRejectedValueOnce(new Error("first"));
  const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": handler } });
  await expect(worker([{ data: queued() }, { data: queued() }])).rejects.toThrow("first");
  expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["failed", "handled"]);
});

test("an event without a handler is acknowledged and named once, or reaches onUnhandled", async () => {
  const log = jest.spyOn(console, "error").mockImplementation();
  const { worker, outcomes } = workerOf();
  await worker(queued({ body: { type: "invoice.paid" } }));
  expect(outcomes).toMatchObject([{ outcome: "unhandled", event: "invoice.paid" }]);
  expect(log.mock.calls).toEqual([[expect.stringMatching(/"invoice\.paid" was acknowledged/)]]);
  log.mockRestore();
  const onUnhandled = jest.fn();
  await workerOf({ onUnhandled }).worker(queued({ body: "no JSON" }));
  expect(onUnhandled).toHaveBeenCalledTimes(1);
});

test("at the handler's deadline its signal fires, and the worker rejects", async () => {
  const reasons: unknown[] = [];
  const hanging = ({ signal }: Delivery) =>
    new Promise(() => signal.addEventListener("abort", () => reasons.push(signal.reason)));
  const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": hanging }, handlerTimeoutMs: 20 });
  await expect(worker(queued())).rejects.toMatchObject({ code: "HANDLER_DEADLINE" });
  expect(reasons).toMatchObject([{ code: "HANDLER_DEADLINE" }]);
  expect(outcomes).toMatchObject([{ outcome: "timed-out" }]);
});

describe("a worker that is told to stop", () => {
  /** A handler that waits, and resolves when its signal fires. */
  const stopping = ({ signal }: Delivery) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));

  test.each([
    ["in the context", (signal: AbortSignal) => [queued(), { signal }] as const],
    ["as BullMQ's third argument", (signal: AbortSignal) => [{ data: queued() }, "token", signal] as const],
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

  test("hands back a delivery that it has not started, without calling the handler", async () => {
    const handler = jest.fn();
    const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": handler } });
    const reason = new Error("already");
    await expect(worker(queued(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(outcomes).toMatchObject([{ outcome: "failed", error: reason }]);
    expect(handler).not.toHaveBeenCalled();
  });

  test("hands back a delivery for a signal of another library, which has no reason", async () => {
    const { worker, outcomes } = workerOf({ handlers: { "job.succeeded": stopping } });
    const other = new EventTarget();
    const working = worker(queued(), { signal: Object.assign(other, { aborted: false }) as never });
    setImmediate(() => other.dispatchEvent(new Event("abort")));
    await expect(working).rejects.toThrow(/AbortError/);
    const aborted = Object.assign(new EventTarget(), { aborted: true });
    await expect(worker(queued(), { signal: aborted as never })).rejects.toThrow(/AbortError/);
    expect(outcomes).toMatchObject([{ outcome: "failed" }, { outcome: "failed" }]);
  });

  test("has three parameters, because BullMQ passes its signal only to a function that does", () => {
    expect(workerOf().worker).toHaveLength(3);
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
    const handlers = { "job.succeeded": () => gate.promise };
    const { worker } = workerOf({ handlers, dedupe: memoryDedupe() });
    const job = queued();
    const first = worker(job);
    await expect(worker(job)).rejects.toMatchObject({ code: "DELIVERY_HELD" });
    gate.resolve();
    await first;
  });

  test("a store that fails hands the delivery back", async () => {
    const dedupe = { ...memoryDedupe(), claim: () => Promise.reject(new Error("store down")) };
    await expect(workerOf({ dedupe }).worker(queued())).rejects.toThrow("store down");
  });

  test("a worker without one handles a delivery each time that the queue asks", async () => {
    const handler = jest.fn();
    const { worker } = workerOf({ handlers: { "job.succeeded": handler } });
    const job = queued();
    await worker(job);
    await worker(job);
    expect(handler).toHaveBeenCalledTimes(2);
  });
});

test("by default, failures and what is not a delivery are logged", async () => {
  const log = jest.spyOn(console, "error").mockImplementation();
  try {
    await expect(queueWorker({ handlers: { "job.failed": () => {} } })("garbage")).rejects.toThrow();
    expect(log.mock.calls).toEqual([
      [expect.stringMatching(/without an id.*not-a-delivery/), expect.any(Error)],
    ]);
  } finally {
    log.mockRestore();
  }
});
