import { spawn } from "node:child_process";
import http from "node:http";
import { Readable } from "node:stream";
import { Response as ResponseOfUndici } from "undici";
import { type Delivery, type Handlers, memoryDedupe } from "../../src/receiver";
import { clock, deferred, delivered, receiverOf } from "./support";

/** A receiver with one handler, and a dedupe store whose leases follow a clock of the test. */
function receiverWith(handler: (delivery: Delivery) => unknown, options: { leaseMs?: number } = {}) {
  const time = clock();
  const made = receiverOf({
    handlers: { "job.succeeded": handler },
    handlerTimeoutMs: 10,
    leaseMs: 30_000,
    dedupe: memoryDedupe({ now: time.now }),
    ...options,
  });
  return { ...made, pass: time.pass };
}

/** A query as builders make it: it runs whenever its `then` is called, and is a function in some libraries. */
function query(result: Promise<unknown>, { callable = false, returnsNothing = false } = {}) {
  const runs = jest.fn();
  const then = (...callbacks: Parameters<Promise<unknown>["then"]>) => {
    runs();
    const chained = result.then(...callbacks);
    return returnsNothing ? undefined : chained;
  };
  return { runs, lazy: Object.assign(callable ? () => {} : {}, { then }) };
}

const KINDS = [{}, { callable: true }, { returnsNothing: true }];

test.each(KINDS)("a query that a handler returns runs once and is awaited: %p", async (kind) => {
  const { promise, resolve } = deferred();
  const { runs, lazy } = query(promise, kind);
  const { outcomeOf } = receiverWith(() => lazy);
  const outcome = outcomeOf();
  resolve();
  expect(await outcome).toBe("handled");
  expect(runs).toHaveBeenCalledTimes(1);
});

test.each(KINDS)("a query that passes the deadline runs once, too: %p", async (kind) => {
  const { promise, resolve } = deferred();
  const { runs, lazy } = query(promise, kind);
  const { outcomeOf, pass } = receiverWith(() => lazy);
  const request = delivered();
  expect(await outcomeOf(request)).toBe("timed-out");
  resolve();
  await new Promise(setImmediate);
  expect(runs).toHaveBeenCalledTimes(1);
  pass(30_000);
  expect(await outcomeOf(request)).toBe("duplicate");
});

test.each(KINDS)("a query that fails is a failure of its delivery: %p", async (kind) => {
  const { lazy } = query(Promise.reject(new Error("no table")), kind);
  const { outcomeOf, outcomes } = receiverWith(() => lazy);
  expect(await outcomeOf()).toBe("failed");
  expect(outcomes).toMatchObject([{ error: { message: "no table" } }]);
});

test("the deadline error of another delivery is a failure of this one, whose claim is released", async () => {
  let reason: unknown;
  const hanging = receiverWith(
    ({ signal }) =>
      new Promise(() =>
        signal.addEventListener("abort", () => {
          reason = signal.reason;
        }),
      ),
  );
  expect(await hanging.outcomeOf()).toBe("timed-out");
  expect(reason).toMatchObject({ name: "DeadlineError", code: "HANDLER_DEADLINE" });

  const { outcomeOf, outcomes } = receiverWith(() => Promise.reject(reason));
  const request = delivered();
  expect(await outcomeOf(request)).toBe("failed");
  expect(await outcomeOf(request)).toBe("failed");
  expect(outcomes).toMatchObject([{ status: 500, error: reason }, { status: 500 }]);
});

