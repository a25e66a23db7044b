import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { fastifyPlugin } from "../../../src/receiver/adapters/fastify";
import { type NodeHandlerOptions, nodeHandler } from "../../../src/receiver/adapters/node";
import { fastify5 } from "../../integration/frameworks/modules";
import { deferred, delivered, receiverOf } from "../support";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface ServerOptions extends NodeHandlerOptions {
  /** Reads the body before the receiver gets the request, as a framework may. */
  readonly readFirst?: boolean;
}

async function serve({ readFirst = false, ...options }: ServerOptions = {}) {
  const refused = deferred<unknown>();
  const made = receiverOf({ maxBodyBytes: 1000, onRejected: refused.resolve });
  const handle = nodeHandler(made.receiver, options);
  const server = readFirst
    ? http2.createServer(async (request, response) => {
        for await (const _chunk of request);
        await handle(request, response);
      })
    : http2.createServer(handle);
  const client = await connected(server.listen(0, "127.0.0.1"));
  return { ...made, ...client, server, refused: refused.promise };
}

async function connected(server: Pick<http2.Http2Server, "address" | "listening" | "once" | "close">) {
  if (!server.listening) await new Promise((resolve) => server.once("listening", () => resolve(undefined)));
  const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closers.push(
    () => new Promise((closed) => server.close(() => closed(undefined))),
    () => client.destroy(),
  );
  const post = (headers: http2.OutgoingHttpHeaders = {}, options?: http2.ClientSessionRequestOptions) =>
    client.request({ ":method": "POST", ":path": "/hooks", ...headers }, options);
  return { post };
}

async function statusOf(stream: http2.ClientHttp2Stream): Promise<unknown> {
  const [headers] = await once(stream, "response");
  stream.resume();
  return headers[":status"];
}

test("a delivery over HTTP/2 is handled, and another method is answered 405", async () => {
  const { post, outcomes } = await serve();
  const { headers, body } = delivered();
  const stream = post(headers);
  stream.end(body);
  expect(await statusOf(stream)).toBe(200);
  expect(outcomes).toMatchObject([{ outcome: "unhandled" }]);
  expect(await statusOf(post({ ":method": "GET" }))).toBe(405);
});

test("after server.close(), a session ends with its next response, so that the process ends", async () => {
  const { post, server } = await serve();
  const deliver = async () => {
    const { headers, body } = delivered();
    const stream = post(headers);
    stream.end(body);
    return statusOf(stream);
  };
  expect(await deliver()).toBe(200);
  const closed = new Promise((resolve) => server.close(resolve));
  expect(await deliver()).toBe(200);
  await closed;
});

test("a Fastify server over HTTP/2 passes deliveries to its receiver", async () => {
  const { receiver } = receiverOf();
  const app = fastify5({ http2: true });
  await app.register(fastifyPlugin, { receiver, path: "/hooks" });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { post } = await connected(app.server);
  closers.splice(-2, 1, () => app.close());
  const { headers, body } = delivered();
  const stream = post(headers);
  stream.end(body);
  expect(await statusOf(stream)).toBe(200);
});

test.each([
  ["too large", 413, 10_000, {}],
  ["too slow", 408, 50, { bodyTimeoutMs: 20 }],
])("the stream of a body that is %s ends after its answer %d", async (_what, status, size, options) => {
  const { post } = await serve(options);
  const stream = post();
  const ended = new Promise((resolve) => stream.on("close", () => resolve(stream.rstCode)));
  const endless = setInterval(() => stream.writable && stream.write(Buffer.alloc(size / 50)), 5);
  try {
    expect(await statusOf(stream)).toBe(status);
    // RFC 9113: a reset without an error, so that the answer counts.
    expect(await ended).toBe(0);
  } finally {
    clearInterval(endless);
  }
});

test("a body that was read before is answered 500 with advice, though HTTP/2 sends no content-length", async () => {
  const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  const { post, refused } = await serve({ readFirst: true });
  const { headers, body } = delivered();
  const stream = post(headers);
  stream.end(body);
  expect(await statusOf(stream)).toBe(500);
  expect(await refused).toMatchObject({
    reason: "parsed-body",
    advice: expect.stringContaining("express.raw"),
  });
  warning.mockRestore();
});

test.each([
  ["ends with its headers", {}, { endStream: true }],
  ["has a content-length of 0", { "content-length": "0" }, {}],
])(
  "a request without a body, which %s, is not verified when something has read it",
  async (_how, more, options) => {
    const { post, refused } = await serve({ readFirst: true });
    const stream = post({ ...delivered().headers, ...more }, options);
    stream.end();
    expect(await statusOf(stream)).toBe(401);
    expect(await refused).toMatchObject({ reason: "signature-mismatch" });
  },
);

test.each([
  ["cancelled", undefined],
  ["reset with an error", new Error("reset")],
])("an upload that is %s is reported as aborted", async (_how, error) => {
  const { post, refused, outcomes } = await serve();
  const { headers, body } = delivered();
  const stream = post(headers);
  stream.on("error", () => {});
  stream.write(body, () => stream.destroy(error));
  expect(await refused).toMatchObject({ reason: "aborted" });
  expect(outcomes).toEqual([]);
});
