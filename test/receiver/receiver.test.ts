import { createReceiver, type Delivery, memoryDedupe } from "../../src/receiver";
import { clock, delivered, jobSucceeded, otherSecret, receiverOf, secret } from "./support";

describe("a verified delivery", () => {
  test("a handler gets the delivery of its event, with everything that was sent", async () => {
    const seen: Delivery[] = [];
    const { receiver, outcomes } = receiverOf({
      handlers: { "job.succeeded": (delivery) => seen.push(delivery) },
    });
    const request = delivered({ id: "msg_a", body: jobSucceeded("job_7") });
    await receiver.handle(request);
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

  test("a handled delivery is answered 200 without a body", async () => {
    const { receiver } = receiverOf({ handlers: { "job.succeeded": () => {} } });
    expect(await receiver.handle(delivered())).toEqual({ status: 200, headers: {}, body: "" });
  });

  test.each([
    ["the documented body", { type: "job.failed", data: { jobId: "j", status: "failed", error: "e" } }],
    ["a flat body", { jobId: "j", status: "failed" }],
    ["a flat body with job_id", { job_id: "j", status: "failed" }],
    ["data with job_id", { type: "job.failed", data: { job_id: "j" } }],
    ["a job id next to the data", { type: "job.failed", jobId: "j", data: {} }],
    ["data whose jobId differs from its job_id", { type: "job.failed", data: { jobId: "j", job_id: "k" } }],
    [
      "data whose job differs from the one next to it",
      { type: "job.failed", jobId: "k", data: { jobId: "j" } },
    ],
    ["a type without data", { type: "job.failed", jobId: "j" }],
    ["data that is null", { type: "job.failed", jobId: "j", data: null }],
  ])("the event and the job id are read from %s", async (_what, body) => {
    const failed = jest.fn();
    const { outcomeOf } = receiverOf({ handlers: { "job.failed": failed } });
    expect(await outcomeOf(delivered({ body }))).toBe("handled");
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ event: "job.failed", jobId: "j" }));
  });

  test.each([
    ["without a job id", { type: "job.succeeded", data: {} }, { jobId: undefined, data: {} }],
    ["with an empty job id", { type: "job.succeeded", data: { jobId: "" } }, { jobId: undefined }],
    ["with an object as job id", { type: "job.succeeded", data: { jobId: {} } }, { jobId: undefined }],
    ["whose data is a string", { type: "job.succeeded", jobId: "j", data: "d" }, { jobId: "j", data: "d" }],
    ["whose data is a list", { type: "job.succeeded", data: [1] }, { jobId: undefined, data: [1] }],
    ["that has a status alone", { status: "succeeded" }, { jobId: undefined }],
    ["whose job id is a number", '{"type":"job.succeeded","data":{"jobId":7}}', { jobId: "7" }],
    [
      "whose job id is a number beyond 2^53",
      '{"type":"job.succeeded","data":{"n":[1e400,"9\\"9"],"jobId":9007199254740993}}',
      { jobId: "9007199254740993" },
    ],
    [
      "whose job id is a large number in a flat body",
      '{"j\\u006fb_id":-123456789012345678901234567890,"status":"succeeded"}',
      { jobId: "-123456789012345678901234567890" },
    ],
    ["whose job id is a fraction", '{"type":"job.succeeded","jobId":1.50}', { jobId: "1.50" }],
  ])("an event %s reaches its handler, and is not acknowledged unseen", async (_what, body, expected) => {
    const handler = jest.fn();
    const onUnhandled = jest.fn();
    const { outcomeOf } = receiverOf({ handlers: { "job.succeeded": handler }, onUnhandled });
    expect(await outcomeOf(delivered({ body }))).toBe("handled");
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ event: "job.succeeded", ...expected }));
    expect(onUnhandled).not.toHaveBeenCalled();
  });

  test("a job id beyond 2^53 is read exactly in a body of a megabyte", async () => {
    const handler = jest.fn();
    const { outcomeOf } = receiverOf({ handlers: { "job.succeeded": handler } });
    const log = `${"x".repeat(900_000)}${'"'.repeat(10_000)}`;
    const body = `{"type":"job.succeeded","data":{"log":${JSON.stringify(log)},"jobId":12345678901234567890}}`;
    expect(await outcomeOf(delivered({ body }))).toBe("handled");
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ jobId: "12345678901234567890" }));
  });

  test.each([
    ["another event", { type: "invoice.paid", data: { n: 1 } }, { event: "invoice.paid", data: { n: 1 } }],
    [
      "an event without a handler",
      { type: "job.running", data: { jobId: "j" } },
      { event: "job.running", jobId: "j" },
    ],
    [
      "a job's event that the service does not send",
      { type: "job.other", jobId: "j" },
      { event: "job.other" },
    ],
    ["an unknown status", { jobId: "j", status: "paused" }, { event: undefined, jobId: "j" }],
    ["a list", [1], { event: undefined, data: [1] }],
    ["null", null, { event: undefined, data: null }],
    ["a body that is not JSON", "a=b", { event: undefined, data: undefined }],
    ["a body that is not UTF-8", Buffer.from([0xff, 0xfe]), { event: undefined, data: undefined }],
    ["an empty body", "", { event: undefined, data: undefined }],
    ["a type named constructor", { type: "constructor", data: { jobId: "j" } }, { event: "constructor" }],
    ["a type named __proto__", { type: "__proto__", data: { jobId: "j" } }, { event: "__proto__" }],
  ])("onUnhandled gets a delivery of %s", async (_what, body, expected) => {
    const onUnhandled = jest.fn();
    const succeeded = jest.fn();
    const { outcomeOf } = receiverOf({ handlers: { "job.succeeded": succeeded }, onUnhandled });
    expect(await outcomeOf(delivered({ body }))).toBe("handled");
    expect(onUnhandled).toHaveBeenCalledWith(expect.objectContaining(expected));
    expect(succeeded).not.toHaveBeenCalled();
  });

  test("a delivery that nobody handles is acknowledged, and takes no place in the dedupe store", async () => {
    const handlers = { "job.succeeded": jest.fn() };
    const { receiver, outcomeOf } = receiverOf({ handlers, dedupe: memoryDedupe({ maxEntries: 1 }) });
    const [request, other] = [delivered(), delivered({ body: { type: "job.failed", jobId: "j" } })];
    expect(await outcomeOf(request)).toBe("handled");
    for (let copy = 0; copy < 2; copy++)
      expect(await receiver.handle(other)).toMatchObject({ status: 200, body: "unhandled" });
    expect(await outcomeOf(request)).toBe("duplicate");
  });

  test("the outcome holds the milliseconds that the delivery took, whatever the system's clock does", async () => {
    jest.useFakeTimers();
    try {
      const { receiver, outcomes } = receiverOf({
        handlers: {
          "job.succeeded": () => {
            jest.advanceTimersByTime(250);
            jest.setSystemTime(0);
          },
        },
      });
      await receiver.handle(delivered());
      expect(outcomes).toMatchObject([{ durationMs: 250 }]);
    } finally {
      jest.useRealTimers();
    }
  });

  test("a body with a byte order mark is understood, and rawBody keeps the mark", async () => {
    const handler = jest.fn();
    const { outcomeOf } = receiverOf({ handlers: { "job.succeeded": handler } });
    const request = delivered({ body: `\ufeff${JSON.stringify(jobSucceeded("job_1"))}` });
    expect(await outcomeOf(request)).toBe("handled");
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ jobId: "job_1", rawBody: request.body }));
  });

  test("a copy of a delivery by spreading keeps its signal, as its type says", async () => {
    const copies: Delivery[] = [];
    const { receiver } = receiverOf({
      handlers: {
        "job.succeeded": (delivery) => {
          copies.push({ ...delivery });
          return new Promise(() => {});
        },
      },
      handlerTimeoutMs: 1,
    });
    await receiver.handle(delivered());
    expect(copies[0]?.signal).toBeInstanceOf(AbortSignal);
    expect(copies[0]?.signal.aborted).toBe(true);
  });

  test("a body that names __proto__ changes no prototype", async () => {
    let data: unknown;
    const { receiver } = receiverOf({
      onUnhandled: (delivery) => {
        data = delivery.data;
      },
    });
    const deep = `${'{"a":'.repeat(20_000)}{"\\u005f_proto__":{"polluted":1}}${"}".repeat(20_000)}`;
    for (const body of [
      '{"data":{"__proto__":{"polluted":1},"x":[{"__pr\\u006fto__":{"polluted":1}}],"y":2}}',
      '{"x":[{"__pr\\u006fto__":{"polluted":1}}]}',
      deep,
    ]) {
      data = undefined;
      expect(await receiver.handle(delivered({ body }))).toMatchObject({ status: 200 });
      expect(data).toBeInstanceOf(Object);
      for (let inner = data; typeof inner === "object" && inner !== null; inner = Object.values(inner)[0])
        expect(Object.hasOwn(inner, "__proto__")).toBe(false);
    }
  });
});

