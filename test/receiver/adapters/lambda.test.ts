import { type LambdaHttpEvent, lambdaHandler } from "../../../src/receiver/adapters/lambda";
import { type AwsHandler, lambdaEvents, type SentRequest } from "../../integration/frameworks/lambda";
import { deferred, delivered, receiverOf } from "../support";

function setUp(options: Parameters<typeof receiverOf>[0] = {}) {
  const handler = jest.fn();
  const made = receiverOf({ handlers: { "job.succeeded": handler }, ...options });
  return { ...made, handler, invoke: lambdaHandler(made.receiver) satisfies AwsHandler };
}

type Change = Partial<SentRequest> & { readonly sent?: ReturnType<typeof delivered> };

/** Returns the request of a delivery, with header names spelled as senders spell them. */
function requestOf({ sent = delivered(), ...change }: Change = {}): SentRequest {
  const headers = Object.entries(sent.headers).map(([name, value]) => [spelt(name), value] as const);
  return { method: "POST", headers, body: sent.body.toString(), isBase64Encoded: false, ...change };
}

function spelt(name: string): string {
  return name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

const inBase64 = (body: Uint8Array) => ({
  body: Buffer.from(body).toString("base64"),
  isBase64Encoded: true,
});

const type = "text/plain; charset=utf-8";

describe.each(Object.entries(lambdaEvents))("behind %s:", (platform, eventOf) => {
  const multiple = /REST|multi/.test(platform);

  test("a delivery is handled once across invocations, and a tampered one is refused", async () => {
    const { invoke, handler, outcomes } = setUp();
    const request = requestOf();
    expect(await invoke(eventOf(request))).toMatchObject({ statusCode: 200 });
    expect(await invoke(eventOf(request))).toMatchObject({ statusCode: 200 });
    expect(outcomes).toMatchObject([{ outcome: "handled" }, { outcome: "duplicate" }]);
    expect(await invoke(eventOf({ ...request, body: "{}" }))).toMatchObject({ statusCode: 401 });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("the answer has its headers in the form that the platform accepts, and no other properties", async () => {
    const { invoke } = setUp();
    expect(await invoke(eventOf(requestOf({ body: "{}" })))).toEqual({
      statusCode: 401,
      body: "not verified",
      isBase64Encoded: false,
      ...(multiple
        ? { multiValueHeaders: { "content-type": [type] } }
        : { headers: { "content-type": type } }),
    });
    const refused = await invoke(eventOf(requestOf({ method: "GET", body: null })));
    expect(refused).toMatchObject({
      statusCode: 405,
      ...(multiple ? { multiValueHeaders: { allow: ["POST"] } } : { headers: { allow: "POST" } }),
    });
  });

  test("a body in base64 is passed on byte for byte", async () => {
    const onUnhandled = jest.fn();
    const { invoke } = setUp({ onUnhandled });
    const body = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x00, 0x7b, 0x0d, 0x0a, 0x20]);
    const request = requestOf({ sent: delivered({ body }), ...inBase64(body) });
    expect(await invoke(eventOf(request))).toMatchObject({ statusCode: 200 });
    expect(Buffer.from(onUnhandled.mock.calls[0]?.[0].rawBody)).toEqual(body);
  });

  test("a body as a string is verified as the UTF-8 that was sent", async () => {
    const { invoke, handler } = setUp();
    const body = { type: "job.succeeded", data: { jobId: "jöb-\u{1f680}", note: "\u2028" } };
    expect(await invoke(eventOf(requestOf({ sent: delivered({ body }) })))).toMatchObject({
      statusCode: 200,
    });
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ jobId: "jöb-\u{1f680}" }));
  });

  test("a request without a body is not verified", async () => {
    const { invoke, rejections } = setUp();
    expect(await invoke(eventOf(requestOf({ body: null })))).toMatchObject({ statusCode: 401 });
    expect(rejections).toMatchObject([{ reason: "signature-mismatch" }]);
  });

  test("a body that was parsed before is answered 500 with advice", async () => {
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { invoke, rejections, handler } = setUp();
    // A middleware that parses JSON leaves such a body, which the types forbid.
    const event: unknown = { ...eventOf(requestOf()), body: JSON.parse(String(delivered().body)) };
    expect(await invoke(event as LambdaHttpEvent)).toMatchObject({ statusCode: 500 });
    expect(rejections).toMatchObject([
      { reason: "parsed-body", advice: expect.stringMatching(/^lambdaHandler: .*middleware/) },
    ]);
    expect(handler).not.toHaveBeenCalled();
    warning.mockRestore();
  });

  test("a body one byte longer than the limit is refused, as a string and in base64", async () => {
    const sent = delivered({ body: `{"type": "job.succeeded", "data": {"jobId": "j"}, "note": "ä"}` });
    const { length } = sent.body;
    for (const body of [{}, inBase64(sent.body)]) {
      const fits = setUp({ maxBodyBytes: length });
      expect(await fits.invoke(eventOf(requestOf({ sent, ...body })))).toMatchObject({ statusCode: 200 });
      const { invoke, rejections } = setUp({ maxBodyBytes: length - 1 });
      expect(await invoke(eventOf(requestOf({ sent, ...body })))).toMatchObject({ statusCode: 413 });
      expect(rejections).toMatchObject([{ reason: "size" }]);
    }
  });

  test("a handler that failed is called again on a retry, and one that hangs is given up", async () => {
    const handler = jest.fn().mockRejectedValueOnce(new Error("no"));
    const failing = setUp({ handlers: { "job.succeeded": handler } });
    const event = eventOf(requestOf());
    expect(await failing.invoke(event)).toMatchObject({ statusCode: 500 });
    expect(await failing.invoke(event)).toMatchObject({ statusCode: 200 });
    expect(handler).toHaveBeenCalledTimes(2);

    const hangs = { "job.succeeded": () => new Promise(() => {}) };
    const { invoke } = setUp({ handlers: hangs, handlerTimeoutMs: 20, leaseMs: 60_000 });
    const retryAfter = multiple ? [expect.any(String)] : expect.any(String);
    expect(await invoke(event)).toMatchObject({
      statusCode: 503,
      [multiple ? "multiValueHeaders" : "headers"]: { "retry-after": retryAfter },
    });
  });
});

