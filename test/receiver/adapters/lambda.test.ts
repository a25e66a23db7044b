import { type LambdaHttpEvent, lambdaHandler } from "../../../src/receiver/adapters/lambda";
import { type AwsHandler, lambdaEvents, type SentRequest } from "../../frameworks/lambda";

import { wrongSignatures } from "../../signature/support";
import { deferred, delivered, receiverOf } from "../support";

function setUp(options: Parameters<typeof receiverOf>[0] = {}) {
  const handler = jest.fn();
  const made = receiverOf({ handlers: { "job.succeeded": handler }, ...options });
  return { ...made, handler, invoke: lambdaHandler(made.receiver) satisfies AwsHandler };
}

type Change = Partial<SentRequest> & { readonly sent?: ReturnType<typeof delivered> };

/** The request of a delivery, its names spelt as senders do. */
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

  test("a delivery is handled once, whatever the invocation; a tampered one is refused", async () => {
    const { invoke, handler } = setUp();
    const request = requestOf();
    expect(await invoke(eventOf(request))).toMatchObject({ statusCode: 200, body: "handled" });
    expect(await invoke(eventOf(request))).toMatchObject({ statusCode: 200, body: "duplicate" });
    expect(await invoke(eventOf({ ...request, body: "{}" }))).toMatchObject({ statusCode: 401 });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("the answer has headers in the form that it takes, and nothing that it does not know", async () => {
    const { invoke } = setUp();
    expect(await invoke(eventOf(requestOf()))).toEqual({
      statusCode: 200,
      body: "handled",
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

  test("a body in base64 is taken byte for byte", async () => {
    const onUnhandled = jest.fn();
    const { invoke } = setUp({ onUnhandled });
    const body = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x00, 0x7b, 0x0d, 0x0a, 0x20]);
    const request = requestOf({ sent: delivered({ body }), ...inBase64(body) });
    expect(await invoke(eventOf(request))).toMatchObject({ statusCode: 200 });
    expect(Buffer.from(onUnhandled.mock.calls[0]?.[0].rawBody)).toEqual(body);
  });

  test("a text is taken as the UTF-8 that was sent", async () => {
    const { invoke, handler } = setUp();
    const body = { type: "job.succeeded", data: { jobId: "jöb-\u{1f680}", note: "\u2028" } };
    expect(await invoke(eventOf(requestOf({ sent: delivered({ body }) })))).toMatchObject({
      statusCode: 200,
    });
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ jobId: "jöb-\u{1f680}" }));
  });

  test("no body is not verified", async () => {
    const { invoke, rejections } = setUp();
    expect(await invoke(eventOf(requestOf({ body: null })))).toMatchObject({ statusCode: 401 });
    expect(rejections).toMatchObject([{ reason: "signature-mismatch" }]);
  });

  test("a body that was parsed is told of: 500, and the advice says what to change", async () => {
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { invoke, rejections, handler } = setUp();
    // As a middleware that parses JSON leaves it, which types forbid.
    const event: unknown = { ...eventOf(requestOf()), body: JSON.parse(String(delivered().body)) };
    expect(await invoke(event as LambdaHttpEvent)).toMatchObject({ statusCode: 500 });
    expect(rejections).toMatchObject([
      { reason: "parsed-body", advice: expect.stringMatching(/^lambdaHandler: .*middleware/) },
    ]);
    expect(handler).not.toHaveBeenCalled();
    warning.mockRestore();
  });

  test("one byte more than the limit is refused, text or base64", async () => {
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

  test("a handler that failed is called again on the retry; one that hangs is given up", async () => {
    const handler = jest.fn().mockRejectedValueOnce(new Error("no"));
    const failing = setUp({ handlers: { "job.succeeded": handler } });
    const event = eventOf(requestOf());
    expect(await failing.invoke(event)).toMatchObject({ statusCode: 500 });
    expect(await failing.invoke(event)).toMatchObject({ statusCode: 200, body: "handled" });

    const hangs = { "job.succeeded": () => new Promise(() => {}) };
    const { invoke } = setUp({ handlers: hangs, handlerTimeoutMs: 20, leaseMs: 60_000 });
    const retryAfter = multiple ? [expect.any(String)] : expect.any(String);
    expect(await invoke(event)).toMatchObject({
      statusCode: 503,
      [multiple ? "multiValueHeaders" : "headers"]: { "retry-after": retryAfter },
    });
  });
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
    "is refused behind %s, which gives each value",
    async (platform) => {
      const doubled = ["duplicate-id", "duplicate-timestamp", "duplicate-signature"];
      expect(await outcomes(lambdaEvents[platform])).toEqual(doubled);
    },
  );

  test.each(["API Gateway, HTTP (2.0)", "function URL"] as const)(
    "is refused behind %s, which joins them by a comma, as an id may hold one",
    async (platform) => {
      const doubled = ["signature-mismatch", "duplicate-timestamp", "duplicate-signature"];
      expect(await outcomes(lambdaEvents[platform])).toEqual(doubled);
    },
  );

  test("cannot be seen behind a load balancer that gives the last alone, which is verified", async () => {
    expect(await outcomes(lambdaEvents["load balancer"])).toEqual([200, 200, 200]);
  });
});

test("one name in two spellings is a doubled header", async () => {
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

test("of fifty copies at once one is handled, and a thousand signatures are refused unless one is right", async () => {
  const gate = deferred();
  const handler = jest.fn(() => gate.promise);
  const { invoke } = setUp({ handlers: { "job.succeeded": handler } });
  const eventOf = lambdaEvents["function URL"];
  const sent = delivered();
  const signedBy = (signature: string) =>
    eventOf(requestOf({ sent: { ...sent, headers: { ...sent.headers, "webhook-signature": signature } } }));
  const wrong = wrongSignatures(1000);
  expect(await invoke(signedBy(wrong))).toMatchObject({ statusCode: 401 });
  const event = signedBy(`${wrong} ${sent.headers["webhook-signature"]}`);
  const first = invoke(event);
  const others = await Promise.all(Array.from({ length: 49 }, () => invoke(event)));
  expect(new Set(others.map(({ statusCode }) => statusCode))).toEqual(new Set([503]));
  gate.resolve();
  expect(await first).toMatchObject({ statusCode: 200 });
  expect(handler).toHaveBeenCalledTimes(1);
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["an event of a queue", { Records: [{ body: "{}" }] }],
  ["a test event of the console", { key1: "value1" }],
  ["a POST without headers", { httpMethod: "POST", headers: null, multiValueHeaders: null, body: "{}" }],
  ["headers that are null", { httpMethod: "POST", headers: { "webhook-id": null }, body: "{}" }],
  [
    "a prototype's names",
    JSON.parse('{"httpMethod": "POST", "headers": {"__proto__": "a", "constructor": "b"}}'),
  ],
])("%s is refused and breaks nothing", async (_what, event) => {
  const { invoke, handler } = setUp();
  const { statusCode } = await invoke(event as LambdaHttpEvent);
  expect([401, 405]).toContain(statusCode);
  expect(handler).not.toHaveBeenCalled();
});
