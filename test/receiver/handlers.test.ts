import { Readable } from "node:stream";
import type { Delivery, Handler, ReceiverOptions } from "../../src/receiver";
import { deferred, delivered, receiverOf } from "./support";

const log = jest.spyOn(console, "error").mockImplementation();
afterEach(() => void log.mockClear());

const receiverWith = (handler: Handler<Delivery>, options: Partial<ReceiverOptions> = {}) =>
  receiverOf({ handlers: { "job.succeeded": handler }, ...options });

/** A class of its own, as undici and node-fetch have. */
class ResponseOfUndici {
  readonly [Symbol.toStringTag] = "Response";
  constructor(
    readonly ok: boolean,
    readonly status: number,
  ) {}
}

test.each<[string, Handler<Delivery>, RegExp]>([
  ["throws", () => JSON.parse("?"), /JSON/],
  ["rejects", () => Promise.reject(new Error("late")), /^Error: late/],
  ["rejects with undefined", () => Promise.reject(), /undefined/],
  [
    "returns a Response that is not ok",
    async () => new Response("no", { status: 503 }),
    /Response with status 503/,
  ],
  [
    "returns such a Response of another library",
    () => new ResponseOfUndici(false, 404),
    /Response with status 404/,
  ],
  [
    "returns a function, such as a TaskEither of fp-ts",
    async () => () => {},
    /a function, which nobody has called/,
  ],
  ["returns a class", () => class {}, /a function, which nobody has called/],
  [
    "is a generator function",
    function* () {
      yield;
    },
    /a generator, which has not run, so it counts as failed/,
  ],
  [
    "is an async generator function",
    async function* () {
      yield;
    },
    /a generator, which has not run, so it counts as failed/,
  ],
])("a handler that %s fails with 500, and is called again on the retry", async (_how, handler, error) => {
  const calls = jest.fn(handler);
  const { outcomeOf, outcomes } = receiverWith(calls);
  const request = delivered();
  expect(await outcomeOf(request)).toBe("failed");
  expect(await outcomeOf(request)).toBe("failed");
  expect(calls).toHaveBeenCalledTimes(2);
  expect(outcomes[0]).toMatchObject({ status: 500 });
  expect(String(outcomes[0]?.error)).toMatch(error);
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["a number", 0],
  ["a Response that is ok", Response.json({})],
  [
    "the row that it saved, whose error is an object (fail-2)",
    { id: "job_1", data: null, error: { message: "out of memory" } },
  ],
  ["a list of results", [{ status: "rejected", reason: "spam" }]],
  ["an error as a value", new Error("kept")],
  ["a response of got, which is a stream that has ended", Object.assign(new Readable(), { statusCode: 200 })],
])("a handler that returns %s has handled its delivery", async (_what, result) => {
  const { outcomeOf } = receiverWith(async () => result);
  const request = delivered();
  expect(await outcomeOf(request)).toBe("handled");
  expect(await outcomeOf(request)).toBe("duplicate");
  expect(log).not.toHaveBeenCalled();
});

test.each<[string, unknown, RegExp]>([
  [
    "the Observable that NestJS's emit returns (fail-1)",
    { subscribe: () => {}, pipe: () => {} },
    /function subscribe.*lastValueFrom/,
  ],
  ["a query that was not executed", { execute: () => {} }, /function execute, so it may not have run/],
  ["a pipeline of ioredis without exec()", { exec: async () => [], set() {} }, /function exec,/],
  [
    "a statement of D1 without run()",
    new (class {
      run() {}
      first() {}
    })(),
    /function run,/,
  ],
  ["a request of aws-sdk 2 without promise()", { on() {}, promise: async () => {} }, /function promise,/],
  ["an effect, which has pipe only", { pipe: () => {}, _op: "Sync" }, /function pipe,/],
  ["a list with a promise", [1, Promise.resolve()], /a list of promises, so.*Promise\.all/],
])("a handler that returns %s gets 200, with one line in the log", async (_what, result, says) => {
  const { outcomeOf } = receiverWith(() => result);
  for (let count = 0; count < 2; count++) expect(await outcomeOf()).toBe("handled");
  expect(log.mock.calls).toEqual([[expect.stringMatching(says)]]);
});