test.each([
  ["empty", {}],
  ["without any value", { "webhook-id": [], "webhook-timestamp": undefined }],
])("multiValueHeaders that are %s do not hide the headers", async (_what, multiValueHeaders) => {
  const { invoke, handler } = setUp();
  const event = { ...lambdaEvents["function URL"](requestOf()), multiValueHeaders };
  expect(await invoke(event)).toEqual(expect.objectContaining({ statusCode: 200, headers: {} }));
  expect(handler).toHaveBeenCalledTimes(1);
});

test("a receiver that rejects, such as one with a broken clock, is answered 500", async () => {
  const log = jest.spyOn(console, "error").mockImplementation(() => {});
  const error = new Error("mine");
  const invoke = lambdaHandler({ ...receiverOf().receiver, handle: () => Promise.reject(error) });
  expect(await invoke(lambdaEvents["function URL"](requestOf()))).toMatchObject({ statusCode: 500 });
  expect(log).toHaveBeenCalledWith(expect.stringMatching(/^lambdaHandler: the receiver failed/), error);
  log.mockRestore();
});

test("a body that is far too large is refused before it is decoded", async () => {
  const { invoke } = setUp({ maxBodyBytes: 1000 });
  const event = lambdaEvents["function URL"](requestOf(inBase64(Buffer.alloc(100_000))));
  const decode = jest.spyOn(Buffer, "from");
  try {
    expect(await invoke(event)).toMatchObject({ statusCode: 413 });
    expect(decode).not.toHaveBeenCalledWith(event.body, expect.anything());
  } finally {
    decode.mockRestore();
  }
});

