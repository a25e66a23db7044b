import { createReceiver, type Delivery, memoryDedupe, type ReceiverOptions } from "../../src/receiver";
import { thrownBy } from "../signature/support";
import { delivered, jobSucceeded, otherSecret, receiverOf, secret } from "./support";

const log = jest.spyOn(console, "error").mockImplementation();
afterEach(() => void log.mockClear());
afterAll(() => log.mockRestore());
const lines = () => log.mock.calls.map(([text]) => String(text));
const json = (text: string) => Buffer.from(text);

test("a handler gets the delivery of its event, with everything that was sent, and gets 200 without a body", async () => {
  const seen: Delivery[] = [];
  const { receiver, outcomes } = receiverOf({
    handlers: { "job.succeeded": (delivery) => seen.push(delivery) },
  });
  const request = delivered({ id: "msg_a", body: jobSucceeded("job_7") });
  expect(await receiver.handle(request)).toEqual({ status: 200, headers: {}, body: "" });
  expect(seen).toMatchObject([
    {
      id: "msg_a",
      timestamp: Number(request.headers["webhook-timestamp"]),
      event: "job.succeeded",
      jobId: "job_7",
      data: { jobId: "job_7", status: "succeeded" },
      rawBody: request.body,
    },
  ]);
  expect({ ...seen[0] }.signal?.aborted).toBe(false);
  expect(outcomes).toMatchObject([
    { outcome: "handled", status: 200, id: "msg_a", event: "job.succeeded", jobId: "job_7" },
  ]);
});

test.each<[string, unknown, object]>([
  ["the documented body", { type: "job.failed", data: { jobId: "j" } }, { jobId: "j", data: { jobId: "j" } }],
  ["a flat body", { jobId: "j", status: "failed" }, { jobId: "j", data: { jobId: "j", status: "failed" } }],
  ["a flat body with job_id", { job_id: "j", status: "failed" }, { jobId: "j" }],
  ["data with job_id", { type: "job.failed", data: { job_id: "j" } }, { jobId: "j" }],
  ["a job id next to the data", { type: "job.failed", jobId: "j", data: {} }, { jobId: "j", data: {} }],
  ["two job ids", { type: "job.failed", jobId: "k", data: { jobId: "j" } }, { jobId: "j" }],
  ["data that is null", { type: "job.failed", jobId: "j", data: null }, { jobId: "j" }],
  ["no job id", { type: "job.failed", data: {} }, { jobId: undefined }],
  ["an empty job id", { type: "job.failed", data: { jobId: "" } }, { jobId: undefined }],
  ["data that is a list", { type: "job.failed", data: [1] }, { jobId: undefined, data: [1] }],
  ["a job id that is a number", { type: "job.failed", data: { jobId: 7 } }, { jobId: "7" }],
  [
    "a job id that JavaScript rounds",
    json('{"type":"job.failed","jobId":9007199254740993}'),
    { jobId: undefined },
  ],
  [
    "a byte order mark",
    json('\uFEFF{"type":"job.failed","jobId":"j"}'),
    { jobId: "j", rawBody: json('\uFEFF{"type":"job.failed","jobId":"j"}') },
  ],
  ["a job id that is a fraction", json('{"type":"job.failed","jobId":1.5}'), { jobId: undefined }],
])("the event and the job id are read from a body with %s", async (_what, body, expected) => {
  const failed = jest.fn();
  const { outcomeOf } = receiverOf({ handlers: { "job.failed": failed } });
  expect(await outcomeOf(delivered({ body }))).toBe("handled");
  expect(failed).toHaveBeenCalledWith(expect.objectContaining({ event: "job.failed", ...expected }));
});

test.each<[string, unknown, object]>([
  ["another event", { type: "invoice.paid", data: { n: 1 } }, { event: "invoice.paid", data: { n: 1 } }],
  [
    "an event without a handler",
    { type: "job.running", data: { jobId: "j" } },
    { event: "job.running", jobId: "j" },
  ],
  ["an unknown status", { jobId: "j", status: "paused" }, { event: undefined, jobId: "j" }],
  ["a list", [1], { event: undefined, data: [1] }],
  ["null", null, { event: undefined, data: null }],
  ["a body that is not JSON", "a=b", { event: undefined, data: undefined }],
  ["a body that is not UTF-8", Buffer.from([0xff, 0xfe]), { event: undefined, data: undefined }],
  ["an empty body", "", { event: undefined, data: undefined }],
  ["a type named constructor", { type: "constructor" }, { event: "constructor" }],
  ["a type named __proto__", { type: "__proto__" }, { event: "__proto__" }],
])("onUnhandled gets a delivery of %s", async (_what, body, expected) => {
  const onUnhandled = jest.fn();
  const succeeded = jest.fn();
  const { outcomeOf } = receiverOf({ handlers: { "job.succeeded": succeeded }, onUnhandled });
  expect(await outcomeOf(delivered({ body }))).toBe("handled");
  expect(onUnhandled).toHaveBeenCalledWith(expect.objectContaining(expected));
  expect(succeeded).not.toHaveBeenCalled();
});

