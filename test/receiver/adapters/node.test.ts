import http from "node:http";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReceiverOptions } from "../../../src/receiver";
import { type NodeHandlerOptions, nodeHandler } from "../../../src/receiver/adapters/node";
import { listen, type Running } from "../../integration/frameworks/servers";
import { deferred, delivered, receiverOf } from "../support";
import { heldBytes } from "./heldBytes";
import { head, raw } from "./wire";

const open: Running[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));

async function listening(onRequest: http.RequestListener) {
  const running = await listen(http.createServer(onRequest));
  open.push(running);
  const url = `http://127.0.0.1:${running.port}/`;
  /** Returns the status of the answer. */
  const post = async ({ headers, body } = delivered()) => {
    const response = await fetch(url, { method: "POST", headers, body });
    await response.text();
    return response.status;
  };
  return { port: running.port, url, post };
}

type Middleware = (request: http.IncomingMessage, response: http.ServerResponse) => Promise<void> | void;
interface ServerOptions extends Partial<ReceiverOptions>, NodeHandlerOptions {
  /** Does what a framework does before the receiver gets the request. */
  readonly before?: Middleware;
}

async function serve({ before, bodyTimeoutMs, ...options }: ServerOptions = {}) {
  const handler = jest.fn();
  const made = receiverOf({ handlers: { "job.succeeded": handler }, ...options });
  const handle = nodeHandler(made.receiver, { bodyTimeoutMs });
  const served = await listening(async (request, response) => {
    await before?.(request, response);
    await handle(request, response);
  });
  return { ...made, ...served, handler };
}

test("a body of exactly the limit is accepted, and one that is a byte longer is refused", async () => {
  const { headers, body } = delivered();
  const chunked = head({ ...headers, "transfer-encoding": "chunked", connection: "close" });
  for (const [limit, status] of [
    [body.length, 200],
    [body.length - 1, 413],
  ] as const) {
    const { port } = await serve({ maxBodyBytes: limit });
    const { answer } = raw(port, chunked, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    expect(await answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  }
});

test("200,000 chunks of one byte use no more memory than their bytes", async () => {
  let socket: net.Socket | undefined;
  // A busy machine takes longer than the default for so many.
  const { port } = await serve({
    bodyTimeoutMs: 60_000,
    before: (request) => {
      socket = request.socket;
    },
  });
  const chunks = Buffer.from("1\r\nx\r\n".repeat(200_000));
  const before = heldBytes();
  const upload = raw(port, head({ "transfer-encoding": "chunked", connection: "close" }), chunks);
  while ((socket?.bytesRead ?? 0) < chunks.length && !upload.socket.destroyed) await sleep(10);
  expect(heldBytes() - before).toBeLessThan(8 * 2 ** 20);
  upload.socket.write("0\r\n\r\n");
  expect(await upload.answer).toMatch(/^HTTP\/1.1 401 /);
});

test("a request that something else has answered is not answered again, and a warning says so", async () => {
  const { receiver, outcomes } = receiverOf();
  const told = deferred();
  const log = jest.spyOn(console, "error");
  const warning = jest.spyOn(process, "emitWarning").mockImplementation();
  const { url } = await listening((request, response) => {
    response.end("mine");
    const handle: typeof receiver.handle = (given) => receiver.handle(given).finally(told.resolve);
    void nodeHandler({ ...receiver, handle })(request, response);
  });
  const { headers, body } = delivered();
  expect(await (await fetch(url, { method: "POST", headers, body })).text()).toBe("mine");
  await told.promise;
  await new Promise(setImmediate);
  expect(outcomes).toMatchObject([{ outcome: "unhandled" }]);
  expect(log).not.toHaveBeenCalled();
  expect(warning.mock.calls).toEqual([
    [
      expect.stringMatching(/^nodeHandler: something answered with 200 before the receiver with 200\..* Koa/),
      expect.anything(),
    ],
  ]);
  jest.restoreAllMocks();
});

test.each(["read", "refused before it was read"])(
  "the promise resolves once the answer to a body that was %s has been written, also when the handler fails",
  async (how) => {
    const maxBodyBytes = how === "read" ? 1_000 : 1;
    const failing = { handlers: { "job.succeeded": () => Promise.reject(new Error("late")) }, maxBodyBytes };
    const handle = nodeHandler(receiverOf(failing).receiver);
    const ended: boolean[] = [];
    // As a framework that answers by itself once a route is done.
    const { post } = await listening(async (request, response) => {
      await handle(request, response);
      ended.push(response.writableEnded);
      if (!response.writableEnded) response.writeHead(201).end();
    });
    expect(await post()).toBe(how === "read" ? 500 : 413);
    while (ended.length === 0) await sleep(5);
    expect(ended).toEqual([true]);
  },
);

test("after server.close(), a connection that is kept alive ends with its next response, so that the process ends", async () => {
  const held = deferred();
  const { receiver } = receiverOf({ handlers: { "job.succeeded": () => held.promise } });
  const server = http.createServer(nodeHandler(receiver));
  const { port } = await listen(server);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const post = () =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const { headers, body } = delivered();
      const sent = http.request({
        agent,
        port,
        method: "POST",
        headers: { ...headers } as http.OutgoingHttpHeaders,
      });
      sent
        .once("response", (response) => resolve(response.resume()))
        .once("error", reject)
        .end(body);
    });
  const first = post();
  await sleep(50);
  const closed = new Promise((resolve) => server.close(resolve));
  const second = post();
  second.catch(() => {});
  held.resolve();
  expect((await first).headers.connection).toBe("close");
  // The agent has no connection left for it.
  await expect(second).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await closed;
  agent.destroy();
});

