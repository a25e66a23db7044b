import { type LambdaHttpEvent, lambdaHandler } from "../../../src/receiver/adapters/lambda";
import { delivered, receiverOf } from "../support";

type Pairs = readonly (readonly [name: string, value: string])[];
interface Sent {
  readonly method?: string;
  readonly headers?: Pairs;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** Returns a signed request, with its names as a sender may write them. */
function sent(request = delivered()): Required<Sent> {
  const headers = Object.entries(request.headers).map(
    ([name, value]) => [name.toUpperCase(), value] as const,
  );
  return { method: "POST", headers, body: request.body.toString(), isBase64Encoded: false };
}

const last = (headers: Pairs) => Object.fromEntries(headers);
const joined = (headers: Pairs) => Object.fromEntries(new Headers(headers as [string, string][]));
const multiple = (headers: Pairs) =>
  Object.fromEntries(
    headers.map(([name]) => [name, headers.filter(([each]) => each === name).map(([, value]) => value)]),
  );

/** The events of each platform, as AWS documents them. */
const events: Readonly<Record<string, (request: Sent) => LambdaHttpEvent>> = {
  "API Gateway, REST (1.0)": ({ method, headers = [], ...rest }) => ({
    httpMethod: method,
    requestContext: { httpMethod: method },
    headers: last(headers),
    multiValueHeaders: multiple(headers),
    ...rest,
  }),
  "API Gateway, HTTP (2.0), and a function URL": ({ method, headers = [], ...rest }) => ({
    requestContext: { http: { method } },
    headers: joined(headers),
    ...rest,
  }),
  "load balancer": ({ method, headers = [], ...rest }) => ({
    httpMethod: method,
    requestContext: { elb: {} },
    headers: last(headers),
    ...rest,
  }),
  "load balancer, multi-value headers": ({ method, headers = [], ...rest }) => ({
    httpMethod: method,
    requestContext: { elb: {} },
    multiValueHeaders: multiple(headers),
    ...rest,
  }),
};
const URL_EVENT = events["API Gateway, HTTP (2.0), and a function URL"] ?? (() => ({}));

function setUp(options: Parameters<typeof receiverOf>[0] = {}) {
  const handler = jest.fn();
  const made = receiverOf({ handlers: { "job.succeeded": handler }, ...options });
  return { ...made, handler, invoke: lambdaHandler(made.receiver) };
}

const log = jest.spyOn(console, "error").mockImplementation();
afterAll(() => log.mockRestore());

describe.each(Object.entries(events))("behind %s:", (platform, eventOf) => {
  test("a delivery is handled, its copy acknowledged, a tampered one and another method refused", async () => {
    const { invoke, handler, outcomes, rejections } = setUp();
    const request = sent();
    for (let copy = 0; copy < 2; copy++)
      expect(await invoke(eventOf(request))).toMatchObject({ statusCode: 200, isBase64Encoded: false });
    expect(outcomes).toMatchObject([{ outcome: "handled" }, { outcome: "duplicate" }]);
    expect(await invoke(eventOf({ ...request, body: "{}" }))).toMatchObject({
      statusCode: 401,
      body: "not verified",
    });
    const refused = await invoke(eventOf({ ...request, method: "GET" }));
    expect(refused.statusCode).toBe(405);
    // A load balancer drops the response's headers unless they have the form of the request's.
    if (platform === "load balancer, multi-value headers")
      expect(refused.multiValueHeaders).toMatchObject({ allow: ["POST"] });
    else expect({ ...refused.headers, ...refused.multiValueHeaders }).toHaveProperty("allow");
    expect(rejections.map(({ reason }) => reason)).toEqual(["signature-mismatch", "method"]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("a body in base64 is decoded, byte for byte, and one above the limit gets 413", async () => {
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0x00, 0x7b]);
    const request = {
      ...sent(delivered({ body: bytes })),
      body: bytes.toString("base64"),
      isBase64Encoded: true,
    };
    const onUnhandled = jest.fn();
    expect(await setUp({ onUnhandled }).invoke(eventOf(request))).toMatchObject({ statusCode: 200 });
    expect(onUnhandled.mock.calls[0]?.[0].rawBody).toEqual(bytes);
    expect(await setUp({ maxBodyBytes: 5 }).invoke(eventOf(request))).toMatchObject({ statusCode: 413 });
  });

  test("an id or a time that was sent twice is refused, unless the platform passes on only the last", async () => {
    const { invoke, rejections } = setUp();
    const { headers, ...rest } = sent();
    for (const [name, value] of headers) {
      const response = await invoke(eventOf({ ...rest, headers: [...headers, [name, value]] }));
      const isSeen = platform !== "load balancer" && !/signature/i.test(name);
      expect(response.statusCode).toBe(isSeen ? 401 : 200);
      if (isSeen) expect(rejections.pop()?.reason).toBe(name.toLowerCase().replace("webhook", "malformed"));
    }
  });
});

test.each<[string, unknown]>([
  ["the messages of SQS", { Records: [{ messageId: "m", body: "{}" }] }],
  ["an event of EventBridge", { "detail-type": "job", source: "jobs", detail: {} }],
  ["what a mapping template makes", { "body-json": {}, context: { "http-method": "POST" } }],
  ["a body alone", { type: "job.succeeded", data: { jobId: "job_1" } }],
  ["a list of messages of a pipe", [{ body: "{}" }]],
  ["nothing", undefined],
])("%s gets no response, because any would count as a success", async (_what, event) => {
  const invoked = setUp().invoke(event as LambdaHttpEvent);
  await expect(invoked).rejects.toThrow(/did not get the event of a request.*sqsHandler/);
});

test.each<[string, unknown, number]>([
  ["headers that are null", { httpMethod: "POST", headers: null, multiValueHeaders: null, body: "{}" }, 401],
  ["a header that is null", { httpMethod: "POST", headers: { "webhook-id": null }, body: "{}" }, 401],
  ["a body that was parsed", { ...URL_EVENT(sent()), body: { type: "job.succeeded" } }, 500],
  [
    "a prototype's names",
    JSON.parse('{"httpMethod":"POST","headers":{"__proto__":"a","constructor":"b"}}'),
    401,
  ],
])("an event with %s is refused without a handler", async (_what, event, status) => {
  const { invoke, handler } = setUp();
  expect(await invoke(event as LambdaHttpEvent)).toMatchObject({ statusCode: status });
  expect(handler).not.toHaveBeenCalled();
});

test("what is no receiver throws", () => {
  expect(() => lambdaHandler(Promise.resolve() as never)).toThrow(/did not get a receiver/);
});
