import {
  type Claim,
  createReceiver,
  type DedupeStore,
  type Delivery,
  memoryDedupe,
  WebhookSecretError,
} from "../../src/receiver";
import { clock, deferred, delivered, jobSucceeded, otherSecret, receiverOf, secret } from "./support";

describe("a verified delivery", () => {
  test("reaches the handler of its event, with all that was sent", async () => {
    const seen: Delivery[] = [];
    const { receiver, outcomes } = receiverOf({
      handlers: { "job.succeeded": (delivery) => seen.push(delivery) },
    });
    const request = delivered({ id: "msg_a", body: jobSucceeded("job_7") });
    expect(await receiver.handle(request)).toMatchObject({ status: 200 });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      id: "msg_a",
      timestamp: Number(request.headers["webhook-timestamp"]),
      event: "job.succeeded",
      jobId: "job_7",
      data: { jobId: "job_7", status: "succeeded" },
      rawBody: request.body,
    });
    expect(seen[0]?.signal.aborted).toBe(false);
    expect(outcomes).toMatchObject([
      { outcome: "handled", status: 200, id: "msg_a", event: "job.succeeded", jobId: "job_7" },
    ]);
  });

  test.each([
    ["the documented body", { type: "job.failed", data: { jobId: "j", status: "failed", error: "e" } }],
    ["a flat body", { jobId: "j", status: "failed" }],
    ["a flat body with job_id", { job_id: "j", status: "failed" }],
    ["data with job_id", { type: "job.failed", data: { job_id: "j" } }],
    ["the job id beside the data", { type: "job.failed", jobId: "j", data: {} }],
    ["data whose jobId is not its job_id", { type: "job.failed", data: { jobId: "j", job_id: "k" } }],
    ["data whose job is not that beside it", { type: "job.failed", jobId: "k", data: { jobId: "j" } }],
    ["a type without data", { type: "job.failed", jobId: "j" }],
    ["data that is null", { type: "job.failed", jobId: "j", data: null }],
  ])("is understood as %s", async (_what, body) => {
    const failed = jest.fn();
    const { receiver } = receiverOf({ handlers: { "job.failed": failed } });
    expect(await receiver.handle(delivered({ body }))).toMatchObject({ status: 200, body: "handled" });
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ event: "job.failed", jobId: "j" }));
  });

  test.each([
    ["another event", { type: "invoice.paid", data: { n: 1 } }, { event: "invoice.paid", data: { n: 1 } }],
    [
      "an event without handler",
      { type: "job.running", data: { jobId: "j" } },
      { event: "job.running", jobId: "j" },
    ],
    [
      "an event whose job id is empty",
      { type: "job.succeeded", data: { jobId: "" } },
      { event: "job.succeeded", jobId: undefined },
    ],
    ["an event whose data is no object", { type: "job.succeeded", jobId: "j", data: "d" }, { data: "d" }],
    [
      "a job's event that the service does not send",
      { type: "job.other", jobId: "j" },
      { event: "job.other" },
    ],
    [
      "an event without job id",
      { type: "job.succeeded", data: {} },
      { event: "job.succeeded", jobId: undefined },
    ],
    ["an unknown status", { jobId: "j", status: "paused" }, { event: undefined, jobId: "j" }],
    ["a list", [1], { event: undefined, data: [1] }],
    ["null", null, { event: undefined, data: null }],
    ["what is not JSON", "a=b", { event: undefined, data: undefined }],
    ["no UTF-8", Buffer.from([0xff, 0xfe]), { event: undefined, data: undefined }],
    ["nothing", "", { event: undefined, data: undefined }],
    [
      "a type that is a prototype's name",
      { type: "constructor", data: { jobId: "j" } },
      { event: "constructor" },
    ],
    ["a type that is __proto__", { type: "__proto__", data: { jobId: "j" } }, { event: "__proto__" }],
  ])("of %s goes to onUnhandled", async (_what, body, expected) => {
    const onUnhandled = jest.fn();
    const succeeded = jest.fn();
    const { receiver } = receiverOf({ handlers: { "job.succeeded": succeeded }, onUnhandled });
    expect(await receiver.handle(delivered({ body }))).toMatchObject({ status: 200, body: "handled" });
    expect(onUnhandled).toHaveBeenCalledWith(expect.objectContaining(expected));
    expect(succeeded).not.toHaveBeenCalled();
  });

  test("of a job whose id is a number has it as text", async () => {
    const handler = jest.fn();
    const { receiver } = receiverOf({ handlers: { "job.succeeded": handler } });
    await receiver.handle(delivered({ body: { type: "job.succeeded", data: { jobId: 7 } } }));
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ jobId: "7" }));
  });

  test("is handled whatever its handler gives, and leaves no timer", async () => {
    jest.useFakeTimers();
    try {
      for (const given of [null, undefined, 0, "", {}, Promise.resolve(null)]) {
        const { receiver } = receiverOf({ handlers: { "job.succeeded": () => given } });
        expect(await receiver.handle(delivered())).toMatchObject({ body: "handled" });
      }
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  test("is reported with the milliseconds that it took", async () => {
    const { now, pass } = clock();
    const { receiver, outcomes } = receiverOf({ now, handlers: { "job.succeeded": () => pass(250) } });
    await receiver.handle(delivered({ at: now() }));
    expect(outcomes).toMatchObject([{ durationMs: 250 }]);
  });

  test("is understood behind a byte order mark, which rawBody keeps", async () => {
    const handler = jest.fn();
    const { receiver } = receiverOf({ handlers: { "job.succeeded": handler } });
    const request = delivered({ body: `\ufeff${JSON.stringify(jobSucceeded("job_1"))}` });
    expect(await receiver.handle(request)).toMatchObject({ body: "handled" });
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ jobId: "job_1", rawBody: request.body }));
  });

  test("reaches a handler that is a method, on its object", async () => {
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
    const { receiver } = receiverOf({ handlers });
    expect(await receiver.handle(delivered())).toMatchObject({ body: "handled" });
    expect(handlers.done).toEqual(["job_1"]);
  });

  test("that nobody handles is acknowledged, and once", async () => {
    const { receiver, outcomes } = receiverOf();
    const request = delivered();
    expect(await receiver.handle(request)).toMatchObject({ status: 200, body: "unhandled" });
    expect(await receiver.handle(request)).toMatchObject({ status: 200, body: "duplicate" });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["unhandled", "duplicate"]);
  });

  test("changes no prototype, however its body names one", async () => {
    let data: unknown;
    const { receiver } = receiverOf({ onUnhandled: (delivery) => (data = delivery.data) });
    const deep = `${'{"a":'.repeat(20_000)}{"\\u005f_proto__":{"polluted":1}}${"}".repeat(20_000)}`;
    for (const body of [
      '{"data":{"__proto__":{"polluted":1},"x":[{"__pr\\u006fto__":{"polluted":1}}],"y":2}}',
      '{"x":[{"__pr\\u006fto__":{"polluted":1}}]}',
      deep,
    ]) {
      expect(await receiver.handle(delivered({ body }))).toMatchObject({ status: 200 });
      let inner: unknown = data;
      while (typeof inner === "object" && inner !== null) {
        expect(Object.hasOwn(inner, "__proto__")).toBe(false);
        inner = Object.values(inner)[0];
      }
    }
  });
});