test("a handler is called on the object that holds it, and leaves no timer behind", async () => {
  jest.useFakeTimers();
  const done: unknown[] = [];
  const handlers = {
    done,
    "job.succeeded"({ jobId }: Delivery) {
      this.done.push(jobId);
    },
  };
  Object.defineProperty(handlers, "done", { enumerable: false });
  const { outcomeOf } = receiverOf({ handlers });
  expect(await outcomeOf()).toBe("handled");
  expect(done).toEqual(["job_1"]);
  jest.advanceTimersByTime(0);
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

test("of fifty copies at once one is handled, and the others have to retry until it is done", async () => {
  const gate = deferred();
  const handler = jest.fn(() => gate.promise);
  const { receiver, outcomeOf } = receiverWith(handler);
  const request = delivered();
  const first = receiver.handle(request);
  const others = await Promise.all(Array.from({ length: 49 }, () => receiver.handle(request)));
  for (const response of others)
    expect(response).toMatchObject({
      status: 503,
      headers: { "retry-after": expect.stringMatching(/^\d+$/) },
    });
  gate.resolve();
  expect(await first).toMatchObject({ status: 200, body: "" });
  expect(await outcomeOf(request)).toBe("duplicate");
  expect(handler).toHaveBeenCalledTimes(1);
});

describe("a handler that passes its deadline", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** Hands over a delivery, and lets its deadline pass. */
  async function late(handler: Handler<Delivery>) {
    const made = receiverWith(handler, { handlerTimeoutMs: 1_000, leaseMs: 31_000 });
    const request = delivered();
    const responding = made.receiver.handle(request);
    await jest.advanceTimersByTimeAsync(1_000);
    return { ...made, request, response: await responding };
  }

  test("is told so by its signal, and another one takes over when the lease has ended", async () => {
    const hung = deferred();
    const seen: Delivery[] = [];
    const handler = jest.fn((delivery: Delivery) => {
      seen.push(delivery);
      return seen.length === 1 ? hung.promise : undefined;
    });
    const { response, request, receiver, outcomes, outcomeOf } = await late(handler);
    // The rest of the lease.
    expect(response).toMatchObject({ status: 503, body: "timed out", headers: { "retry-after": "30" } });
    expect(outcomes).toMatchObject([{ outcome: "timed-out", error: { code: "HANDLER_DEADLINE" } }]);
    expect(seen[0]?.signal.aborted).toBe(true);
    expect(seen[0]?.signal.reason).toMatchObject({ code: "HANDLER_DEADLINE" });
    await jest.advanceTimersByTimeAsync(29_999);
    expect(await receiver.handle(request)).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    await jest.advanceTimersByTimeAsync(1);
    expect(await outcomeOf(request)).toBe("handled");
    hung.reject(new Error("much later"));
    await jest.advanceTimersByTimeAsync(0);
    expect(await outcomeOf(request)).toBe("duplicate");
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test.each<[string, (delivery: Delivery) => unknown, string]>([
    ["did not look at its signal has handled its delivery", () => {}, "duplicate"],
    ["looked at it may have stopped, so the retry is handled", ({ signal }) => signal, "handled"],
    ["copied it may have stopped, so the retry is handled", (delivery) => ({ ...delivery }), "handled"],
  ])("and resolves late: one that %s", async (_what, start, retried) => {
    const end = deferred();
    const { request, outcomeOf } = await late((delivery) => {
      start(delivery);
      return end.promise;
    });
    end.resolve();
    await jest.advanceTimersByTimeAsync(30_000);
    expect(await outcomeOf(request)).toBe(retried);
  });

  test("and fails late leaves its claim to the end of the lease", async () => {
    const end = deferred();
    const { request, outcomeOf } = await late(() => end.promise);
    end.reject(new Error("late"));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await outcomeOf(request)).toBe("held");
  });
});
