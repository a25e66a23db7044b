import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type {
  ALBHandler,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  LambdaFunctionURLHandler,
} from "aws-lambda";
import type { ReceiverOptions } from "../../../src/receiver";
import { lambdaHandler } from "../../../src/receiver/adapters/lambda";
import { head, raw, startUpload } from "../../receiver/adapters/wire";
import { deferred, delivered, jobSucceeded, receiverOf } from "../../receiver/support";
import { frameworks, type Running } from "./servers";

const open: Running[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));

interface ServerOptions extends Partial<ReceiverOptions> {
  readonly bodyTimeoutMs?: number;
}

describe.each(Object.entries(frameworks))("%s:", (_framework, start) => {
  async function serve({ bodyTimeoutMs, ...options }: ServerOptions = {}) {
    const handler = jest.fn();
    const made = receiverOf({ handlers: { "job.succeeded": handler }, ...options });
    const running = await start({ receiver: made.receiver, bodyTimeoutMs });
    open.push(running);
    const { port } = running;
    const url = `http://127.0.0.1:${port}/hooks`;
    /** Returns the status of the answer. */
    const post = async ({ headers, body } = delivered(), more: Record<string, string> = {}) => {
      const all = { ...headers, "content-type": "application/json", ...more };
      const response = await fetch(url, { method: "POST", headers: all, body });
      await response.text();
      return response.status;
    };
    const isWell = async () => expect(await post()).toBe(200);
    return { ...made, handler, port, url, post, isWell };
  }
  const lengthOf = (body: Buffer) => ({ "content-length": String(body.length) });

  test("a delivery is handled once, a copy is acknowledged, and a tampered one is refused", async () => {
    const { post, handler, outcomes, rejections } = await serve();
    const request = delivered();
    expect([await post(request), await post(request)]).toEqual([200, 200]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["handled", "duplicate"]);
    expect(await post({ ...request, body: Buffer.from("{}") })).toBe(401);
    expect(rejections).toMatchObject([{ reason: "signature-mismatch" }]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test.each([
    ["neither JSON nor text", Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x00, 0x7b, 0x0d, 0x0a, 0x20]), {}],
    ["compressed", gzipSync("{}"), { "content-encoding": "gzip" }],
  ])("a body that is %s is passed on byte for byte", async (_what, body, headers) => {
    const onUnhandled = jest.fn();
    const { post } = await serve({ onUnhandled });
    expect(await post(delivered({ body }), headers)).toBe(200);
    expect(Buffer.from(onUnhandled.mock.calls[0]?.[0].rawBody)).toEqual(body);
  });

  test("a method other than POST is answered 405", async () => {
    const { url, isWell } = await serve();
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await fetch(url, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    }
    await isWell();
  });

  test.each<[string, Record<string, string>, string, RegExp, string]>([
    ["claims to be too large", { "content-length": "1001" }, "", /^HTTP\/1.1 413 /, "size"],
    ["does not arrive in time", { "content-length": "10" }, "x", /^HTTP\/1.1 408 /, "incomplete-body"],
  ])("a body that %s is refused", async (_what, headers, sent, status, reason) => {
    const { port, isWell, rejections } = await serve({ maxBodyBytes: 1000, bodyTimeoutMs: 100 });
    const { socket, answer } = raw(port, head(headers), sent);
    await once(socket, "data");
    socket.end();
    expect(await answer).toMatch(status);
    expect(rejections).toMatchObject([{ reason }]);
    await isWell();
  });

  test("an endless body is refused at the limit, and its connection is closed", async () => {
    const { port, isWell, handler } = await serve({ maxBodyBytes: 100_000 });
    const { socket, answer } = raw(port, head({ "transfer-encoding": "chunked" }));
    const piece = `4000\r\n${"x".repeat(0x4000)}\r\n`;
    for (let sent = 0; !socket.destroyed && sent < 2 ** 30; sent += piece.length) {
      // Rejects once the connection is closed, as it should be.
      if (!socket.write(piece)) await Promise.race([once(socket, "drain").catch(() => {}), answer]);
      await sleep(1);
    }
    expect(await answer).toMatch(/^HTTP\/1.1 413 /);
    expect(handler).not.toHaveBeenCalled();
    await isWell();
  });

  test("a truncated body is reported as incomplete, and no handler is called", async () => {
    const refused = deferred<unknown>();
    const { port, isWell, handler } = await serve({ onRejected: refused.resolve });
    const { headers, body } = delivered();
    const { socket } = await startUpload(port, { ...headers, "content-length": String(body.length + 1) });
    socket.write(body, () => socket.destroy());
    expect(await refused.promise).toMatchObject({ reason: "incomplete-body" });
    expect(handler).not.toHaveBeenCalled();
    await isWell();
  });

  test("a sender that leaves before the answer does not stop the handler", async () => {
    const [started, gate, done] = [deferred(), deferred(), deferred()];
    const handler = jest.fn(async () => {
      started.resolve();
      await gate.promise;
    });
    const handlers = { "job.succeeded": handler };
    const { port, post } = await serve({ handlers, onOutcome: () => done.resolve() });
    const request = delivered();
    const { socket } = raw(port, head({ ...request.headers, ...lengthOf(request.body) }), request.body);
    await started.promise;
    socket.destroy();
    gate.resolve();
    await done.promise;
    expect(await post(request)).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("a header that is sent twice with two values is refused", async () => {
    const { port, isWell, handler } = await serve();
    const { headers, body } = delivered();
    for (const name of ["webhook-id", "webhook-timestamp"]) {
      const pairs = Object.entries({ ...headers, ...lengthOf(body), connection: "close" });
      const { answer } = raw(port, head([...pairs, [name.toUpperCase(), "other"]]), body);
      expect(await answer).toMatch(/^HTTP\/1.1 401 /);
    }
    expect(handler).not.toHaveBeenCalled();
    await isWell();
  });

  test("of six hundred mixed requests at once, each delivery is handled once and nothing else", async () => {
    const { port, post, handler } = await serve();
    const good = Array.from({ length: 100 }, (_, job) => delivered({ body: jobSucceeded(`job_${job}`) }));
    const cut = ({ headers, body }: ReturnType<typeof delivered>) => {
      const { socket, answer } = raw(port, head({ ...headers, ...lengthOf(body) }), body.subarray(0, 20));
      setTimeout(() => socket.destroy(), 5);
      return answer;
    };
    const answers = await Promise.all(
      good.flatMap((request) => [
        post(request),
        post({ ...delivered(), body: Buffer.from("{}") }),
        post(delivered({ at: Date.now() - 3_600_000 })),
        post({ ...request, body: Buffer.alloc(2 * 1024 * 1024) }).catch(() => 413),
        cut(delivered()),
        post(request),
      ]),
    );
    expect(answers.filter((_, index) => index % 6 === 0)).toEqual(Array(100).fill(200));
    expect(answers.filter((_, index) => index % 6 === 3)).toEqual(Array(100).fill(413));
    const jobs = handler.mock.calls.map(([{ jobId }]) => jobId).sort();
    expect(jobs).toEqual(good.map((_, job) => `job_${job}`).sort());
  });
});

test("lambdaHandler returns a handler by AWS's own types, for every platform in front of a function", () => {
  // What the compiler checks here.
  type AwsHandler = APIGatewayProxyHandler & APIGatewayProxyHandlerV2 & LambdaFunctionURLHandler & ALBHandler;
  const handler: AwsHandler = lambdaHandler(receiverOf().receiver);
  expect(handler).toBeInstanceOf(Function);
});