describe("what is refused", () => {
  test("is answered by its kind, and its reason goes to onRejected alone", async () => {
    const { receiver, rejections } = receiverOf({ maxBodyBytes: 100 });
    const request = delivered({ id: "msg_b" });
    const tampered = { ...request, body: Buffer.from("{}") };
    const requests = [
      [tampered, 401, { reason: "signature-mismatch", unverifiedId: "msg_b" }],
      [
        delivered({ at: Date.now() - 400_000, id: "msg_c" }),
        401,
        { reason: "timestamp-too-old", unverifiedId: "msg_c" },
      ],
      [{ ...request, headers: {} }, 401, { reason: "missing-id" }],
      [{ ...request, method: "GET" }, 405, { reason: "method" }],
      [{ ...request, body: Buffer.alloc(101) }, 413, { reason: "size" }],
    ] as const;
    for (const [refused, status, rejection] of requests) {
      const answer = await receiver.handle(refused);
      expect(answer.status).toBe(status);
      if (status === 401) expect(answer.body).toBe("not verified");
      expect(rejections.pop()).toEqual({ status, ...rejection });
    }
    expect((await receiver.handle({ ...request, method: "GET" })).headers).toMatchObject({ allow: "POST" });
  });

  test("has its claimed id repeated up to 256 characters, and a longer one not", async () => {
    const { receiver, rejections } = receiverOf();
    for (const length of [256, 257])
      await receiver.handle(delivered({ secret: otherSecret, id: "i".repeat(length) }));
    expect(rejections.map(({ unverifiedId }) => unverifiedId?.length)).toEqual([256, undefined]);
  });

  test("leaves no trace: a forged copy does not keep out the genuine delivery", async () => {
    const handler = jest.fn();
    const { receiver } = receiverOf({ handlers: { "job.succeeded": handler } });
    const request = delivered();
    await receiver.handle({ ...request, body: Buffer.from("{}") });
    expect(await receiver.handle(request)).toMatchObject({ body: "handled" });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("is a process warning, the first for each reason, where nobody asked to be told", async () => {
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { receiver } = receiverOf({ onRejected: undefined });
    const forged = delivered({ secret: otherSecret });
    await receiver.handle(forged);
    await receiver.handle(forged);
    await receiver.handle({ ...forged, method: "PUT" });
    const told = warning.mock.calls.map(([message]) => String(message));
    expect(told).toEqual([
      expect.stringMatching(/\(signature-mismatch\).*401.*onRejected/),
      expect.stringMatching(/\(method\).*405/),
    ]);
    expect(told.join()).not.toMatch(/whsec|msg_/);
    warning.mockRestore();
  });

  test("because the body was parsed is the program's fault: 500, and a warning that says what to change", async () => {
    const { receiver, rejections } = receiverOf();
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const parsed = { ...delivered(), body: { type: "job.succeeded" } as unknown as Uint8Array };
    expect(await receiver.handle(parsed)).toMatchObject({ status: 500 });
    expect(rejections).toMatchObject([
      { reason: "parsed-body", status: 500, advice: expect.stringContaining("raw bytes") },
    ]);
    await receiver.handle(parsed);
    expect(warning.mock.calls).toEqual([
      [expect.stringContaining("before any body parser"), { code: "WEBHOOK_RECEIVER" }],
    ]);
    warning.mockRestore();
  });

  test("never shows a secret, a signature or the body to a hook", async () => {
    const { receiver, rejections, outcomes } = receiverOf({ handlers: { "job.succeeded": () => {} } });
    const request = delivered({ body: { ...jobSucceeded("job_1"), note: "private" } });
    await receiver.handle(request);
    await receiver.handle({ ...request, body: Buffer.from("private") });
    const told = JSON.stringify([rejections, outcomes]);
    for (const hidden of ["private", secret.slice(6), request.headers["webhook-signature"].slice(3)]) {
      expect(told).not.toContain(hidden);
    }
  });
});

describe("one handler call a delivery:", () => {
  test("of fifty copies at once, one is handled; the others are told to come again, then that it is done", async () => {
    const gate = deferred();
    const handler = jest.fn(() => gate.promise);
    const { receiver } = receiverOf({ handlers: { "job.succeeded": handler } });
    const request = delivered();
    const first = receiver.handle(request);
    const others = await Promise.all(Array.from({ length: 49 }, () => receiver.handle(request)));
    for (const answer of others)
      expect(answer).toMatchObject({
        status: 503,
        headers: { "retry-after": expect.stringMatching(/^\d+$/) },
      });
    gate.resolve();
    expect(await first).toMatchObject({ status: 200, body: "handled" });
    expect(await receiver.handle(request)).toMatchObject({ status: 200, body: "duplicate" });
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
    const { receiver, outcomes } = receiverOf({ handlers: { "job.succeeded": handler } });
    const request = delivered();
    expect(await receiver.handle(request)).toMatchObject({ status: 500, body: "failed" });
    expect(await receiver.handle(request)).toMatchObject({ status: 200, body: "handled" });
    expect(outcomes).toMatchObject([{ outcome: "failed", error: { message: "no" } }, { outcome: "handled" }]);
  });

  test("a handler that hangs is told to stop, and taken over when its lease is out", async () => {
    const { now, pass } = clock();
    const hung = deferred();
    const signals: AbortSignal[] = [];
    const handler = jest.fn(({ signal }: Delivery) => {
      signals.push(signal);
      return signals.length === 1 ? hung.promise : undefined;
    });
    const { receiver } = receiverOf({
      now,
      handlers: { "job.succeeded": handler },
      handlerTimeoutMs: 20,
      leaseMs: 30_010,
    });
    const request = delivered({ at: now() });
    // What is left of the lease after the deadline.
    expect(await receiver.handle(request)).toMatchObject({ status: 503, headers: { "retry-after": "30" } });
    expect(signals[0]?.aborted).toBe(true);
    pass(30_009);
    expect(await receiver.handle(request)).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    pass(1);
    expect(await receiver.handle(request)).toMatchObject({ status: 200, body: "handled" });
    hung.reject(new Error("much later"));
    expect(await receiver.handle(request)).toMatchObject({ status: 200, body: "duplicate" });
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test.each([
    ["is done, though late: not called again", () => {}, "duplicate", 1],
    [
      "has asked for the signal may have stopped at it: called again",
      ({ signal }: Delivery) => signal,
      "handled",
      2,
    ],
  ])("a handler that resolves past its deadline and %s", async (_what, start, retried, calls) => {
    const { now, pass } = clock();
    const late = deferred();
    const handler = jest.fn((delivery: Delivery) => {
      start(delivery);
      return late.promise;
    });
    const { receiver } = receiverOf({
      now,
      handlers: { "job.succeeded": handler },
      handlerTimeoutMs: 10,
      leaseMs: 30_000,
    });
    const request = delivered({ at: now() });
    expect(await receiver.handle(request)).toMatchObject({ status: 503, body: "timed out" });
    late.resolve();
    await new Promise(setImmediate);
    pass(30_000);
    expect(await receiver.handle(request)).toMatchObject({ status: 200, body: retried });
    expect(handler).toHaveBeenCalledTimes(calls);
    // Also to one that asks only now.
    expect(handler.mock.calls[0]?.[0].signal.aborted).toBe(true);
  });

  test("two endpoints that overlap are one to a dedupeKey of what the event is about", async () => {
    const handler = jest.fn();
    const { receiver } = receiverOf({
      handlers: { "job.succeeded": handler },
      dedupeKey: ({ event, jobId }) => `${event}:${jobId}`,
    });
    expect(await receiver.handle(delivered({ id: "old_1" }))).toMatchObject({ body: "handled" });
    expect(await receiver.handle(delivered({ id: "new_1" }))).toMatchObject({ body: "duplicate" });
    expect(await receiver.handle(delivered({ body: jobSucceeded("job_2") }))).toMatchObject({
      body: "handled",
    });
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test("what a dedupeKey cannot tell apart goes by its id: other events, and jobs without their id", async () => {
    const onUnhandled = jest.fn();
    const { receiver } = receiverOf({ onUnhandled, dedupeKey: ({ event, jobId }) => `${event}:${jobId}` });
    for (const body of [
      { type: "invoice.paid", data: { n: 1 } },
      { type: "job.failed", data: {} },
      { type: "job.moved", data: { jobId: "j", to: "elsewhere" } },
      "a=b",
    ]) {
      const request = delivered({ body });
      expect(await receiver.handle(request)).toMatchObject({ body: "handled" });
      expect(await receiver.handle(delivered({ body }))).toMatchObject({ body: "handled" });
      expect(await receiver.handle(request)).toMatchObject({ body: "duplicate" });
    }
    expect(onUnhandled).toHaveBeenCalledTimes(8);
  });

  test("a dedupeKey that throws or gives no text is answered 500, and no handler is called", async () => {
    const handler = jest.fn();
    for (const dedupeKey of [
      () => "",
      () => undefined as unknown as string,
      () => {
        throw new Error("no key");
      },
    ]) {
      const { receiver } = receiverOf({ handlers: { "job.succeeded": handler }, dedupeKey });
      expect(await receiver.handle(delivered())).toMatchObject({ status: 500 });
    }
    expect(handler).not.toHaveBeenCalled();
  });
});

describe("a dedupe store", () => {
  const broken = () => Promise.reject(new Error("connection refused"));
  const working: DedupeStore = {
    claim: async () => ({ state: "claimed", token: "t" }),
    complete: async () => true,
    release: async () => true,
  };

  test("that cannot be reached is answered 503 with Retry-After, and no handler is called", async () => {
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

  test("that answers a claim with what is none counts as out of reach", async () => {
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

  test("that cannot be told of a handled delivery does not have it sent again", async () => {
    const { receiver, outcomes } = receiverOf({
      dedupe: { ...working, complete: broken },
      handlers: { "job.succeeded": () => {} },
    });
    expect(await receiver.handle(delivered())).toMatchObject({ status: 200 });
    expect(outcomes).toMatchObject([{ outcome: "handled", error: { message: "connection refused" } }]);
  });

  test("that cannot be told of a failed one leaves the handler's error to be seen", async () => {
    const failing = () => Promise.reject(new Error("mine"));
    const { receiver, outcomes } = receiverOf({
      dedupe: { ...working, release: broken },
      handlers: { "job.succeeded": failing },
    });
    expect(await receiver.handle(delivered())).toMatchObject({ status: 500 });
    expect(outcomes).toMatchObject([{ outcome: "failed", error: { message: "mine" } }]);
  });

  test("is asked with the lease, and told with the token and how long to keep it", async () => {
    const store = {
      claim: jest.fn(working.claim),
      complete: jest.fn(working.complete),
      release: jest.fn(working.release),
    };
    const { receiver } = receiverOf({ dedupe: store, toleranceSeconds: 200_000, handlerTimeoutMs: 1000 });
    await receiver.handle(delivered({ id: "msg_k" }));
    expect(store.claim).toHaveBeenCalledWith("msg_k", 11_000);
    expect(store.complete).toHaveBeenCalledWith("msg_k", "t", 400_000_000);

    // By default: a deadline of 15 seconds and 10 more, three days, and bodies of 1 MiB.
    const { receiver: usual } = receiverOf({ dedupe: store });
    await usual.handle(delivered({ id: "msg_d" }));
    expect(store.claim).toHaveBeenLastCalledWith("msg_d", 25_000);
    expect(store.complete).toHaveBeenLastCalledWith("msg_d", "t", 3 * 24 * 3_600_000);
    expect(usual.maxBodyBytes).toBe(2 ** 20);
  });

  test("that has the sender come again at once has it wait for a second", async () => {
    const claim = async () => ({ state: "held", retryAfterMs: 0 }) as const;
    const { receiver } = receiverOf({ dedupe: { ...working, claim } });
    expect(await receiver.handle(delivered())).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
  });

  test("that never tells whether it took the end of a delivery holds up the answer for five seconds", async () => {
    jest.useFakeTimers();
    try {
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
    } finally {
      jest.useRealTimers();
    }
  });

  test("that hangs is given up after five seconds, and its late claim given back", async () => {
    jest.useFakeTimers();
    try {
      const claim = deferred<Claim>();
      // That it fails is nobody's concern: an unhandled rejection would end this process.
      const release = jest.fn(broken);
      const { receiver } = receiverOf({ dedupe: { ...working, claim: () => claim.promise, release } });
      const answer = receiver.handle(delivered({ id: "msg_l" }));
      await jest.advanceTimersByTimeAsync(5000);
      expect(await answer).toMatchObject({ status: 503 });
      claim.resolve({ state: "claimed", token: "late" });
      await jest.advanceTimersByTimeAsync(0);
      expect(release).toHaveBeenCalledWith("msg_l", "late");

      const held = deferred<Claim>();
      const other = receiverOf({ dedupe: { ...working, claim: () => held.promise, release } });
      const refused = other.receiver.handle(delivered());
      await jest.advanceTimersByTimeAsync(5000);
      expect(await refused).toMatchObject({ status: 503 });
      held.resolve({ state: "held", retryAfterMs: 1 });
      await jest.advanceTimersByTimeAsync(0);
      expect(release).toHaveBeenCalledTimes(1);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe("hooks", () => {
  test("that throw or reject change no answer", async () => {
    for (const hook of [
      () => {
        throw new Error("log");
      },
      () => Promise.reject(new Error("log")),
    ]) {
      const { receiver } = receiverOf({ onRejected: hook, onOutcome: hook });
      expect(await receiver.handle(delivered())).toMatchObject({ status: 200 });
      expect(await receiver.refuse("size")).toMatchObject({ status: 413 });
    }
  });

  test("are not needed to see a failure: it goes to the console", async () => {
    const log = jest.spyOn(console, "error").mockImplementation(() => {});
    try {
      const error = new Error("mine");
      const receiver = createReceiver({
        secrets: secret,
        handlers: { "job.succeeded": () => Promise.reject(error) },
      });
      await receiver.handle(delivered({ id: "msg_m" }));
      expect(log).toHaveBeenCalledWith(expect.stringMatching(/msg_m.*job\.succeeded.*failed/), error);
      log.mockClear();

      const claim = jest.fn(() => Promise.reject(error));
      const hung = new Promise(() => {});
      const others = { secrets: secret, handlerTimeoutMs: 5, handlers: { "job.succeeded": () => hung } };
      await createReceiver({ ...others, dedupe: { ...memoryDedupe(), claim } }).handle(delivered());
      const receiving = createReceiver(others);
      const hanging = delivered();
      await receiving.handle(hanging);
      const told = log.mock.calls.map(([message]) => message);
      expect(told).toEqual([expect.stringMatching(/store-unavailable/), expect.stringMatching(/timed-out/)]);

      // What succeeds, or is another's, is no failure.
      expect(await receiving.handle(hanging)).toMatchObject({ status: 503, body: "in progress" });
      const body = { type: "job.running", data: { jobId: "j" } };
      expect(await receiving.handle(delivered({ body }))).toMatchObject({ status: 200 });
      expect(log).toHaveBeenCalledTimes(2);
    } finally {
      log.mockRestore();
    }
  });
});

describe("createReceiver throws at start-up", () => {
  test.each(["whsec_", "nothing", [], [secret, `${otherSecret}\n`]])(
    "on the malformed secret %j",
    (secrets) => {
      expect(() => createReceiver({ secrets, handlers: {} })).toThrow(WebhookSecretError);
    },
  );

  test.each([
    { toleranceSeconds: -1 },
    { maxBodyBytes: -1 },
    { handlerTimeoutMs: 0 },
    { handlerTimeoutMs: 2 ** 31 },
    { handlerTimeoutMs: 100, leaseMs: 100 },
  ])("on %j: RangeError", (options) => {
    expect(() => createReceiver({ secrets: secret, handlers: {}, ...options })).toThrow(RangeError);
  });

  test("on a handler of an event that the service does not send, which is a typing error", () => {
    const handlers = { "job.success": () => {} } as object;
    expect(() => createReceiver({ secrets: secret, handlers })).toThrow(/"job.success" is no event/);
    expect(() => createReceiver({ secrets: secret, handlers: { "job.failed": 1 } as object })).toThrow(
      TypeError,
    );
    for (const wrong of [null, 1, {}]) {
      const options = { handlers: {}, onUnhandled: wrong as unknown as () => void };
      expect(() => createReceiver({ secrets: secret, ...options })).toThrow(/onUnhandled is no function/);
    }
  });
});