describe("a handler that did not run", () => {
  const curried = (): unknown => async () => {};
  const generator = function* () {};
  test.each([
    ["a function", curried, /returned a function/],
    ["a promise of a function", async () => curried(), /returned a function/],
    ["a generator", () => generator(), /returned a generator/],
    ["an asynchronous generator", () => (async function* () {})(), /returned a generator/],
    ["a cold Observable", () => ({ subscribe: () => {}, pipe: () => {} }), /returned .*an Observable/],
    ["an Effect", () => ({ "~effect/Effect": {}, pipe: () => {} }), /an Effect.*runPromise/],
    ["an Effect of version 3", () => ({ [Symbol.for("effect/Effect")]: {} }), /an Effect/],
    ["a query of Kysely", () => ({ compile() {}, execute() {} }), /not executed.*execute\(\)/],
    ["queries of which none ran", () => [{ execute() {} }], /not executed/],
    ["a pipeline of ioredis", () => ({ addBatch() {}, exec() {}, execBuffer() {} }), /not executed/],
    ["a MULTI of node-redis", () => ({ execAsPipeline() {}, exec() {} }), /not executed/],
    ["a request of aws-sdk 2", () => ({ on() {}, promise() {}, send() {} }), /not sent.*promise\(\)/],
    ["a request", () => http.request("http://127.0.0.1:1").on("error", () => {}), /has not ended/],
    ["a process", () => spawn("true"), /has not ended/],
    ["the answer to a failure", () => new Response("no", { status: 503 }), /a Response with status 503/],
    // No instance of Node's Response, nor is what fetch returns while @hono/node-server 1 replaces the global class.
    [
      "the answer to a failure, of the fetch of undici",
      () => new ResponseOfUndici("no", { status: 503 }),
      /a Response with status 503/,
    ],
    [
      "answers of which one is to a failure",
      async () => [Response.json({}), new Response("no", { status: 503 })],
      /a Response with status 503/,
    ],
    ["an error", () => new RangeError("too large"), /^too large$/],
    [
      "what Promise.allSettled makes of a failure",
      () => Promise.allSettled([1, Promise.reject(new Error("late"))]),
      /allSettled .* rejected/,
    ],
    [
      "the failure of a client that does not reject, as Supabase's",
      () => ({ data: null, error: { message: "no such table" }, status: 404 }),
      /whose "error" is set/,
    ],
    ["a failed Result", () => ({ error: new Error("late") }), /whose "error" is set/],
    ["what a function of AWS threw", () => ({ FunctionError: "Unhandled" }), /whose "FunctionError" is set/],
    [
      "a batch that failed in part",
      () => ({ Successful: [], Failed: [{ Id: "1" }] }),
      /whose "Failed" is set/,
    ],
    ["events that were not taken", () => ({ FailedEntryCount: 1 }), /whose "FailedEntryCount" is set/],
    [
      "the answer to a failure, of undici's request",
      () => ({ statusCode: 503, headers: {}, body: null }),
      /response with status 503/,
    ],
    ["a list of promises", () => [Promise.reject(new Error("late"))], /Return Promise\.all/],
  ])(
    "a handler that returns %s has its delivery answered 500 with a reason, and handled again",
    async (_what, handler, reason) => {
      const { outcomeOf, outcomes } = receiverWith(handler);
      const request = delivered();
      expect(await outcomeOf(request)).toBe("failed");
      expect(await outcomeOf(request)).toBe("failed");
      expect(outcomes[0]).toMatchObject({ status: 500, error: { message: expect.stringMatching(reason) } });
    },
  );

  test.each([
    ["the row of a job that failed without data", { id: 1, data: null, error: "out of memory" }],
    ["the rows of jobs that a person rejected", [{ id: 1, status: "rejected", reason: "spam" }]],
    ["the row of a job that failed", { id: 1, data: { attempt: 3 }, error: "out of memory" }],
    ["the answer to a success, of Supabase", { data: null, error: null, status: 201 }],
    ["a batch that was taken", { Successful: [{ Id: "1" }], Failed: [] }],
    ["events that were taken", { FailedEntryCount: 0, UnprocessedItems: {} }],
    ["the answer to a success, of undici's request", { statusCode: 204, headers: {}, body: null }],
    ["the status of something", { statusCode: 404 }],
    ["the response of a client, which is a stream", Object.assign(Readable.from([]), { statusCode: 200 })],
    ["a container, which runs commands on demand", { exec: () => {} }],
  ])("a handler that returns %s has handled its delivery", async (_what, result) => {
    expect(await receiverWith(async () => result).outcomeOf(delivered())).toBe("handled");
  });

  test("createReceiver refuses handlers in a Map, a list or a promise, and generators, each with a reason", () => {
    const handler = () => {};
    const wrong: [unknown, RegExp][] = [
      [new Map([["job.succeeded", handler]]), /not a Map, a list or a promise/],
      [[["job.succeeded", handler]], /not a Map, a list or a promise/],
      [Promise.resolve({ "job.succeeded": handler }), /not a Map, a list or a promise/],
      [undefined, /handlers must be an object/],
      [handler, /handlers must be an object/],
      [{ "job.succeeded": generator }, /"job\.succeeded" is a generator function/],
      [{ "job.succeeded": async function* () {} }, /is a generator function/],
      [
        new (class extends class {
          "job.succeded"() {}
        } {})(),
        /"job\.succeded" is not an event/,
      ],
      [{ "job.success": handler }, /"job\.success" is not an event.*job\.succeeded/],
      [{ "job.failed": 1 }, /"job\.failed" is not a function/],
      [{ "job.failed": undefined }, /"job\.failed" is undefined\. Leave out an event without one/],
    ];
    for (const [handlers, reason] of wrong) {
      const start = () => receiverOf({ handlers: handlers as Handlers });
      expect(start).toThrow(TypeError);
      expect(start).toThrow(reason);
    }
    for (const onUnhandled of [null, 1, {}, generator])
      expect(() => receiverOf({ onUnhandled: onUnhandled as () => void })).toThrow(/onUnhandled is /);
  });
});