describe("a refused request", () => {
  test("the sender gets an answer by the kind of refusal, and onRejected alone gets the reason", async () => {
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

  test("a claimed id appears in the rejection up to 256 characters, and not if it is longer", async () => {
    const { receiver, rejections } = receiverOf();
    for (const length of [256, 257])
      await receiver.handle(delivered({ secret: otherSecret, id: "i".repeat(length) }));
    expect(rejections.map(({ unverifiedId }) => unverifiedId?.length)).toEqual([256, undefined]);
  });

  test("a forged copy does not keep the genuine delivery out", async () => {
    const handler = jest.fn();
    const { receiver, outcomeOf } = receiverOf({ handlers: { "job.succeeded": handler } });
    const request = delivered();
    await receiver.handle({ ...request, body: Buffer.from("{}") });
    expect(await outcomeOf(request)).toBe("handled");
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test.each([
    ["NaN", () => Number.NaN],
    ["undefined", () => undefined],
    ["a string", () => String(Date.now())],
    ["a Date", () => new Date()],
    ["a bigint", () => BigInt(Date.now())],
    [
      "an exception",
      () => {
        throw new Error("no clock");
      },
    ],
  ])("while the clock gives %s, deliveries are answered 503 and no handler is called", async (_what, now) => {
    const handler = jest.fn();
    const asked = jest.fn(() => secret);
    for (const secrets of [secret, asked]) {
      const { receiver, rejections } = receiverOf({
        secrets,
        now: now as () => number,
        handlers: { "job.succeeded": handler },
      });
      expect(await receiver.handle(delivered())).toMatchObject({
        status: 503,
        headers: { "retry-after": "5" },
      });
      expect(rejections).toMatchObject([{ reason: "invalid-clock", status: 503 }]);
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test("without onRejected, a process warning comes once for each reason and receiver", async () => {
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    try {
      for (const receivers of [1, 2]) {
        const { receiver } = receiverOf({ onRejected: undefined });
        const forged = delivered({ secret: otherSecret });
        await receiver.handle(forged);
        await receiver.handle(forged);
        await receiver.handle({ ...forged, method: "PUT" });
        expect(warning).toHaveBeenCalledTimes(2 * receivers);
      }
      const warnings = warning.mock.calls.map(([message]) => String(message));
      expect(warnings.slice(2)).toEqual([
        expect.stringMatching(/\(signature-mismatch\).*401.*onRejected/),
        expect.stringMatching(/\(method\).*405/),
      ]);
      expect(warnings.join()).not.toMatch(/whsec|msg_/);
    } finally {
      warning.mockRestore();
    }
  });

  test("a body that was parsed first is answered 500, and one warning says what to change", async () => {
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    try {
      const { receiver, rejections } = receiverOf();
      const parsed = { ...delivered(), body: { type: "job.succeeded" } as unknown as Uint8Array };
      expect(await receiver.handle(parsed)).toMatchObject({ status: 500 });
      expect(rejections).toMatchObject([
        { reason: "parsed-body", status: 500, advice: expect.stringContaining("raw bytes") },
      ]);
      await receiver.handle(parsed);
      expect(warning.mock.calls).toEqual([
        [expect.stringContaining("before any body parser"), { code: "WEBHOOK_RECEIVER" }],
      ]);
    } finally {
      warning.mockRestore();
    }
  });
});

describe("the hooks", () => {
  test("no hook gets a secret, a signature or the body", async () => {
    const { receiver, rejections, outcomes } = receiverOf({ handlers: { "job.succeeded": () => {} } });
    const request = delivered({ body: { ...jobSucceeded("job_1"), note: "private" } });
    await receiver.handle(request);
    await receiver.handle({ ...request, body: Buffer.from("private") });
    expect([rejections.length, outcomes.length]).toEqual([1, 1]);
    const reported = JSON.stringify([rejections, outcomes]);
    for (const hidden of ["private", secret.slice(6), request.headers["webhook-signature"].slice(3)]) {
      expect(reported).not.toContain(hidden);
    }
  });

  test("a hook that throws, rejects or returns a thenable without a promise changes no answer", async () => {
    const calls: string[] = [];
    for (const [name, hook] of Object.entries({
      throws: () => {
        throw new Error("log");
      },
      rejects: () => Promise.reject(new Error("log")),
      // biome-ignore lint/suspicious/noThenProperty: a logger's lazy call
      lazy: () => ({ then: () => void calls.push("lazy") }),
    })) {
      const called = jest.fn<unknown, []>(hook);
      const { receiver } = receiverOf({ onRejected: called, onOutcome: called });
      expect([name, await receiver.handle(delivered())]).toMatchObject([name, { status: 200 }]);
      expect([name, await receiver.refuse("size")]).toMatchObject([name, { status: 413 }]);
      expect(called).toHaveBeenCalledTimes(2);
    }
    await Promise.resolve();
    expect(calls).toEqual(["lazy", "lazy"]);
  });

  test("without hooks, failures go to the console, and nothing else does", async () => {
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
      const logged = log.mock.calls.map(([message]) => message);
      expect(logged).toEqual([
        expect.stringMatching(/store-unavailable/),
        expect.stringMatching(/timed-out/),
      ]);

      // A delivery that another worker has, or that nobody handles, is not a failure.
      expect(await receiving.handle(hanging)).toMatchObject({ status: 503, body: "in progress" });
      const body = { type: "job.running", data: { jobId: "j" } };
      expect(await receiving.handle(delivered({ body }))).toMatchObject({ status: 200 });
      expect(log).toHaveBeenCalledTimes(2);
    } finally {
      log.mockRestore();
    }
  });
});

test("the timestamp is compared with the given clock", async () => {
  const { now, pass } = clock();
  const { receiver } = receiverOf({ now });
  expect(await receiver.handle(delivered({ at: now() }))).toMatchObject({ status: 200 });
  const request = delivered({ at: now() });
  pass(302_000);
  expect(await receiver.handle(request)).toMatchObject({ status: 401 });
});
