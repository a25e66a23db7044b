import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net, { type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReceiverOptions } from "../../../src/receiver";
import { type NodeHandlerOptions, nodeHandler } from "../../../src/receiver/adapters/node";
import { wrongSignatures } from "../../signature/support";
import { deferred, delivered, jobSucceeded, receiverOf } from "../support";
import { head, raw } from "./wire";

const open: http.Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Middleware = (request: http.IncomingMessage) => Promise<void> | void;
interface ServerOptions extends Partial<ReceiverOptions>, NodeHandlerOptions {
  /** What a framework does before the receiver's turn. */
  readonly before?: Middleware;
}

async function serve({ before, bodyTimeoutMs, ...options }: ServerOptions = {}) {
  const handler = jest.fn();
  const made = receiverOf({ handlers: { "job.succeeded": handler }, ...options });
  const handle = nodeHandler(made.receiver, { bodyTimeoutMs });
  const server = http.createServer(async (request, response) => {
    await before?.(request);
    handle(request, response);
  });
  open.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const post = async ({ headers, body } = delivered()) => {
    const response = await fetch(url, { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  };
  /** Still running, and right. */
  const isWell = async () => expect(await post()).toEqual({ status: 200, text: "handled" });
  return { ...made, handler, port, url, post, isWell };
}

test("a delivery is handled once, and each copy acknowledged", async () => {
  const { post, handler } = await serve();
  const request = delivered();
  expect(await post(request)).toEqual({ status: 200, text: "handled" });
  expect(await post(request)).toEqual({ status: 200, text: "duplicate" });
  expect(await post({ ...request, body: Buffer.from("{}") })).toEqual({ status: 401, text: "not verified" });
  expect(handler).toHaveBeenCalledTimes(1);
});

test("a body in many pieces is put together", async () => {
  const { port, handler } = await serve();
  const { headers, body } = delivered({ body: { ...jobSucceeded("job_1"), pad: "x".repeat(300) } });
  const { socket, answer } = raw(
    port,
    head({ ...headers, "content-length": String(body.length), connection: "close" }),
  );
  for (let at = 0; at < body.length; at += 50) {
    socket.write(body.subarray(at, at + 50));
    await sleep(2);
  }
  expect(await answer).toMatch(/^HTTP\/1.1 200 /);
  expect(handler).toHaveBeenCalledTimes(1);
});

test("a body of exactly the limit fits, however it is sent; one byte more does not", async () => {
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

test("a request that something else has answered meanwhile is left alone", async () => {
  const { receiver, outcomes } = receiverOf();
  const told = deferred();
  const server = http.createServer((request, response) => {
    response.end("mine");
    nodeHandler({ ...receiver, handle: (given) => receiver.handle(given).finally(told.resolve) })(
      request,
      response,
    );
  });
  open.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  const { headers, body } = delivered();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const log = jest.spyOn(console, "error");
  expect(await (await fetch(url, { method: "POST", headers, body })).text()).toBe("mine");
  await told.promise;
  await new Promise(setImmediate);
  expect(outcomes).toMatchObject([{ outcome: "unhandled" }]);
  expect(log).not.toHaveBeenCalled();
  log.mockRestore();
});

test("what is no POST is answered 405", async () => {
  const { url, isWell } = await serve();
  const response = await fetch(url);
  expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  await isWell();
});

describe("hostile requests get the right answer and leave it running:", () => {
  test("a body said to be too large is refused before it is read", async () => {
    const { port, isWell, rejections } = await serve({ maxBodyBytes: 1000 });
    const { answer } = raw(port, head({ "content-length": "1001" }));
    expect(await answer).toMatch(/^HTTP\/1.1 413 /);
    expect(rejections).toMatchObject([{ reason: "size" }]);
    await isWell();
  });

  test("an endless body is refused at the limit, and its connection ended", async () => {
    const { port, isWell } = await serve({ maxBodyBytes: 100_000 });
    const { socket, answer } = raw(port, head({ "transfer-encoding": "chunked" }));
    const piece = `4000\r\n${"x".repeat(0x4000)}\r\n`;
    let sent = 0;
    while (!socket.destroyed && sent < 2 ** 30) {
      sent += piece.length;
      if (!socket.write(piece)) await Promise.race([once(socket, "drain"), answer]);
      await sleep(1);
    }
    expect(await answer).toMatch(/^HTTP\/1.1 413 /);
    await isWell();
  });

  test("a slow body is given up", async () => {
    const { port, isWell, rejections } = await serve({ bodyTimeoutMs: 50 });
    const { answer } = raw(port, head({ "content-length": "10" }), "x");
    expect(await answer).toMatch(/^HTTP\/1.1 408 /);
    expect(rejections).toMatchObject([{ reason: "timeout", status: 408 }]);
    await isWell();
  });

  test("a truncated body is no delivery", async () => {
    const refused = deferred<unknown>();
    const { port, isWell, handler } = await serve({ onRejected: refused.resolve });
    const { headers, body } = delivered();
    const { socket } = raw(port, head({ ...headers, "content-length": String(body.length + 1) }), body);
    await sleep(20);
    socket.destroy();
    expect(await refused.promise).toMatchObject({ reason: "aborted" });
    expect(handler).not.toHaveBeenCalled();
    await isWell();
  });

  test("a million chunks of one byte cost no more memory than their bytes", async () => {
    const { port, isWell } = await serve();
    const before = process.memoryUsage().rss;
    const { answer } = raw(
      port,
      head({ "transfer-encoding": "chunked", connection: "close" }),
      Buffer.from(`${"1\r\nx\r\n".repeat(1_000_000)}0\r\n\r\n`),
    );
    expect(await answer).toMatch(/^HTTP\/1.1 401 /);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
    await isWell();
  });

  test("doubled headers are refused, equal or not, though Node joins or drops them", async () => {
    const { port, isWell, rejections, handler } = await serve();
    const { headers, body } = delivered();
    for (const [name, value] of Object.entries(headers)) {
      for (const second of [value, "other"]) {
        const doubled: [string, string][] = [...Object.entries(headers), [name.toUpperCase(), second]];
        const { answer } = raw(
          port,
          head([...doubled, ["content-length", String(body.length)], ["connection", "close"]]),
          body,
        );
        expect(await answer).toMatch(/^HTTP\/1.1 401 /);
        expect(rejections.pop()?.reason).toBe(name.replace("webhook", "duplicate"));
      }
    }
    expect(handler).not.toHaveBeenCalled();
    await isWell();
  });

  test("headers named like prototypes are headers like others", async () => {
    const { port } = await serve();
    const { headers, body } = delivered();
    const names = [
      ["__proto__", "a"],
      ["__proto__", "b"],
      ["constructor", "c"],
      ["content-length", String(body.length)],
      ["connection", "close"],
    ] as const;
    const { answer } = raw(port, head([...Object.entries(headers), ...names]), body);
    expect(await answer).toMatch(/^HTTP\/1.1 200 /);
  });

  test("hundreds of signatures are refused, unless one is right", async () => {
    const { post } = await serve();
    const request = delivered();
    const wrong = wrongSignatures(300);
    const signedBy = (signature: string) => ({
      ...request,
      headers: { ...request.headers, "webhook-signature": signature },
    });
    expect(await post(signedBy(wrong))).toMatchObject({ status: 401 });
    expect(await post(signedBy(`${wrong} ${request.headers["webhook-signature"]}`))).toMatchObject({
      status: 200,
    });
  });

  test("fifty copies at once are one handler call", async () => {
    const gate = deferred();
    const handler = jest.fn(() => gate.promise);
    const { post } = await serve({ handlers: { "job.succeeded": handler } });
    const request = delivered();
    const copies = Array.from({ length: 50 }, () => post(request));
    await Promise.any(copies);
    gate.resolve();
    const statuses = (await Promise.all(copies)).map(({ status }) => status);
    expect(handler).toHaveBeenCalledTimes(1);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(1);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(await post(request)).toEqual({ status: 200, text: "duplicate" });
  });

  test("a sender that leaves before the answer does not stop the handler", async () => {
    const [started, gate, done] = [deferred(), deferred(), deferred()];
    const handler = jest.fn(async () => {
      started.resolve();
      await gate.promise;
      done.resolve();
    });
    const { port, post } = await serve({ handlers: { "job.succeeded": handler } });
    const request = delivered();
    const { socket } = raw(
      port,
      head({ ...request.headers, "content-length": String(request.body.length) }),
      request.body,
    );
    await started.promise;
    socket.destroy();
    gate.resolve();
    await done.promise;
    expect(await post(request)).toEqual({ status: 200, text: "duplicate" });
    expect(handler).toHaveBeenCalledTimes(1);
  });
});

describe("over HTTP/2", () => {
  async function serve2(options: NodeHandlerOptions) {
    const { receiver } = receiverOf({ maxBodyBytes: 1000 });
    // The handler of HTTP/1 suits it, but for the types.
    const server = http2.createServer(nodeHandler(receiver, options) as unknown as () => void);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const post = (headers = {}) => client.request({ ":method": "POST", ...headers });
    const close = () => {
      client.destroy();
      return new Promise((closed) => server.close(closed));
    };
    return { post, close };
  }

  test("a delivery is handled", async () => {
    const { post, close } = await serve2({});
    const { headers, body } = delivered();
    const stream = post(headers);
    stream.end(body);
    const [answer] = await once(stream, "response");
    expect(answer[":status"]).toBe(200);
    const [refused] = await once(post({ ":method": "GET" }), "response");
    expect(refused[":status"]).toBe(405);
    await close();
  });

  test.each([
    ["too large", 413, 10_000, {}],
    ["too slow", 408, 50, { bodyTimeoutMs: 20 }],
  ])("a body that is %s has its stream ended, after its answer", async (_what, status, size, options) => {
    const { post, close } = await serve2(options);
    const stream = post();
    const ended = new Promise((resolve) => stream.on("close", () => resolve(stream.rstCode)));
    const endless = setInterval(() => stream.writable && stream.write(Buffer.alloc(size / 50)), 5);
    try {
      const [answer] = await once(stream, "response");
      expect(answer[":status"]).toBe(status);
      stream.resume();
      // No error, as RFC 9113 has it: the answer counts.
      expect(await ended).toBe(0);
    } finally {
      clearInterval(endless);
      await close();
    }
  });
});

test("where only parsed headers are there, such as of a simulated request, they are taken", async () => {
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
  nodeHandler(receiver)(request, response);
  expect(await answered).toBe(200);
});

test("a receiver of one's own making that rejects is answered 500, and ends no process", async () => {
  const log = jest.spyOn(console, "error").mockImplementation(() => {});
  const error = new Error("mine");
  const server = http.createServer(
    nodeHandler({ ...receiverOf().receiver, handle: () => Promise.reject(error) }),
  );
  open.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(500);
  expect(log).toHaveBeenCalledWith(expect.stringContaining("nodeHandler"), error);
  log.mockRestore();
});

describe("a body that a framework has read:", () => {
  const read: Middleware = async (request) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    (request as { bytes?: Buffer }).bytes = Buffer.concat(chunks);
  };
  const keeping =
    (keep: (bytes: Buffer) => object): Middleware =>
    async (request) => {
      await read(request);
      Object.assign(request, keep((request as { bytes?: Buffer }).bytes ?? Buffer.alloc(0)));
    };

  test("its bytes are taken from req.rawBody, or from a req.body of bytes", async () => {
    for (const keep of [
      (bytes: Buffer) => ({ rawBody: bytes, body: { parsed: true } }),
      (bytes: Buffer) => ({ body: bytes }),
      (bytes: Buffer) => ({ body: new Uint8Array(bytes) }),
    ]) {
      const { post } = await serve({ before: keeping(keep) });
      expect(await post()).toEqual({ status: 200, text: "handled" });
    }
  });

  test("without its bytes the answer is 500, and a warning says what to change", async () => {
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const keeps = [
      (bytes: Buffer) => ({ body: JSON.parse(String(bytes)) }),
      (bytes: Buffer) => ({ body: String(bytes) }),
      () => ({}),
    ];
    for (const keep of keeps) {
      const { post, rejections, handler } = await serve({ before: keeping(keep) });
      expect(await post()).toMatchObject({ status: 500 });
      expect(rejections).toMatchObject([
        { reason: "parsed-body", advice: expect.stringContaining("express.raw") },
      ]);
      expect(handler).not.toHaveBeenCalled();
    }
    expect(warning.mock.calls).toEqual([
      [expect.stringContaining("before app.use(express.json())"), { code: "WEBHOOK_RECEIVER" }],
    ]);
    warning.mockRestore();
  });

  test("as text it is no longer what was sent: refused as well", async () => {
    const { post } = await serve({ before: (request) => void request.setEncoding("utf8") });
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    expect(await post()).toMatchObject({ status: 500 });
    warning.mockRestore();
  });

  test("an empty one that was read is not verified, rather than the program's fault", async () => {
    const { url } = await serve({ before: read });
    expect((await fetch(url, { method: "POST" })).status).toBe(401);
  });

  test("one that is not read yet is read here, however late", async () => {
    const { isWell } = await serve({ before: (request) => sleep(20, void request.pause()) });
    await isWell();
  });
});

test.each([0, -1, 1.5, 2 ** 31])("a bodyTimeoutMs of %p is a mistake of the program", (bodyTimeoutMs) => {
  expect(() => nodeHandler(receiverOf().receiver, { bodyTimeoutMs })).toThrow(RangeError);
});
