import { createHash } from "node:crypto";
import { type Claim, type DedupeStore, memoryDedupe, type ReceiverOptions } from "../../src/receiver";
import { deferred, delivered, jobSucceeded, receiverOf } from "./support";

const broken = () => Promise.reject(new Error("connection refused"));
const never = () => new Promise<never>(() => {});
const working: DedupeStore = {
  claim: async () => ({ state: "claimed", token: "t" }),
  complete: async () => true,
  release: async () => true,
};
/** Returns a promise as a query builder does, which starts its query each time that it is awaited. */
const lazily = <T>(promise: T | Promise<T>) => ({
  // biome-ignore lint/suspicious/noThenProperty: a store whose client is a query builder
  then: (resolve: (value: T) => void) => void Promise.resolve(promise).then(resolve),
});
const later = (claim: Claim | Promise<Claim>) => async (): Promise<Claim> => {
  if (claim instanceof Promise) claim.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  return claim;
};
const KEEP_MS = 3 * 24 * 3_600_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe("dedupeKey", () => {
  /** The example of the documentation. */
  const hashOfBody = ({ rawBody }: { rawBody: Uint8Array }) =>
    createHash("sha256").update(rawBody).digest("hex");

  test("two endpoints that overlap deliver one event, which is handled once by the documented key", async () => {
    const { outcomeOf } = receiverOf({ dedupeKey: hashOfBody });
    expect(await outcomeOf(delivered({ id: "old_1" }))).toBe("handled");
    expect(await outcomeOf(delivered({ id: "new_1" }))).toBe("duplicate");
    expect(await outcomeOf(delivered({ body: jobSucceeded("job_2") }))).toBe("handled");
  });

  test("dedupeKey is not called without a job id or for other events: these are identified by their id", async () => {
    const dedupeKey = jest.fn(() => "the same");
    const { outcomeOf } = receiverOf({ onUnhandled: () => {}, dedupeKey });
    for (const body of [
      { type: "invoice.paid", data: { jobId: "j" } },
      { type: "job.failed", data: {} },
      "a=b",
    ]) {
      const request = delivered({ body });
      expect(await outcomeOf(request)).toBe("handled");
      expect(await outcomeOf(delivered({ body }))).toBe("handled");
      expect(await outcomeOf(request)).toBe("duplicate");
    }
    expect(dedupeKey).not.toHaveBeenCalled();
  });

  test.each<[string, Pick<ReceiverOptions, "dedupeKey">, string]>([
    ["dedupeKey returns", { dedupeKey: ({ jobId }) => jobId }, "msg_1"],
    ["the service sends as webhook-id", {}, "job_1"],
  ])(
    "a receiver warns once of a key that all events of a job share, because %s it",
    async (_what, option, id) => {
      const log = jest.spyOn(console, "error").mockImplementation();
      const { outcomeOf } = receiverOf(option);
      for (let count = 0; count < 2; count += 1) await outcomeOf(delivered({ id }));
      expect(log.mock.calls).toEqual([[expect.stringMatching(/the job's id, so only the first event/)]]);
      log.mockRestore();
    },
  );

  test.each<[string, () => string]>([
    ["throws", () => JSON.parse("")],
    ["returns an empty string", () => ""],
    ["returns nothing", () => undefined as unknown as string],
  ])("a dedupeKey that %s has the response 500, and no handler is called", async (_how, dedupeKey) => {
    const handler = jest.fn();
    const { receiver, outcomes } = receiverOf({ handlers: { "job.succeeded": handler }, dedupeKey });
    expect(await receiver.handle(delivered())).toMatchObject({ status: 500 });
    expect(outcomes).toMatchObject([{ outcome: "failed", error: expect.any(Error) }]);
    expect(handler).not.toHaveBeenCalled();
  });
});

describe("the store of a receiver", () => {
  test("is claimed with the lease, and completed with the token for three days", async () => {
    const store = { claim: jest.fn(working.claim), complete: jest.fn(working.complete), release: jest.fn() };
    const { outcomeOf } = receiverOf({ dedupe: store, handlerTimeoutMs: 1_000 });
    await outcomeOf(delivered({ id: "msg_k" }));
    expect(store.claim).toHaveBeenCalledWith("msg_k", 11_000);
    expect(store.complete).toHaveBeenCalledWith("msg_k", "t", KEEP_MS);
    expect(store.release).not.toHaveBeenCalled();
  });

  test.each<[string, () => unknown]>([
    ["fails", broken],
    ["throws", () => JSON.parse("")],
    ["hangs", never],
  ])(
    "that %s on a claim has the response 503 with Retry-After, and no handler is called",
    async (_how, claim) => {
      const handler = jest.fn();
      const dedupe = { ...working, claim: claim as DedupeStore["claim"] };
      const { receiver, outcomes } = receiverOf({ dedupe, handlers: { "job.succeeded": handler } });
      const responding = receiver.handle(delivered());
      await jest.advanceTimersByTimeAsync(5_000);
      expect(await responding).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
      expect(outcomes).toMatchObject([{ outcome: "store-unavailable", error: expect.any(Error) }]);
      expect(handler).not.toHaveBeenCalled();
    },
  );

  test.each<[string, (claim: Claim | Promise<Claim>) => unknown]>([
    ["succeeds after its five seconds is released, so that the retry is handled", (claim) => claim],
    ["is of a query builder is asked once, and released, too", (claim) => lazily(claim)],
  ])("whose claim %s", async (_what, wrap) => {
    const memory = memoryDedupe();
    const connected = deferred();
    let isLate = true;
    const asked = jest.fn();
    // As a client that waits for its connection, and sends the command then.
    const claim = (key: string, leaseMs: number) => {
      if (!isLate) return memory.claim(key, leaseMs);
      const claimed = connected.promise.then(() => {
        asked();
        return memory.claim(key, leaseMs);
      });
      return wrap(claimed) as Promise<Claim>;
    };
    const { receiver, outcomeOf } = receiverOf({ dedupe: { ...memory, claim } });
    const request = delivered();
    const responding = receiver.handle(request);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await responding).toMatchObject({ status: 503 });
    connected.resolve();
    isLate = false;
    await jest.advanceTimersByTimeAsync(0);
    expect(asked).toHaveBeenCalledTimes(1);
    expect(await outcomeOf(request)).toBe("handled");
  });

  test.each<[string, Partial<DedupeStore>]>([
    ["finds the delivery held", { claim: later({ state: "held", retryAfterMs: 1 }) }],
    ["fails", { claim: later(Promise.reject(new Error("closed"))) }],
    ["cannot be released", { claim: later({ state: "claimed", token: "t" }), release: broken }],
  ])("whose late claim %s has the response 503, and nothing else comes of it", async (_what, flaw) => {
    const release = jest.fn(working.release);
    const { receiver, outcomes } = receiverOf({ dedupe: { ...working, release, ...flaw } });
    const responding = receiver.handle(delivered());
    await jest.advanceTimersByTimeAsync(7_000);
    expect(await responding).toMatchObject({ status: 503 });
    expect(outcomes).toMatchObject([{ outcome: "store-unavailable" }]);
    expect(release).not.toHaveBeenCalled();
  });

  test.each([
    [-5, "1"],
    [1500, "2"],
    [undefined, "5"],
  ])("that holds a claim with retryAfterMs %p has Retry-After %s", async (retryAfterMs, seconds) => {
    const claim = async () => ({ state: "held", retryAfterMs }) as Claim;
    const { receiver } = receiverOf({ dedupe: { ...working, claim } });
    const expected = { status: 503, headers: { "retry-after": seconds } };
    expect(await receiver.handle(delivered())).toMatchObject(expected);
  });

  test("that fails to complete is asked again in the background: the response is 200, and a retry a duplicate", async () => {
    const memory = memoryDedupe();
    const complete = jest.fn(memory.complete).mockImplementationOnce(broken).mockImplementationOnce(broken);
    const { receiver, outcomes, outcomeOf } = receiverOf({ dedupe: { ...memory, complete } });
    const request = delivered();
    expect(await receiver.handle(request)).toMatchObject({ status: 200 });
    expect(outcomes).toMatchObject([{ outcome: "handled", error: { message: "connection refused" } }]);
    expect(await outcomeOf(request)).toBe("held");
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await outcomeOf(request)).toBe("duplicate");
    expect(complete).toHaveBeenCalledTimes(3);
  });

  test("is asked to complete until the lease ends, and never after", async () => {
    const complete = jest.fn(broken);
    const { receiver } = receiverOf({
      dedupe: { ...working, complete },
      handlerTimeoutMs: 1_000,
      leaseMs: 4_000,
    });
    await receiver.handle(delivered());
    await jest.advanceTimersByTimeAsync(4_000);
    const calls = complete.mock.calls.length;
    expect(calls).toBeGreaterThan(3);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(complete).toHaveBeenCalledTimes(calls);
    expect(jest.getTimerCount()).toBe(0);
  });

  test("that refuses to complete is not asked again, and the outcome says so", async () => {
    const complete = jest.fn(async () => false);
    const { receiver, outcomes } = receiverOf({ dedupe: { ...working, complete } });
    expect(await receiver.handle(delivered())).toMatchObject({ status: 200 });
    expect(outcomes).toMatchObject([
      { outcome: "handled", error: { message: expect.stringMatching(/raise leaseMs/) } },
    ]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(complete).toHaveBeenCalledTimes(1);
  });

  test("that hangs at the end of a delivery holds up the response for five seconds", async () => {
    const { receiver, outcomes } = receiverOf({ dedupe: { ...working, complete: never } });
    const responding = receiver.handle(delivered());
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await responding).toMatchObject({ status: 200 });
    expect(outcomes).toMatchObject([{ outcome: "handled", error: expect.any(Error) }]);
  });

  test("that fails to release leaves the handler's error in the outcome", async () => {
    const handlers = { "job.succeeded": () => Promise.reject(new Error("mine")) };
    const { receiver, outcomes } = receiverOf({ dedupe: { ...working, release: broken }, handlers });
    expect(await receiver.handle(delivered())).toMatchObject({ status: 500 });
    expect(outcomes).toMatchObject([{ outcome: "failed", error: { message: "mine" } }]);
  });

  test("whose promises are lazy is asked once", async () => {
    const run = jest.fn((resolve: (claim: Claim) => void) => resolve({ state: "claimed", token: "t" }));
    // biome-ignore lint/suspicious/noThenProperty: a store whose client is a query builder
    const claim = () => ({ then: run }) as unknown as Promise<Claim>;
    const { outcomeOf } = receiverOf({ dedupe: { ...working, claim } });
    expect(await outcomeOf()).toBe("handled");
    expect(run).toHaveBeenCalledTimes(1);
  });

  test("forgets a late handler whose delivery another worker has taken over", async () => {
    const late = deferred();
    const handler = jest.fn().mockReturnValueOnce(late.promise);
    const options = { handlers: { "job.succeeded": handler }, handlerTimeoutMs: 1_000, leaseMs: 2_000 };
    const { receiver, outcomeOf } = receiverOf(options);
    const request = delivered();
    const first = receiver.handle(request);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await first).toMatchObject({ status: 503 });
    expect(await outcomeOf(request)).toBe("handled");
    late.resolve();
    await jest.advanceTimersByTimeAsync(0);
    expect(await outcomeOf(request)).toBe("duplicate");
    expect(handler).toHaveBeenCalledTimes(2);
  });
});
