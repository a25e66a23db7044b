import type { IncomingMessage } from "node:http";
import { fastifyPlugin } from "../../../src/receiver/adapters/fastify";
import { fastify4, fastify5 } from "../../integration/frameworks/modules";
import { delivered, receiverOf } from "../support";

const json = { "content-type": "application/json" };
type Fastify = typeof fastify5;
/** test/integration/frameworks/servers.ts checks version 4 by its own types; these tests use only what both versions have. */
const versions: readonly [string, Fastify][] = [
  ["Fastify 4", fastify4 as unknown as Fastify],
  ["Fastify 5", fastify5],
];

const open: { close(): unknown }[] = [];
afterEach(() => Promise.all(open.splice(0).map((app) => app.close())));

describe.each(versions)("in %s,", (_name, fastify) => {
  function setUp(options = {}) {
    const handler = jest.fn();
    const made = receiverOf({ handlers: { "job.succeeded": handler } });
    const app = fastify(options);
    open.push(app);
    /** Returns the status of the answer. */
    const post = async (url = "/hooks") => {
      const { headers, body } = delivered();
      const { statusCode } = await app.inject({
        method: "POST",
        url,
        headers: { ...headers, ...json },
        body,
      });
      return statusCode;
    };
    return { ...made, handler, app, post };
  }

  test("the application's body limit, parsers and error handler do not apply to deliveries", async () => {
    const { app, receiver, post, handler } = setUp({ bodyLimit: 10 });
    const parser = jest.fn();
    app.addContentTypeParser("*", parser);
    app.addContentTypeParser("application/json", parser);
    app.setErrorHandler((_error, _request, reply) => reply.status(418).send("mine"));
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    expect(await post()).toBe(200);
    expect(parser).not.toHaveBeenCalled();
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("the bodies of other routes are parsed as usual", async () => {
    const { app, receiver, post } = setUp();
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    app.post("/other", async (request) => ({ got: request.body }));
    const other = await app.inject({ method: "POST", url: "/other", headers: json, body: '{"a": 1}' });
    expect(other.json()).toEqual({ got: { a: 1 } });
    expect(await post()).toBe(200);
  });

  test("the default path is the plugin's prefix", async () => {
    const { app, receiver, post } = setUp();
    await app.register(fastifyPlugin, { receiver, prefix: "/hooks/jobs" });
    expect(await post("/hooks/jobs")).toBe(200);
    expect(await post("/hooks/jobs/other")).toBe(404);
  });

  test("an answer that a hook of the application breaks is logged as fastifyPlugin's", async () => {
    const log = jest.spyOn(console, "error").mockImplementation(() => {});
    const error = new Error("a hook's");
    const { app, receiver } = setUp();
    app.addHook("onRequest", async (_request, reply) => {
      reply.raw.writeHead = () => {
        throw error;
      };
    });
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    await expect(fetch(`${url}/hooks`, delivered())).rejects.toThrow();
    const logged = log.mock.calls;
    log.mockRestore();
    expect(logged).toEqual([[expect.stringMatching(/^fastifyPlugin: .*connection was closed/), error]]);
  });

  test("two receivers can be registered in one application", async () => {
    const [{ app, receiver, post, handler }, second] = [setUp(), setUp()];
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    await app.register(fastifyPlugin, { receiver: second.receiver, path: "/others" });
    expect(await post("/others")).toBe(200);
    expect([handler, second.handler].map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
  });

  test("a method other than POST is answered 405", async () => {
    const { app, receiver } = setUp();
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    const { statusCode, headers } = await app.inject({ method: "PUT", url: "/hooks", payload: "{}" });
    expect([statusCode, headers.allow]).toEqual([405, "POST"]);
  });

  test("the application's hooks run before and after a delivery", async () => {
    const { app, receiver, post } = setUp();
    const seen: unknown[] = [];
    app.addHook("onRequest", async (request) => void seen.push(request.url));
    app.addHook("onResponse", async (_request, reply) => void seen.push(reply.raw.statusCode));
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    await post();
    expect(seen).toEqual(["/hooks", 200]);
  });

  test("a hook that a plugin gives each route, such as a rate limit, runs before a delivery, and other routes stay", async () => {
    const { app, receiver, post, handler } = setUp();
    app.addHook("onRoute", (route: { onRequest?: unknown }) => {
      const limit = async (
        _request: unknown,
        reply: { code(status: number): { send(text: string): unknown } },
      ) => reply.code(429).send("slow down");
      route.onRequest = [route.onRequest ?? [], limit].flat();
    });
    // As somebody may call it by mistake: not encapsulated.
    await fastifyPlugin(app, { receiver, path: "/hooks" });
    app.get("/other", async () => "other");
    expect(await post()).toBe(429);
    expect(handler).not.toHaveBeenCalled();
    expect((await app.inject("/other")).body).toBe("slow down");
  });

  test.each(["handler", "onRequest"] as const)(
    "a plugin that wraps the %s of each route, as tracing does, loses no delivery",
    async (wrapped) => {
      const { app, receiver, post, handler } = setUp();
      app.addHook("onRoute", (options: object) => {
        const route: Record<string, unknown> = Object(options);
        const own = [route[wrapped] ?? []].flat()[0] as ((...args: unknown[]) => unknown) | undefined;
        route[wrapped] =
          wrapped === "handler"
            ? async (...args: unknown[]) => own?.(...args)
            : (...args: unknown[]) => own?.(...args);
      });
      await app.register(fastifyPlugin, { receiver, path: "/hooks" });
      expect(await post()).toBe(200);
      expect(handler).toHaveBeenCalledTimes(1);
    },
  );

  test("a body that a hook has read is answered 500, with advice about Fastify", async () => {
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { app, receiver, post, rejections, handler } = setUp();
    app.addHook("onRequest", async ({ raw }) => {
      for await (const _chunk of raw);
    });
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    expect(await post()).toBe(500);
    expect(rejections).toMatchObject([
      { reason: "parsed-body", advice: expect.stringMatching(/^fastifyPlugin: .*onRequest/) },
    ]);
    expect(handler).not.toHaveBeenCalled();
    warning.mockRestore();
  });

  test("the bytes that a platform in front of Fastify kept in rawBody are verified", async () => {
    const { app, receiver, post, handler } = setUp();
    app.addHook("onRequest", async ({ raw }) => {
      const chunks: Buffer[] = [];
      for await (const chunk of raw) chunks.push(chunk);
      (raw as IncomingMessage & { rawBody?: Buffer }).rawBody = Buffer.concat(chunks);
    });
    await app.register(fastifyPlugin, { receiver, path: "/hooks" });
    expect(await post()).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test.each([{ url: "/jobs" }, { bodyTimeout: 5 }])(
    "the unknown option in %j fails the start of the application, and those of Fastify do not",
    async (unknown) => {
      const { app, receiver } = setUp();
      app.register(fastifyPlugin, { receiver, path: "/hooks", prefix: "/v1", logLevel: "warn", ...unknown });
      await expect(Promise.resolve(app.ready())).rejects.toThrow(/not an option of fastifyPlugin/);
    },
  );

  test("an invalid bodyTimeoutMs fails the start of the application", async () => {
    const { app, receiver } = setUp();
    app.register(fastifyPlugin, { receiver, bodyTimeoutMs: 0 });
    await expect(Promise.resolve(app.ready())).rejects.toThrow(RangeError);
  });
});
