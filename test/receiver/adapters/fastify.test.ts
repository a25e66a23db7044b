import type { IncomingMessage } from "node:http";
import { fastifyPlugin } from "../../../src/receiver/adapters/fastify";
import { fastify4, fastify5 } from "../../frameworks/modules";
import { delivered, receiverOf } from "../support";

const json = { "content-type": "application/json" };
type Fastify = typeof fastify5;
/** Version 4's own types are held by test/frameworks/servers.ts; what these tests use of both is the same. */
const versions: readonly [string, Fastify][] = [
  ["Fastify 4", fastify4 as unknown as Fastify],
  ["Fastify 5", fastify5],
];

const open: { close(): unknown }[] = [];
afterEach(() => Promise.all(open.splice(0).map((app) => app.close())));

describe.each(versions)("%s:", (_name, fastify) => {
  function setUp(options = {}) {
    const handler = jest.fn();
    const made = receiverOf({ handlers: { "job.succeeded": handler } });
    const app = fastify(options);
    open.push(app);
    const post = async (url = "/hooks") => {
      const { headers, body } = delivered();
      const response = await app.inject({ method: "POST", url, headers: { ...headers, ...json }, body });
      return { status: response.statusCode, text: response.body };
    };
    return { ...made, handler, app, post };
  }

  test("the application's body limit, parsers and error handler are not in its way", async () => {
    const { app, receiver, post, handler } = setUp({ bodyLimit: 10 });
    const parser = jest.fn();
    app.addContentTypeParser("*", parser);
    app.addContentTypeParser("application/json", parser);
    app.setErrorHandler((_error, _request, reply) => reply.status(418).send("mine"));
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    expect(await post()).toEqual({ status: 200, text: "handled" });
    expect(parser).not.toHaveBeenCalled();
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("other routes have their bodies parsed as ever", async () => {
    const { app, receiver, post } = setUp();
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    app.post("/other", async (request) => ({ got: request.body }));
    const other = await app.inject({ method: "POST", url: "/other", headers: json, body: '{"a": 1}' });
    expect(other.json()).toEqual({ got: { a: 1 } });
    expect(await post()).toEqual({ status: 200, text: "handled" });
  });

  test("by default it is the plugin's prefix", async () => {
    const { app, receiver, post } = setUp();
    await app.register(fastifyPlugin, { receiver, prefix: "/hooks/jobs" });
    expect(await post("/hooks/jobs")).toEqual({ status: 200, text: "handled" });
    expect(await post("/hooks/jobs/other")).toMatchObject({ status: 404 });
  });

  test("two receivers are two registrations", async () => {
    const [{ app, receiver, post, handler }, second] = [setUp(), setUp()];
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    await app.register(fastifyPlugin, { receiver: second.receiver, path: "/others" });
    expect(await post("/others")).toMatchObject({ status: 200 });
    expect([handler, second.handler].map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
  });

  test("what is no POST is answered 405", async () => {
    const { app, receiver } = setUp();
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    const { statusCode, headers } = await app.inject({ method: "PUT", url: "/hooks", payload: "{}" });
    expect([statusCode, headers.allow]).toEqual([405, "POST"]);
  });

  test("hooks of the application run before and after it", async () => {
    const { app, receiver, post } = setUp();
    const seen: unknown[] = [];
    app.addHook("onRequest", async (request) => void seen.push(request.url));
    app.addHook("onResponse", async (_request, reply) => void seen.push(reply.raw.statusCode));
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    await post();
    expect(seen).toEqual(["/hooks", 200]);
  });

  test("a hook that read the body is told of: 500, and a warning says what to change", async () => {
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { app, receiver, post, rejections, handler } = setUp();
    app.addHook("onRequest", async ({ raw }) => {
      for await (const _chunk of raw);
    });
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    expect(await post()).toMatchObject({ status: 500 });
    expect(rejections).toMatchObject([
      { reason: "parsed-body", advice: expect.stringMatching(/^fastifyPlugin: .*onRequest/) },
    ]);
    expect(handler).not.toHaveBeenCalled();
    warning.mockRestore();
  });

  test("bytes that a platform kept in front of Fastify are used", async () => {
    const { app, receiver, post } = setUp();
    app.addHook("onRequest", async ({ raw }) => {
      const chunks: Buffer[] = [];
      for await (const chunk of raw) chunks.push(chunk);
      (raw as IncomingMessage & { rawBody?: Buffer }).rawBody = Buffer.concat(chunks);
    });
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    expect(await post()).toEqual({ status: 200, text: "handled" });
  });

  test("a bodyTimeoutMs that cannot be is refused when the application starts", async () => {
    const { app, receiver } = setUp();
    app.register(fastifyPlugin, { receiver, bodyTimeoutMs: 0 });
    await expect(Promise.resolve(app.ready())).rejects.toThrow(RangeError);
  });
});