test("a handler may return anything else, and leaves no timer behind", async () => {
  jest.useFakeTimers();
  try {
    for (const result of [
      null,
      undefined,
      0,
      "",
      {},
      [],
      new Map(),
      Response.json({}),
      [ResponseOfUndici.json({}), null],
      Promise.resolve(null),
    ]) {
      const { outcomeOf } = receiverWith(() => result);
      expect(await outcomeOf()).toBe("handled");
    }
    // Runs the immediates, which would start the timers of what has not ended.
    jest.advanceTimersByTime(0);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test("a handler that is a method is called on its object", async () => {
  class Jobs {
    readonly #done: string[] = [];
    "job.succeeded"({ jobId }: Delivery) {
      this.#done.push(String(jobId));
    }
    get done() {
      return this.#done;
    }
  }
  const handlers = new Jobs();
  const { outcomeOf } = receiverOf({ handlers });
  expect(await outcomeOf()).toBe("handled");
  expect(handlers.done).toEqual(["job_1"]);
});

test("of fifty copies at once one is handled, and the others have to retry until it is done", async () => {
  const gate = deferred();
  const handler = jest.fn(() => gate.promise);
  const { receiver, outcomeOf } = receiverOf({ handlers: { "job.succeeded": handler } });
  const request = delivered();
  const first = receiver.handle(request);
  const others = await Promise.all(Array.from({ length: 49 }, () => receiver.handle(request)));
  for (const answer of others)
    expect(answer).toMatchObject({
      status: 503,
      headers: { "retry-after": expect.stringMatching(/^\d+$/) },
    });
  gate.resolve();
  expect(await first).toMatchObject({ status: 200, body: "" });
  expect(await outcomeOf(request)).toBe("duplicate");
  expect(handler).toHaveBeenCalledTimes(1);
});

test.each([
  ["rejects", () => Promise.reject(new Error("no"))],
  [
    "throws",
    () => {
      throw new Error("no");
    },
  ],
])("a handler that %s is called again on the retry", async (_how, failing) => {
  const handler = jest.fn().mockImplementationOnce(failing);
  const { receiver, outcomes, outcomeOf } = receiverWith(handler);
  const request = delivered();
  expect(await receiver.handle(request)).toMatchObject({ status: 500, body: "failed" });
  expect(await outcomeOf(request)).toBe("handled");
  expect(outcomes).toMatchObject([{ outcome: "failed", error: { message: "no" } }, { outcome: "handled" }]);
});

test("a handler that hangs gets its signal, and another one takes over when the lease has ended", async () => {
  const hung = deferred();
  const signals: AbortSignal[] = [];
  const handler = jest.fn(({ signal }: Delivery) => {
    signals.push(signal);
    return signals.length === 1 ? hung.promise : undefined;
  });
  const { receiver, outcomeOf, pass } = receiverWith(handler, { leaseMs: 30_010 });
  const request = delivered();
  // The rest of the lease after the deadline.
  expect(await receiver.handle(request)).toMatchObject({ status: 503, headers: { "retry-after": "30" } });
  expect(signals[0]?.aborted).toBe(true);
  pass(30_009);
  expect(await receiver.handle(request)).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  pass(1);
  expect(await outcomeOf(request)).toBe("handled");
  hung.reject(new Error("much later"));
  expect(await outcomeOf(request)).toBe("duplicate");
  expect(handler).toHaveBeenCalledTimes(2);
});

test.each([
  ["did not use the signal is done, and is not called again", () => {}, "duplicate", 1],
  [
    "looked at the signal may have stopped, and is called again",
    ({ signal }: Delivery) => signal.aborted,
    "handled",
    2,
  ],
])("a handler that resolves past its deadline and %s", async (_what, start, retried, calls) => {
  const late = deferred();
  const handler = jest.fn((delivery: Delivery) => {
    start(delivery);
    return late.promise;
  });
  const { receiver, outcomeOf, pass } = receiverWith(handler);
  const request = delivered();
  expect(await receiver.handle(request)).toMatchObject({ status: 503, body: "timed out" });
  late.resolve();
  await new Promise(setImmediate);
  pass(30_000);
  expect(await outcomeOf(request)).toBe(retried);
  expect(handler).toHaveBeenCalledTimes(calls);
  // A handler that asks only now gets it fired, too.
  expect(handler.mock.calls[0]?.[0].signal.aborted).toBe(true);
});