test("of the deliveries that nobody handles, each is acknowledged and the first is named in one line", async () => {
  const { receiver } = receiverOf({ dedupe: memoryDedupe({ maxEntries: 1 }) });
  for (const type of ["invoice.paid", "job.failed", "invoice.paid"])
    expect(await receiver.handle(delivered({ body: { type } }))).toMatchObject({
      status: 200,
      body: "unhandled",
    });
  expect(lines()).toEqual([expect.stringMatching(/event "invoice\.paid".*nobody handles it/)]);
  const other = receiverOf();
  await other.receiver.handle(delivered({ body: { kind: "JOB_SUCCEEDED" } }));
  expect(lines()[1]).toMatch(/names no event/);
});

test("a webhook.validation is acknowledged without a handler or the dedupe store", async () => {
  const claim = jest.fn();
  const onUnhandled = jest.fn();
  const { receiver, outcomes } = receiverOf({ onUnhandled, dedupe: { ...memoryDedupe(), claim } });
  const request = delivered({ body: { type: "webhook.validation" } });
  expect(await receiver.handle(request)).toMatchObject({ status: 200, body: "validated" });
  expect(outcomes).toMatchObject([{ outcome: "validation", status: 200 }]);
  expect(claim).not.toHaveBeenCalled();
  expect(onUnhandled).not.toHaveBeenCalled();
});

describe("a refused request", () => {
  test("gets a response by the kind of refusal, and onRejected alone gets the reason", async () => {
    const { receiver, rejections, outcomes } = receiverOf({ maxBodyBytes: 100 });
    const request = delivered({ id: "msg_b" });
    const requests = [
      [{ ...request, body: Buffer.from("{}") }, 401, { reason: "signature-mismatch", unverifiedId: "msg_b" }],
      [
        delivered({ at: Date.now() - 400_000, id: "msg_c" }),
        401,
        { reason: "timestamp-too-old", unverifiedId: "msg_c" },
      ],
      [delivered({ at: Date.now() + 400_000 }), 401, { reason: "timestamp-too-new" }],
      [delivered({ secret: otherSecret }), 401, { reason: "signature-mismatch" }],
      [{ ...request, headers: {} }, 401, { reason: "missing-header" }],
      [{ ...request, method: "PUT" }, 405, { reason: "method" }],
      [{ ...request, body: Buffer.alloc(101) }, 413, { reason: "size" }],
      [{ ...request, body: { parsed: true } as unknown as Uint8Array }, 500, { reason: "parsed-body" }],
    ] as const;
    for (const [sent, status, rejection] of requests) {
      const response = await receiver.handle(sent);
      expect(response.status).toBe(status);
      if (status === 401) expect(response.body).toBe("not verified");
      expect(rejections.pop()).toMatchObject({ ...rejection, status });
    }
    expect((await receiver.refuse("method")).headers).toMatchObject({ allow: "POST" });
    expect(await receiver.refuse("incomplete-body")).toMatchObject({ status: 408 });
    expect(outcomes).toEqual([]);
  });

  test("is logged without onRejected, in a line that says what to do: at once, and then once a minute for each reason with a count", async () => {
    const now = jest.spyOn(performance, "now").mockReturnValue(0);
    const { receiver } = receiverOf({ onRejected: undefined, maxBodyBytes: 100 });
    const request = delivered();
    const id = `msg_${"x".repeat(300)}`;
    const refuseAll = async () => {
      await receiver.handle(delivered({ id: "msg_validation_1", secret: otherSecret }));
      await receiver.handle(delivered({ id, secret: otherSecret }));
      await receiver.handle({ ...request, headers: {} });
      await receiver.refuse("parsed-body", { advice: "Move it." });
      // Whoever scans the internet causes these, so one line of each is all.
      await receiver.handle({ ...request, body: Buffer.alloc(101) });
      await receiver.handle({ ...request, method: "GET" });
      await receiver.refuse("incomplete-body", { error: new Error("broken off") });
    };
    for (let copy = 0; copy < 3; copy++) await refuseAll();
    const first = [
      /msg_validation_1.*\(signature-mismatch\), and the response was 401\. It is what a validation sends/,
      /\(msg_x{196}…\).*\(signature-mismatch\), and the response was 401\. Logged once a minute/,
      /\(missing-header\).*See node_modules.*signature-mismatch\.md\.$/,
      /^Move it\.$/,
    ];
    const scanned = [
      /\(size\), and the response was 413\. Logged once for each reason/,
      /\(method\), and the response was 405/,
      /\(incomplete-body\), and the response was 408/,
    ];
    const matching = (patterns: readonly RegExp[]) => patterns.map((each) => expect.stringMatching(each));
    expect(lines()).toEqual(matching([...first, ...scanned]));
    log.mockClear();
    now.mockReturnValue(60_000);
    for (let copy = 0; copy < 2; copy++) await refuseAll();
    expect(lines()).toEqual(first.map(() => expect.stringMatching(/ Since the last such line: 2 more\.$/)));
    log.mockClear();
    now.mockReturnValue(200_000);
    await receiver.handle({ ...request, headers: {} });
    expect(lines()).toEqual([expect.stringMatching(/ Since the last such line: 1 more\.$/)]);
    for (const hidden of [secret, otherSecret, String(request.body), request.headers["webhook-signature"]])
      expect(lines().join()).not.toContain(hidden);
    now.mockRestore();
  });

  test("that onRejected gets is not logged, but for what to change in a program that reads bodies first", async () => {
    const { receiver } = receiverOf();
    for (let copy = 0; copy < 2; copy++) {
      await receiver.handle(delivered({ secret: otherSecret }));
      await receiver.refuse("parsed-body", { advice: "Move it." });
    }
    expect(lines()).toEqual(["Move it."]);
  });

  test("by a receiver whose clock fails gets 503, so that its sender retries", async () => {
    for (const now of [() => Number.NaN, () => "soon" as unknown as number]) {
      const { receiver, rejections } = receiverOf({ now });
      const response = await receiver.handle(delivered());
      expect(response).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
      expect(rejections).toMatchObject([{ reason: "invalid-clock" }]);
    }
  });
});

