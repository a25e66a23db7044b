import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createReceiver, type Receiver } from "../../../src/receiver";
import { fastifyPlugin } from "../../../src/receiver/adapters/fastify";
import { fetchHandler } from "../../../src/receiver/adapters/fetch";
import { type LambdaHttpEvent, lambdaHandler } from "../../../src/receiver/adapters/lambda";
import { nodeHandler } from "../../../src/receiver/adapters/node";
import { queueWorker, type SqsEvent, sqsHandler } from "../../../src/receiver/queues";

const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
const right = createReceiver({ secrets: secret, handlers: {} });
const request = () => new Request("https://hooks.example.com/jobs", { method: "POST", body: "{}" });
const fastify = { all: () => {}, addHook: () => {} };
const adapters: [string, (receiver: Receiver) => unknown][] = [
  ["nodeHandler", (receiver) => nodeHandler(receiver)],
  ["fetchHandler", (receiver) => fetchHandler(receiver)],
  ["lambdaHandler", (receiver) => lambdaHandler(receiver)],
  ["fastifyPlugin", (receiver) => fastifyPlugin(fastify, { receiver })],
];

test.each(adapters)(
  "%s refuses what is no receiver, because it would answer each delivery 500",
  async (name, make) => {
    const wrong: [unknown, RegExp][] = [
      [Promise.resolve(right), /the receiver is a promise; await it first/],
      [createReceiver, /the receiver is a function/],
      [undefined, /the receiver has no function handle, refuse/],
    ];
    for (const [receiver, problem] of wrong) {
      const error = await (async () => make(receiver as Receiver))().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toMatch(problem);
      expect(String(error)).toContain(name);
    }
    await make(right);
  },
);

test.each<[string, (options: object) => unknown]>([
  ["nodeHandler", (options) => nodeHandler(right, options)],
  ["fetchHandler", (options) => fetchHandler(right, options)],
])("%s refuses an option that it does not have", (_name, make) => {
  expect(() => make({ bodyTimeout: 5 })).toThrow(/bodyTimeout is not.*bodyTimeoutMs/);
  expect(() => make({ bodyTimeoutMs: 0 })).toThrow(RangeError);
});

test.each([
  ["the context of Hono", { req: { raw: request(), method: "POST" } }],
  ["what Remix, SvelteKit and Astro pass", { request: request(), params: {} }],
  ["what NestJS passes", { method: "POST", headers: {}, body: {} }],
  ["an event of h3 in Nuxt", { method: "POST", headers: new Headers(), node: {} }],
  ["nothing", undefined],
])(
  // Nest and hapi would send a Response that they do not know as a success.
  "fetchHandler with %s in place of a request rejects, and says what to pass",
  async (_what, given) => {
    const onRejected = jest.fn();
    const handle = fetchHandler(createReceiver({ secrets: secret, handlers: {}, onRejected }));
    await expect(handle(given as unknown as Request)).rejects.toThrow(
      /did not get a Request.*c\.req\.raw.*nodeHandler\(receiver\)/,
    );
    // Not a refusal of the sender's method.
    expect(onRejected).not.toHaveBeenCalled();
  },
);

test("fetchHandler where Node's own server calls it answers 500 too, and the log says which adapter to use", async () => {
  const log = jest.spyOn(console, "error").mockImplementation(() => {});
  const server = createServer(fetchHandler(right) as unknown as RequestListener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect((await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "{}" })).status).toBe(500);
  const error = expect.objectContaining({
    message: expect.stringMatching(/did not get.*nodeHandler\(receiver\)/),
  });
  expect(log).toHaveBeenCalledWith(expect.stringMatching(/answered 500/), error);
  log.mockRestore();
  server.close();
});

test.each([
  ["the context of Koa", [{ req: {}, res: {} }, () => {}]],
  ["a request alone", [{ rawHeaders: [] }]],
  ["a Request", [request()]],
])("nodeHandler throws where it gets %s, and says what to pass", (_what, given) => {
  const handle = nodeHandler(right) as (...given: unknown[]) => void;
  expect(() => handle(...given)).toThrow(/did not get.*ctx\.req and ctx\.res/);
});

test.each<[string, unknown]>([
  ["a queue", { Records: [{ messageId: "1", body: "{}" }] }],
  ["a queue, from a pipe of EventBridge", [{ messageId: "1", body: "{}" }]],
  ["a topic of Kafka", { eventSource: "aws:kafka", records: { "webhooks-0": [{ value: "e30=" }] } }],
])(
  "lambdaHandler rejects the messages of %s, which would be deleted after an answer",
  async (_what, event) => {
    await expect(lambdaHandler(right)(event as LambdaHttpEvent)).rejects.toThrow(/sqsHandler\(queueWorker/);
  },
);

test.each([
  ["a request", { httpMethod: "POST", body: "{}" }],
  ["nothing", undefined],
  // Lambda ignores what a function returns to SNS and S3: only a rejection makes it try again.
  ["records of SNS", { Records: [{ EventSource: "aws:sns", Sns: { Message: "{}" } }] }],
  ["records of Kinesis", { Records: [{ eventID: "1", kinesis: { data: "e30=" } }] }],
])("sqsHandler rejects %s, and says what to use", async (_what, event) => {
  const handle = sqsHandler(queueWorker({ handlers: {} }));
  await expect(handle(event as unknown as SqsEvent)).rejects.toThrow(
    /not messages of SQS.*lambdaHandler\(receiver\)/,
  );
});