test("a simulated request, which has only parsed headers, is verified by them", async () => {
  const { receiver } = receiverOf();
  const { headers, body } = delivered();
  const request = Object.assign(new http.IncomingMessage(new net.Socket()), {
    method: "POST",
    headers,
    body,
    complete: true,
  });
  const response = new http.ServerResponse(request);
  const answered = new Promise((resolve) => {
    response.writeHead = (status: number) => {
      resolve(status);
      return response;
    };
  });
  await nodeHandler(receiver)(request, response);
  expect(await answered).toBe(200);
});

describe("a failure while a request is answered", () => {
  let log: jest.SpyInstance;
  beforeEach(() => {
    log = jest.spyOn(console, "error").mockImplementation(() => {});
  });
  afterEach(() => log.mockRestore());
  const error = new Error("mine");
  const fail = () => {
    throw error;
  };

  test("in a receiver of your own is answered 500", async () => {
    const { receiver } = receiverOf();
    const { post } = await listening(nodeHandler({ ...receiver, handle: () => Promise.reject(error) }));
    expect(await post()).toBe(500);
    expect(log).toHaveBeenCalledWith(expect.stringMatching(/^nodeHandler: the receiver failed/), error);
  });

  test.each(["writeHead", "end"] as const)(
    "in a middleware's %s closes that connection only",
    async (method) => {
      const { url, post, handler } = await serve({
        before: ({ url }, response) => {
          if (url === "/broken") response[method] = fail;
        },
      });
      const { headers, body } = delivered();
      await expect(fetch(`${url}broken`, { method: "POST", headers, body })).rejects.toThrow();
      expect(log).toHaveBeenCalledWith(expect.stringMatching(/^nodeHandler: .*connection was closed/), error);
      expect(await post()).toBe(200);
      expect(handler).toHaveBeenCalledTimes(2);
    },
  );

  test("in a middleware's end, once the rest of a refused body was read, closes that connection only", async () => {
    const before: Middleware = (request, response) => {
      if (request.headers["content-length"] === "1001") response.end = fail;
    };
    const { port, post } = await serve({ before, maxBodyBytes: 1000 });
    const { answer } = raw(port, head({ "content-length": "1001" }), Buffer.alloc(1001));
    expect(await answer).toMatch(/^HTTP\/1.1 413 /);
    expect(log).toHaveBeenCalledWith(expect.stringMatching(/^nodeHandler: .*connection was closed/), error);
    expect(await post()).toBe(200);
  });
});

describe("when a framework has read the body", () => {
  const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  afterAll(() => warning.mockRestore());

  const readBytes = async (request: http.IncomingMessage) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  };
  const keeping =
    (keep: (bytes: Buffer) => object): Middleware =>
    async (request) =>
      void Object.assign(request, keep(await readBytes(request)));

  test.each([
    ["req.rawBody", (bytes: Buffer) => ({ rawBody: bytes, body: { parsed: true } })],
    ["a Buffer in req.body", (bytes: Buffer) => ({ body: bytes })],
    ["a Uint8Array in req.body", (bytes: Buffer) => ({ body: new Uint8Array(bytes) })],
  ])("the bytes are taken from %s", async (_place, keep) => {
    const { post, handler } = await serve({ before: keeping(keep) });
    expect(await post()).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test.each<[string, Middleware]>([
    ["parsed JSON", keeping((bytes) => ({ body: JSON.parse(String(bytes)) }))],
    ["a string", keeping((bytes) => ({ body: String(bytes) }))],
    ["nothing", keeping(() => ({}))],
    ["a stream that decodes", (request) => void request.setEncoding("utf8")],
  ])("and left only %s, the answer is 500 with advice", async (_what, before) => {
    const { post, rejections, handler } = await serve({ before });
    expect(await post()).toBe(500);
    const advice = expect.stringContaining("before app.use(express.json())");
    expect(rejections).toMatchObject([{ reason: "parsed-body", status: 500, advice }]);
    expect(handler).not.toHaveBeenCalled();
  });

  test("but the request has none, it is not verified, rather than blamed on the program", async () => {
    const { url, rejections } = await serve({ before: async (request) => void (await readBytes(request)) });
    const { headers } = delivered();
    expect((await fetch(url, { method: "POST", headers })).status).toBe(401);
    expect(rejections).toMatchObject([{ reason: "signature-mismatch" }]);
  });
});

test("a body that is not read yet when the receiver gets the request is read by the receiver", async () => {
  const { post } = await serve({ before: (request) => sleep(20, void request.pause()) });
  expect(await post()).toBe(200);
});

test.each([0, -1, 1.5, Number.NaN, 2 ** 31])("a bodyTimeoutMs of %p throws a RangeError", (bodyTimeoutMs) => {
  expect(() => nodeHandler(receiverOf().receiver, { bodyTimeoutMs })).toThrow(RangeError);
});
