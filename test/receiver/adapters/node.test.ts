import { EventEmitter, once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReceiverOptions } from "../../../src/receiver";
import { type BodyTimeoutOptions, nodeHandler } from "../../../src/receiver/adapters/node";
import { deferred, delivered, receiverOf } from "../support";
import { heldBytes } from "./heldBytes";
import { head, raw } from "./wire";

const closers: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closers.splice(0).map((close) => close())));
const log = jest.spyOn(console, "error").mockImplementation();
afterEach(() => void log.mockClear());

type Middleware = (request: http.IncomingMessage, response: http.ServerResponse) => Promise<void> | void;
interface ServerOptions extends Partial<ReceiverOptions>, BodyTimeoutOptions {
  /** Does what a framework does before the receiver gets the request. */
  readonly before?: Middleware;
}

async function serve({ before, bodyTimeoutMs, ...options }: ServerOptions = {}) {
  const handler = jest.fn();
  const made = receiverOf({ handlers: { "job.succeeded": handler }, ...options });
  const handle = nodeHandler(made.receiver, { bodyTimeoutMs });
  const server = http.createServer(async (request, response) => {
    await before?.(request, response);
    await handle(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  closers.push(() => new Promise((closed) => server.close(closed).closeAllConnections()));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hooks`;
  /** Returns the status of the response. */
  const post = async ({ headers, body } = delivered()) => {
    const response = await fetch(url, { method: "POST", headers, body });
    await response.text();
    return response.status;
  };
  return { ...made, handler, server, port, url, post };
}

const readBytes = async (request: http.IncomingMessage) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};
const keeping =
  (keep: (bytes: Buffer) => object): Middleware =>
  async (request) =>
    void Object.assign(request, keep(await readBytes(request)));

test("a body is passed on byte for byte, in however many pieces it arrives", async () => {
  const onUnhandled = jest.fn();
  const { port } = await serve({ onUnhandled });
  const { headers, body } = delivered({
    body: Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x00, 0x7b, 0x0d]),
  });
  const { socket, response } = raw(port, head({ ...headers, "content-length": "8", connection: "close" }));
  for (const byte of body) {
    socket.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  expect(await response).toMatch(/^HTTP\/1.1 200 /);
  expect(Buffer.from(onUnhandled.mock.calls[0]?.[0].rawBody)).toEqual(body);
});

describe("a body at its limits:", () => {
  test.each([
    [0, 200],
    [1, 413],
  ])("one that is %d bytes over the limit gets %d", async (over, status) => {
    const { headers, body } = delivered();
    const { port } = await serve({ maxBodyBytes: body.length - over });
    const chunked = head({ ...headers, "transfer-encoding": "chunked", connection: "close" });
    const { response } = raw(port, chunked, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    expect(await response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  test.each<[string, Record<string, string>, ServerOptions, RegExp]>([
    ["too large and never ends", { "content-length": "5000" }, { maxBodyBytes: 1_000 }, /^HTTP\/1.1 413 /],
    ["too slow", { "content-length": "10" }, { bodyTimeoutMs: 20 }, /^HTTP\/1.1 408 /],
  ])("one that is %s gets a response, and its connection ends", async (_what, headers, options, status) => {
    const { port } = await serve(options);
    const { socket, response } = raw(port, head(headers), "x");
    expect(await response).toMatch(status);
    expect(socket.destroyed).toBe(true);
  });

  test("one of 200,000 chunks of one byte takes no more memory than their bytes", async () => {
    const { port } = await serve({ bodyTimeoutMs: 60_000 });
    const chunks = Buffer.from("1\r\nx\r\n".repeat(200_000));
    const before = heldBytes();
    const upload = raw(port, head({ "transfer-encoding": "chunked", connection: "close" }), chunks);
    await once(upload.socket, "drain");
    expect(heldBytes() - before).toBeLessThan(8 * 2 ** 20);
    upload.socket.write("0\r\n\r\n");
    expect(await upload.response).toMatch(/^HTTP\/1.1 401 /);
  });
});

describe("when a framework has read the body", () => {
  test.each<[string, (bytes: Buffer) => object]>([
    ["bytes in req.rawBody", (bytes) => ({ rawBody: bytes, body: { parsed: true } })],
    ["a string in req.rawBody (fail-3)", (bytes) => ({ rawBody: String(bytes), body: { parsed: true } })],
    ["a Buffer in req.body", (bytes) => ({ body: bytes })],
    ["a Uint8Array in req.body", (bytes) => ({ body: new Uint8Array(bytes) })],
    ["a string in req.body", (bytes) => ({ body: String(bytes) })],
  ])("its bytes are taken from %s", async (_place, keep) => {
    const { post, handler } = await serve({ before: keeping(keep) });
    const body = { type: "job.succeeded", data: { jobId: "job_1", note: "ä" } };
    expect(await post(delivered({ body }))).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test.each<[string, Middleware]>([
    ["parsed JSON", keeping((bytes) => ({ body: JSON.parse(String(bytes)) }))],
    ["nothing", keeping(() => ({}))],
    ["a stream that decodes", (request) => void request.setEncoding("utf8")],
  ])("and left only %s, the response is 500, and one line says what to change", async (_what, before) => {
    const { post, rejections, handler } = await serve({ before });
    for (let copy = 0; copy < 2; copy++) expect(await post()).toBe(500);
    const advice = expect.stringMatching(
      /before app\.use\(express\.json\(\)\).*NestJS.*getHttpAdapter.*before app\.listen/,
    );
    expect(rejections[0]).toMatchObject({ reason: "parsed-body", status: 500, advice });
    expect(log.mock.calls).toEqual([[advice]]);
    expect(handler).not.toHaveBeenCalled();
  });
});

test("a body that is not read yet when the receiver gets the request is read by the receiver", async () => {
  const { post } = await serve({
    before: async (request) => {
      request.pause();
      await new Promise(setImmediate);
    },
  });
  expect(await post()).toBe(200);
});

describe("a simulated request", () => {
  const { headers, body } = delivered();
  /** Emits its body once it has a listener, and is no stream. */
  const emitting = new EventEmitter().on("newListener", function (this: EventEmitter, name) {
    if (name === "end") setImmediate(() => this.emit("data", body) && this.emit("end"));
  });
  test.each<[string, object, number]>([
    [
      "of Node's own class",
      Object.assign(new http.IncomingMessage(new net.Socket()), { headers, body }),
      200,
    ],
    ["that is an object with bytes", { body }, 200],
    [
      "that is an object with a string, and null for the raw headers",
      { rawBody: `${body}`, rawHeaders: null },
      200,
    ],
    ["that is a stream", Readable.from([body.subarray(0, 5), body.subarray(5)]), 200],
    ["that is a stream of a string", Readable.from(String(body)), 200],
    ["that is a stream above the limit", Readable.from(Buffer.alloc(2 ** 21)), 413],
    [
      "that is a stream that breaks off",
      Readable.from(
        (async function* () {
          yield body;
          throw new Error("mine");
        })(),
      ),
      408,
    ],
    ["that emits bytes later", emitting, 200],
    ["that is an object with a parsed body", { body: JSON.parse(String(body)) }, 500],
    [
      "that emits nothing and has a parsed body",
      Object.assign(new EventEmitter(), { body: { parsed: true } }),
      500,
    ],
    ["without a body", {}, 500],
    ["without headers", { headers: undefined, body }, 401],
  ])("%s is read as far as it goes", async (_what, simulated, status) => {
    const { receiver } = receiverOf();
    const response = { writeHead: jest.fn(), end: jest.fn() };
    const request = Object.assign(simulated, { method: "POST" }, "headers" in simulated ? {} : { headers });
    await nodeHandler(receiver)(request as never, response as never);
    expect(response.writeHead.mock.calls).toEqual([[status, expect.anything()]]);
    expect(response.end).toHaveBeenCalledTimes(1);
    expect(log).toHaveBeenCalledTimes(status === 500 ? 1 : 0);
  });
});

test("once its server is closed, a busy connection ends after its response, and no sooner", async () => {
  const [started, gate] = [deferred(), deferred()];
  const handler = async () => {
    started.resolve();
    await gate.promise;
  };
  const { port, server } = await serve({ handlers: { "job.succeeded": handler } });
  const { headers, body } = delivered();
  const again = delivered();
  const requests = [{ headers, body }, again].map(({ headers, body }) =>
    Buffer.concat([Buffer.from(head({ ...headers, "content-length": String(body.length) })), body]),
  );
  const { response } = raw(port, ...requests);
  await started.promise;
  const closed = new Promise((resolve) => server.close(resolve));
  gate.resolve();
  expect((await response).match(/^HTTP.*|^connection.*/gim)).toEqual([
    "HTTP/1.1 200 OK",
    "connection: close",
  ]);
  await closed;
});

describe("no response hangs", () => {
  const fail = () => {
    throw new Error("mine");
  };

  test("if the receiver fails: the response is 500", async () => {
    const { receiver } = receiverOf();
    const failing = nodeHandler({ ...receiver, handle: () => Promise.reject(new Error("mine")) });
    const { post } = await serve({ before: (request, response) => failing(request, response) });
    expect(await post()).toBe(500);
    expect(log).toHaveBeenCalledWith(expect.stringMatching(/the receiver failed/), expect.any(Error));
  });

  test.each(["writeHead", "end"] as const)(
    "if a middleware's %s fails: that connection ends",
    async (method) => {
      const { url, post } = await serve({
        before: ({ url }, response) => {
          if (url === "/broken") response[method] = fail;
        },
      });
      const { headers, body } = delivered();
      const sent = fetch(url.replace("hooks", "broken"), { method: "POST", headers, body });
      await expect(sent.then((response) => response.text())).rejects.toThrow();
      expect(log).toHaveBeenCalledWith(
        expect.stringMatching(/the response could not be written/),
        expect.any(Error),
      );
      expect(await post()).toBe(200);
    },
  );

  test("if something else has responded: its response stands, and a line says so", async () => {
    const { url } = await serve({ before: (_request, response) => void response.end("mine") });
    const { headers, body } = delivered();
    expect(await (await fetch(url, { method: "POST", headers, body })).text()).toBe("mine");
    while (log.mock.calls.length === 0) await new Promise(setImmediate);
    expect(log).toHaveBeenCalledWith(
      expect.stringMatching(/something else has responded/),
      expect.anything(),
    );
  });
});

test("nodeHandler throws for what is no receiver and a wrong timeout", () => {
  const { receiver } = receiverOf();
  expect(() => nodeHandler(Promise.resolve() as never)).toThrow(
    /did not get a receiver\. .*await receiverFromStack/,
  );
  expect(() => nodeHandler(receiver, { bodyTimeoutMs: 0 })).toThrow(/bodyTimeoutMs .* from 1 /);
});
