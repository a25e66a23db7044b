import { createHash } from "node:crypto";
import { type Claim, type DedupeStore, memoryDedupe, type ReceiverOptions } from "../../src/receiver";
import { deferred, delivered, jobSucceeded, receiverOf } from "./support";

const broken = () => Promise.reject(new Error("connection refused"));
const working: DedupeStore = {
  claim: async () => ({ state: "claimed", token: "t" }),
  complete: async () => true,
  release: async () => true,
};
const handlers = { "job.succeeded": () => {} };

describe("dedupeKey", () => {
  /** The example of the documentation. */
  const dedupeKey = ({ rawBody }: { rawBody: Uint8Array }) =>
    createHash("sha256").update(rawBody).digest("hex");

  test("two endpoints that overlap deliver one event, which is handled once by the documented key", async () => {
    const handler = jest.fn();
    const { outcomeOf } = receiverOf({ handlers: { "job.succeeded": handler }, dedupeKey });
    expect(await outcomeOf(delivered({ id: "old_1" }))).toBe("handled");
    expect(await outcomeOf(delivered({ id: "new_1" }))).toBe("duplicate");
    expect(await outcomeOf(delivered({ body: jobSucceeded("job_2") }))).toBe("handled");
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test("an event of a job that runs again is handled with the documented key", async () => {
    const { outcomeOf } = receiverOf({ handlers, dedupeKey });
    for (const finishedAt of ["2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"]) {
      const { type, data } = jobSucceeded("job_1");
      expect(await outcomeOf(delivered({ body: { type, data: { ...data, finishedAt } } }))).toBe("handled");
    }
  });

  test("it is not called without a job id or for other events, so two such deliveries never count as one", async () => {
    const key = jest.fn(() => "the same");
    const { outcomeOf } = receiverOf({ handlers, onUnhandled: () => {}, dedupeKey: key });
    for (const body of [
      { type: "invoice.paid", data: { n: 1 } },
      { type: "job.failed", data: {} },
      { type: "job.succeeded", data: "no object" },
      { type: "job.moved", data: { jobId: "j", to: "elsewhere" } },
      "a=b",
    ]) {
      const request = delivered({ body });
      expect(await outcomeOf(request)).toBe("handled");
      expect(await outcomeOf(delivered({ body }))).toBe("handled");
      expect(await outcomeOf(request)).toBe("duplicate");
    }
    expect(key).not.toHaveBeenCalled();
  });

  test("two jobs whose numeric ids round to the same number have different keys", async () => {
    const { outcomeOf } = receiverOf({ handlers, dedupeKey: ({ event, jobId }) => `${event}:${jobId}` });
    for (const id of ["9007199254740992", "9007199254740993"])
      expect(await outcomeOf(delivered({ body: `{"type":"job.succeeded","data":{"jobId":${id}}}` }))).toBe(
        "handled",
      );
  });

  test.each<[string, Pick<ReceiverOptions, "dedupeKey">, string, RegExp]>([
    [
      "a dedupeKey that returns it",
      { dedupeKey: ({ jobId }) => jobId },
      "msg_1",
      /^dedupeKey returns the job's id, .*:\$/,
    ],
    [
      "a service that sends it as webhook-id",
      {},
      "job_1",
      /^The service's webhook-id is the job's id, .*Let dedupeKey return/,
    ],
  ])(
    "a receiver warns once of a key that all events of a job share: of %s",
    async (_what, option, id, says) => {
      const warning = jest.spyOn(process, "emitWarning").mockImplementation();
      const { outcomeOf } = receiverOf({ handlers, ...option });
      for (let count = 0; count < 2; count += 1) await outcomeOf(delivered({ id }));
      expect(warning.mock.calls).toEqual([[expect.stringMatching(says), expect.anything()]]);
      warning.mockRestore();
    },
  );

  test("a job's id may hold the words that a missing property leaves", async () => {
    const dedupeKey = ({ event, jobId }: { event: string; jobId: string }) => `${event}:${jobId}`;
    const { outcomeOf } = receiverOf({ handlers: { "job.succeeded": () => {} }, dedupeKey });
    for (const jobId of ["report:null:1", "undefined", "[object Object]"])
      expect(await outcomeOf(delivered({ body: jobSucceeded(jobId) }))).toBe("handled");
  });

  test("so may any other text of the event", async () => {
    const dedupeKey = ({ jobId, data }: { jobId: string; data: unknown }) =>
      `${jobId}:${(data as { error: string }).error}`;
    const { outcomeOf } = receiverOf({ handlers: { "job.failed": () => {} }, dedupeKey });
    for (const error of ["Cannot read properties of undefined (reading 'id')", "the loss is NaN"])
      expect(
        await outcomeOf(
          delivered({ body: JSON.stringify({ type: "job.failed", data: { jobId: "a", error } }) }),
        ),
      ).toBe("handled");
    const body = JSON.stringify({ type: "job.failed", data: { jobId: "a", why: "e" } });
    expect(await outcomeOf(delivered({ body }))).toBe("failed");
  });

  test("a key of JSON may hold null", async () => {
    const dedupeKey = ({ data }: { data: unknown }) => `job ${JSON.stringify(data)}`;
    const { outcomeOf } = receiverOf({ handlers: { "job.succeeded": () => {} }, dedupeKey });
    const body = '{"type":"job.succeeded","data":{"jobId":"job_1","error":null}}';
    expect(await outcomeOf(delivered({ body }))).toBe("handled");
  });

  test("if it throws or does not return a string, the answer is 500 and no handler is called", async () => {
    const handler = jest.fn();
    for (const dedupeKey of [
      () => "",
      () => undefined as unknown as string,
      ({ data }: { data: unknown }) => `${(data as { runId?: string }).runId}`,
      ({ data }: { data: unknown }) => `job:${data}`,
      () => `job.succeeded:${null}`,
      () => `run-${Number("x")}`.replace("-", ":"),
      () => {
        throw new Error("no key");
      },
    ]) {
      const { receiver, outcomes } = receiverOf({ handlers: { "job.succeeded": handler }, dedupeKey });
      expect(await receiver.handle(delivered())).toMatchObject({ status: 500 });
      expect(outcomes).toMatchObject([{ outcome: "failed", error: expect.any(Error) }]);
    }
    expect(handler).not.toHaveBeenCalled();
  });
});

describe("the dedupe store", () => {
  test("the receiver claims with the lease, and completes with the token and three days", async () => {
    const store = { claim: jest.fn(working.claim), complete: jest.fn(working.complete), release: jest.fn() };
    const { outcomeOf } = receiverOf({
      dedupe: store,
      handlers,
      toleranceSeconds: 86_400,
      handlerTimeoutMs: 1000,
    });
    await outcomeOf(delivered({ id: "msg_k" }));
    expect(store.claim).toHaveBeenCalledWith("msg_k", 11_000);
    expect(store.complete).toHaveBeenCalledWith("msg_k", "t", 3 * 24 * 3_600_000);

    const { receiver, outcomeOf: usual } = receiverOf({ dedupe: store, handlers });
    await usual(delivered({ id: "msg_d" }));
    expect(store.claim).toHaveBeenLastCalledWith("msg_d", 25_000);
    expect(receiver.maxBodyBytes).toBe(2 ** 20);
    expect(store.release).not.toHaveBeenCalled();
  });

  test("if a claim fails, the answer is 503 with Retry-After and no handler is called", async () => {
    const handler = jest.fn();
    const { receiver, outcomes } = receiverOf({
      dedupe: { ...working, claim: broken },
      handlers: { "job.succeeded": handler },
    });
    expect(await receiver.handle(delivered())).toMatchObject({
      status: 503,
      headers: { "retry-after": "5" },
    });
    expect(outcomes).toMatchObject([
      { outcome: "store-unavailable", error: { message: "connection refused" } },
    ]);
    expect(handler).not.toHaveBeenCalled();
  });

  test("a claim without a known state counts as a failure", async () => {
    const handler = jest.fn();
    for (const claim of [undefined, null, {}, { state: "taken" }]) {
      const { receiver, outcomes } = receiverOf({
        dedupe: { ...working, claim: async () => claim as never },
        handlers: { "job.succeeded": handler },
      });
      expect(await receiver.handle(delivered())).toMatchObject({ status: 503 });
      expect(outcomes).toMatchObject([{ outcome: "store-unavailable", error: expect.any(TypeError) }]);
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test.each([
    [0, "1"],
    [-5, "1"],
    [1500, "2"],
    [Number.NaN, "5"],
    [Number.POSITIVE_INFINITY, "5"],
    ["1500", "5"],
    [undefined, "5"],
    [1e30, "86400"],
  ])("a held claim with retryAfterMs %p has Retry-After %s", async (retryAfterMs, seconds) => {
    const claim = async () => ({ state: "held", retryAfterMs }) as Claim;
    const { receiver } = receiverOf({ dedupe: { ...working, claim }, handlers });
    expect(await receiver.handle(delivered())).toMatchObject({
      status: 503,
      headers: { "retry-after": seconds },
    });
  });

  test("a lazy claim runs once", async () => {
    const run = jest.fn((answer: (claim: Claim) => void) => answer({ state: "claimed", token: "t" }));
    // biome-ignore lint/suspicious/noThenProperty: a store whose client is a query builder
    const claim = () => ({ then: run }) as unknown as Promise<Claim>;
    const { outcomeOf } = receiverOf({ dedupe: { ...working, claim }, handlers });
    expect(await outcomeOf()).toBe("handled");
    expect(run).toHaveBeenCalledTimes(1);
  });

  test("if the release of a failed delivery fails, the outcome holds the handler's error", async () => {
    const { receiver, outcomes } = receiverOf({
      dedupe: { ...working, release: broken },
      handlers: { "job.succeeded": () => Promise.reject(new Error("mine")) },
    });
    expect(await receiver.handle(delivered())).toMatchObject({ status: 500 });
    expect(outcomes).toMatchObject([{ outcome: "failed", error: { message: "mine" } }]);
  });
});

describe("a dedupe store that fails or hangs", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test("a handled delivery is answered 200 at once, and its completion is tried again until it succeeds", async () => {
    const complete = jest
      .fn<Promise<boolean>, [string, string, number]>()
      .mockImplementationOnce(broken)
      .mockImplementationOnce(broken)
      .mockResolvedValue(true);
    const { receiver, outcomes, unrecorded } = receiverOf({ dedupe: { ...working, complete }, handlers });
    expect(await receiver.handle(delivered({ id: "msg_r" }))).toMatchObject({ status: 200 });
    expect(outcomes).toMatchObject([{ outcome: "handled", error: { message: "connection refused" } }]);
    expect(complete).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(complete).toHaveBeenCalledTimes(3);
    expect(complete).toHaveBeenLastCalledWith("msg_r", "t", 3 * 24 * 3_600_000);
    expect(unrecorded).toEqual([]);
  });

  test("a retry is a duplicate once the completion has succeeded", async () => {
    const memory = memoryDedupe();
    const complete = jest.fn(memory.complete).mockImplementationOnce(broken);
    const { outcomeOf } = receiverOf({ dedupe: { ...memory, complete }, handlers });
    const request = delivered();
    expect(await outcomeOf(request)).toBe("handled");
    expect(await outcomeOf(request)).toBe("held");
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await outcomeOf(request)).toBe("duplicate");
  });

  test("onUnrecorded is called once when the completion is given up at the end of the lease", async () => {
    const complete = jest.fn(broken);
    const { receiver, unrecorded } = receiverOf({
      dedupe: { ...working, complete },
      handlers,
      handlerTimeoutMs: 1_000,
      leaseMs: 4_000,
    });
    await receiver.handle(delivered({ id: "msg_u" }));
    await jest.advanceTimersByTimeAsync(3_700);
    expect(complete.mock.calls.length).toBeGreaterThan(3);
    expect(unrecorded).toEqual([]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(unrecorded).toMatchObject([
      { id: "msg_u", event: "job.succeeded", jobId: "job_1", error: { message: "connection refused" } },
    ]);
    expect(jest.getTimerCount()).toBe(0);
  });

  test.each([false, 0, null, undefined])(
    "a store that answers %s did not record a delivery: that reaches onUnrecorded at once, and it is not asked again",
    async (answered) => {
      const complete = jest.fn(async () => answered as boolean);
      const { receiver, unrecorded } = receiverOf({ dedupe: { ...working, complete }, handlers });
      expect(await receiver.handle(delivered({ id: "msg_n" }))).toMatchObject({ status: 200 });
      expect(unrecorded).toMatchObject([
        {
          id: "msg_n",
          event: "job.succeeded",
          error: { name: "NotRecordedError", code: "DELIVERY_NOT_RECORDED" },
        },
      ]);
      await jest.advanceTimersByTimeAsync(60_000);
      expect(complete).toHaveBeenCalledTimes(1);
    },
  );

  test("a store that refuses a later attempt to record a delivery reaches onUnrecorded", async () => {
    const complete = jest.fn(async () => false).mockImplementationOnce(broken);
    const { receiver, unrecorded } = receiverOf({ dedupe: { ...working, complete }, handlers });
    await receiver.handle(delivered());
    await jest.advanceTimersByTimeAsync(60_000);
    expect(unrecorded).toMatchObject([{ error: { code: "DELIVERY_NOT_RECORDED" } }]);
    expect(complete).toHaveBeenCalledTimes(2);
  });

  test("a handler that finishes after another worker has taken over its delivery reaches onUnrecorded", async () => {
    const late = deferred();
    const store = memoryDedupe({ now: () => performance.now() });
    const { receiver, unrecorded, outcomeOf } = receiverOf({
      dedupe: store,
      handlers: { "job.succeeded": jest.fn().mockReturnValueOnce(late.promise) },
      handlerTimeoutMs: 1_000,
      leaseMs: 2_000,
    });
    const request = delivered();
    const first = receiver.handle(request);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await first).toMatchObject({ status: 503 });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await outcomeOf(request)).toBe("handled");
    late.resolve();
    await jest.advanceTimersByTimeAsync(0);
    expect(unrecorded).toMatchObject([
      { id: request.headers["webhook-id"], error: { code: "DELIVERY_NOT_RECORDED" } },
    ]);
  });

  test("without onUnrecorded, the console says which delivery is handled again", async () => {
    const log = jest.spyOn(console, "error").mockImplementation(() => {});
    try {
      const dedupe = { ...working, complete: broken };
      const { receiver } = receiverOf({ dedupe, handlers, onUnrecorded: undefined });
      await receiver.handle(delivered({ id: "msg_w" }));
      await jest.advanceTimersByTimeAsync(60_000);
      expect(log.mock.calls).toEqual([[expect.stringMatching(/msg_w.*handled again/), expect.any(Error)]]);
    } finally {
      log.mockRestore();
    }
  });

  test("a store that never answers the end of a delivery holds up the answer for five seconds", async () => {
    const never = () => new Promise<boolean>(() => {});
    const handler = jest.fn().mockRejectedValueOnce(new Error("mine"));
    const { receiver } = receiverOf({
      dedupe: { ...working, complete: never, release: never },
      handlers: { "job.succeeded": handler },
    });
    for (const status of [500, 200]) {
      const answer = receiver.handle(delivered());
      await jest.advanceTimersByTimeAsync(5000);
      expect(await answer).toMatchObject({ status });
    }
  });

  test("a claim that hangs is given up after five seconds, and given back when it comes late", async () => {
    const claim = deferred<Claim>();
    // Its failure is ignored: an unhandled rejection would end this process.
    const release = jest.fn(broken);
    const { receiver } = receiverOf({
      dedupe: { ...working, claim: () => claim.promise, release },
      handlers,
    });
    const answer = receiver.handle(delivered({ id: "msg_l" }));
    await jest.advanceTimersByTimeAsync(5000);
    expect(await answer).toMatchObject({ status: 503 });
    claim.resolve({ state: "claimed", token: "late" });
    await jest.advanceTimersByTimeAsync(0);
    expect(release).toHaveBeenCalledWith("msg_l", "late");

    const held = deferred<Claim>();
    const other = receiverOf({ dedupe: { ...working, claim: () => held.promise, release }, handlers });
    const refused = other.receiver.handle(delivered());
    await jest.advanceTimersByTimeAsync(5000);
    expect(await refused).toMatchObject({ status: 503 });
    held.resolve({ state: "held", retryAfterMs: 1 });
    await jest.advanceTimersByTimeAsync(0);
    expect(release).toHaveBeenCalledTimes(1);
  });

  test("leases in memory follow a monotonic clock: a step of the system's clock ends none and prolongs none", async () => {
    const hung = jest.fn(() => new Promise(() => {}));
    const { receiver, outcomeOf } = receiverOf({
      handlers: { "job.succeeded": hung },
      handlerTimeoutMs: 1_000,
      leaseMs: 10_000,
      toleranceSeconds: 0,
    });
    const request = delivered();
    const first = receiver.handle(request);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await first).toMatchObject({ status: 503 });
    for (const step of [3_600_000, -7_200_000]) {
      jest.setSystemTime(Date.now() + step);
      expect(await outcomeOf(request)).toBe("held");
    }
    expect(hung).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(9_000);
    hung.mockResolvedValueOnce(undefined);
    expect(await outcomeOf(request)).toBe("handled");
  });
});