describe("a header that was sent twice", () => {
  const names = ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"];

  async function outcomeOfDoubling(name: string, eventOf: (request: SentRequest) => LambdaHttpEvent) {
    const { invoke, rejections } = setUp();
    const { headers, ...rest } = requestOf();
    const twice = headers.filter(([each]) => each === name);
    const { statusCode } = await invoke(eventOf({ ...rest, headers: [...headers, ...twice] }));
    return rejections[0]?.reason ?? statusCode;
  }
  const outcomes = (eventOf: (request: SentRequest) => LambdaHttpEvent) =>
    Promise.all(names.map((name) => outcomeOfDoubling(name, eventOf)));

  test.each(["API Gateway, REST (1.0)", "load balancer, multi-value headers"] as const)(
    "is refused behind %s, which passes on each value",
    async (platform) => {
      const doubled = ["duplicate-id", "duplicate-timestamp", "duplicate-signature"];
      expect(await outcomes(lambdaEvents[platform])).toEqual(doubled);
    },
  );

  test.each(["API Gateway, HTTP (2.0)", "function URL"] as const)(
    "is refused behind %s, which joins the values with a comma, even though an id may contain one",
    async (platform) => {
      const doubled = ["signature-mismatch", "duplicate-timestamp", "duplicate-signature"];
      expect(await outcomes(lambdaEvents[platform])).toEqual(doubled);
    },
  );

  test("is not noticed behind a load balancer that passes on only the last value, which is verified", async () => {
    expect(await outcomes(lambdaEvents["load balancer"])).toEqual([200, 200, 200]);
  });
});

test("a header sent in two spellings counts as sent twice", async () => {
  const { invoke, rejections } = setUp();
  const request = requestOf();
  const again = request.headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const event = lambdaEvents["API Gateway, REST (1.0)"]({
    ...request,
    headers: [...request.headers, ...again],
  });
  expect(await invoke(event)).toMatchObject({ statusCode: 401 });
  expect(rejections).toMatchObject([{ reason: "duplicate-id" }]);
});

test("one of fifty concurrent copies is handled, and the others are answered 503", async () => {
  const gate = deferred();
  const handler = jest.fn(() => gate.promise);
  const { invoke } = setUp({ handlers: { "job.succeeded": handler } });
  const event = lambdaEvents["function URL"](requestOf());
  const first = invoke(event);
  const others = await Promise.all(Array.from({ length: 49 }, () => invoke(event)));
  expect(new Set(others.map(({ statusCode }) => statusCode))).toEqual(new Set([503]));
  gate.resolve();
  expect(await first).toMatchObject({ statusCode: 200 });
  expect(handler).toHaveBeenCalledTimes(1);
});

test.each([
  ["an event of EventBridge", { "detail-type": "job", source: "jobs", detail: {} }],
  [
    "what the template of a passthrough makes",
    { "body-json": {}, params: { header: {} }, context: { "http-method": "POST" } },
  ],
  ["a request of another cloud", { http: { method: "POST", headers: {}, body: "{}" } }],
  ["nothing", undefined],
  ["null", null],
  ["a test event of the console", { key1: "value1" }],
  ["a body alone", { type: "job.succeeded", data: { jobId: "job_1" } }],
])("%s is not answered: an asynchronous invocation would count that as a success", async (_what, event) => {
  await expect(setUp().invoke(event as LambdaHttpEvent)).rejects.toThrow(
    /no event of a request.*proxy integration/,
  );
});

test.each([
  ["a POST without headers", { httpMethod: "POST", headers: null, multiValueHeaders: null, body: "{}" }],
  ["headers that are null", { httpMethod: "POST", headers: { "webhook-id": null }, body: "{}" }],
  [
    "a prototype's names",
    JSON.parse('{"httpMethod": "POST", "headers": {"__proto__": "a", "constructor": "b"}}'),
  ],
])("%s is refused without an error", async (_what, event) => {
  const { invoke, handler } = setUp();
  const { statusCode } = await invoke(event as LambdaHttpEvent);
  expect([401, 405]).toContain(statusCode);
  expect(handler).not.toHaveBeenCalled();
});
