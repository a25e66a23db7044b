import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import type { ReceiverOptions } from "../../../src/receiver";
import { type BodyTimeoutOptions, nodeHandler } from "../../../src/receiver/adapters/node";
import { deferred, delivered, receiverOf } from "../support";

type ServerOptions = Partial<ReceiverOptions> & BodyTimeoutOptions;

const closers: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closers.splice(0).map((close) => close())));

describe("over HTTP/2", () => {
  async function serveHttp2(options: ServerOptions = {}) {
    const { bodyTimeoutMs, ...rest } = options;
    const made = receiverOf(rest);
    const server = http2.createServer(nodeHandler(made.receiver, { bodyTimeoutMs }));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    closers.push(() => new Promise((closed) => client.close(() => server.close(closed))));
    const post = (headers: http2.OutgoingHttpHeaders) => client.request({ ":method": "POST", ...headers });
    const statusOf = async (stream: http2.ClientHttp2Stream) => {
      const [headers] = await once(stream, "response");
      stream.resume();
      return headers[":status"] as number;
    };
    return { ...made, client, post, statusOf };
  }

  test("a delivery is handled once, also with a byte order mark, and a forged one, an old one and another method are refused", async () => {
    const { post, statusOf, outcomes, rejections } = await serveHttp2();
    const deliver = ({ headers, body } = delivered()) => statusOf(post(headers).end(body));
    const genuine = delivered();
    expect([await deliver(genuine), await deliver(genuine)]).toEqual([200, 200]);
    const marked = Buffer.from(`\uFEFF${genuine.body}`);
    expect(await deliver(delivered({ body: marked }))).toBe(200);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["handled", "duplicate", "handled"]);
    expect(await deliver({ ...delivered(), body: marked })).toBe(401);
    expect(await deliver(delivered({ at: Date.now() - 3_600_000 }))).toBe(401);
    expect(await statusOf(post({ ":method": "GET" }).end())).toBe(405);
    const reasons = ["signature-mismatch", "timestamp-too-old", "method"];
    expect(rejections.map(({ reason }) => reason)).toEqual(reasons);
  });

  test.each<[string, ServerOptions, number]>([
    ["too large", { maxBodyBytes: 10 }, 413],
    ["too slow", { bodyTimeoutMs: 20 }, 408],
  ])(
    "a body that is %s gets a response, its stream ends, and its session goes on",
    async (_what, options, status) => {
      const { post, statusOf, client } = await serveHttp2(options);
      const stream = post({ "content-length": "20" });
      stream.write("x");
      expect(await statusOf(stream)).toBe(status);
      await once(stream, "close");
      expect(client.destroyed).toBe(false);
      expect(await statusOf(post({ ":method": "GET" }).end())).toBe(405);
    },
  );

  test("a body that breaks off is reported as incomplete", async () => {
    const rejected = deferred<unknown>();
    const { post } = await serveHttp2({ onRejected: rejected.resolve });
    const stream = post(delivered().headers);
    stream.on("error", () => {});
    stream.write("x", () => stream.destroy());
    expect(await rejected.promise).toMatchObject({ reason: "incomplete-body" });
  });
});