test("hooks that throw or reject change nothing, and without any, only failures are logged", async () => {
  const failing = () => Promise.reject(new Error("a hook"));
  const throwing = () => JSON.parse("");
  for (const hook of [failing, throwing]) {
    const { receiver } = receiverOf({ onOutcome: hook, onRejected: hook });
    expect(await receiver.handle(delivered())).toMatchObject({ status: 200 });
    expect(await receiver.handle(delivered({ secret: otherSecret }))).toMatchObject({ status: 401 });
  }
  log.mockClear();
  const broken = { "job.succeeded": jest.fn().mockRejectedValueOnce(new Error("mine")) };
  const { receiver } = receiverOf({ onOutcome: undefined, handlers: broken });
  for (let copy = 0; copy < 3; copy++) await receiver.handle(delivered({ id: "msg_log" }));
  expect(log.mock.calls).toEqual([
    [
      "Webhook delivery msg_log (job.succeeded): its handler failed, so it will be retried (failed).",
      expect.any(Error),
    ],
  ]);
});

test("an option that is undefined counts as left out: without a store in dedupe, a copy is recognized", async () => {
  const leftOut = { dedupe: undefined, leaseMs: undefined, events: undefined, another: undefined };
  const { outcomeOf } = receiverOf(leftOut);
  const request = delivered();
  expect(await outcomeOf(request)).toBe("handled");
  expect(await outcomeOf(request)).toBe("duplicate");
});

test.each<[string, object, RegExp]>([
  ["no handlers at all", { handlers: {} }, /^TypeError: There are no handlers and no onUnhandled/],
  ["handlers that are missing", { handlers: undefined }, /There are no handlers/],
  [
    "a misspelt event",
    { handlers: { "job.success": () => {} } },
    /"job\.success" is not an event of the service \(job\.running/,
  ],
  [
    "a handler that is undefined",
    { handlers: { "job.failed": undefined } },
    /handler of "job\.failed" is undefined, not a function/,
  ],
  ["an unknown option", { handler: {} }, /^TypeError: The option handler does not exist here/],
  ["a lease shorter than the deadline", { leaseMs: 15_000 }, /^RangeError: .*leaseMs.* from 15001 /],
  ["a deadline that is no number", { handlerTimeoutMs: Number.NaN }, /^RangeError: .*handlerTimeoutMs /],
  [
    "a tolerance in milliseconds",
    { toleranceSeconds: 300_000 },
    /^RangeError: .*not milliseconds, .* to 86400/,
  ],
  [
    "a tolerance in milliseconds, with a function of secrets",
    { toleranceSeconds: 300_000, secrets: () => secret },
    /^RangeError: .*not milliseconds/,
  ],
  ["a body limit that is no number", { maxBodyBytes: Number.NaN }, /^RangeError: .*maxBodyBytes/],
  ["a secret that is malformed", { secrets: "whsec_?" }, /^WebhookSecretError: /],
  ["no secret", { secrets: undefined }, /^WebhookSecretError: .*it is of type undefined/],
  ["null as a secret", { secrets: [null] }, /^WebhookSecretError: .*it is null, not a string/],
])("createReceiver throws at the start for %s", (_what, wrong, message) => {
  const options = { secrets: secret, handlers: { "job.succeeded": () => {} }, ...wrong };
  expect(String(thrownBy(() => createReceiver(options as ReceiverOptions)))).toMatch(message);
});
