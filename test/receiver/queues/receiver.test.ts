import {
  createReceiver,
  type DeliveryQueue,
  type Outcome,
  type QueuedDelivery,
  type QueueReceiverOptions,
} from "../../../src/receiver";
import { deferred, delivered, secret } from "../support";

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

test("a verified delivery is handed to the queue as plain JSON with the exact bytes, and gets 202", async () => {
  const at = 1_700_000_000_000;
  const { receiver, queued, outcomes } = receiverWith({ now: () => at });
  const body = Buffer.from(' {"type":"job.succeeded","data":{"jobId":"\\u0031é"}}\n');
  expect(await receiver.handle(delivered({ id: "msg_q", body, at }))).toMatchObject({ status: 202 });
  const stored = { version: 1, id: "msg_q", key: "msg_q", timestamp: at / 1000, event: "job.succeeded" };
  expect(queued).toEqual([{ ...stored, body: body.toString("base64") }]);
  expect(JSON.parse(JSON.stringify(queued))).toEqual(queued);
  expect(outcomes).toMatchObject([{ outcome: "queued", status: 202, event: "job.succeeded", jobId: "1é" }]);
});

test("the response waits until the queue has confirmed the delivery", async () => {
  const stored = deferred();
  const { receiver, outcomes } = receiverWith({ queue: { add: () => stored.promise } });
  const response = receiver.handle(delivered());
  await new Promise(setImmediate);
  expect(outcomes).toEqual([]);
  stored.resolve();
  expect(await response).toMatchObject({ status: 202 });
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
    { message: expect.stringMatching(/longer than 50 ms/) },
  ],
  ["resolves with a Response of status 503", async () => new Response("", { status: 503 }), {}],
  ["returns no promise", () => undefined as never, { message: expect.stringMatching(/return a promise/) }],
])("if the queue %s, the response is 503 with Retry-After", async (_how, add, error) => {
  const { receiver, outcomes } = receiverWith({ queue: { add }, handlerTimeoutMs: 50 });
  const response = await receiver.handle(delivered());
  expect(response).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
  expect(outcomes).toMatchObject([{ outcome: "queue-unavailable", status: 503, error }]);
});

test("a queue that fails after its deadline causes no unhandled rejection", async () => {
  const stored = deferred();
  const { receiver } = receiverWith({ queue: { add: () => stored.promise }, handlerTimeoutMs: 10 });
  expect(await receiver.handle(delivered())).toMatchObject({ status: 503 });
  stored.reject(new Error("much later"));
  await new Promise(setImmediate);
});

test("forged, late and large deliveries, other methods and validations never reach the queue", async () => {
  const { receiver, queued } = receiverWith({ maxBodyBytes: 100 });
  const statuses = [];
  for (const request of [
    { ...delivered(), body: Buffer.from("{}") },
    delivered({ at: Date.now() - 3_600_000 }),
    delivered({ body: "x".repeat(101) }),
    { ...delivered(), method: "GET" },
    delivered({ body: { type: "webhook.validation" } }),
  ])
    statuses.push((await receiver.handle(request)).status);
  expect([statuses, queued]).toEqual([[401, 401, 413, 405, 200], []]);
});

test("dedupeKey gives the queue its key, and a key that is long or not ASCII is hashed", async () => {
  const keys = ["job.succeeded:job_1", "k".repeat(257), "ключ", "line\nend"];
  const { receiver, queued, outcomes } = receiverWith({ dedupeKey: () => keys[queued.length] ?? "" });
  for (const _ of keys) await receiver.handle(delivered());
  const hash = expect.stringMatching(/^sha256=[\w-]{43}$/);
  expect(queued.map(({ key }) => key)).toEqual(["job.succeeded:job_1", hash, hash, hash]);
  expect(new Set(queued.map(({ key }) => key)).size).toBe(keys.length);
  expect(await receiver.handle(delivered())).toMatchObject({ status: 500 });
  expect(outcomes.at(-1)).toMatchObject({ outcome: "failed", error: expect.any(TypeError) });
});

test("the queue's largest body bounds the receiver's", () => {
  const queue = { add: async () => {}, maxBodyBytes: 1000 };
  expect(receiverWith({ queue }).receiver.maxBodyBytes).toBe(1000);
  expect(receiverWith({ queue, maxBodyBytes: 500 }).receiver.maxBodyBytes).toBe(500);
  expect(() => receiverWith({ queue, maxBodyBytes: 1001 })).toThrow(RangeError);
});

describe("createReceiver", () => {
  const add = async () => {};
  const handlers = { "job.succeeded": () => {} };

  test.each<[string, object, RegExp]>([
    [
      "handlers and a queue",
      { queue: { add }, handlers },
      /The option handlers does not exist here\. With a queue, .* queueWorker/,
    ],
    ["neither handlers nor a queue", {}, /handlers/],
  ])("createReceiver refuses %s", (_what, options, message) => {
    const start = () => createReceiver({ secrets: secret, ...options } as QueueReceiverOptions);
    expect(start).toThrow(message);
  });

  test("has types that refuse handlers together with a queue, neither of them, and an add that confirms nothing", () => {
    // @ts-expect-error Exactly one of both is needed.
    expect(() => createReceiver({ secrets: secret, queue: { add }, handlers })).toThrow();
    // @ts-expect-error Exactly one of both is needed.
    expect(() => createReceiver({ secrets: secret })).toThrow();
    // @ts-expect-error A queue must confirm.
    createReceiver({ secrets: secret, queue: { add: () => {} } });
  });
});
