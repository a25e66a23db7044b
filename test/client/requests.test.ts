import { once } from "node:events";
import { createServer, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Agent, type Dispatcher } from "undici";
import type { WebhookError } from "../../src/client";
import {
  answer,
  apiKey,
  cleanUp,
  clientOf,
  endpoint,
  listen,
  onCleanUp,
  rejection,
  type Step,
  serve,
} from "./support";

afterEach(cleanUp);

const { version }: { version: string } = require("../../package.json");

test("every request has a user agent, and the key in the header and scheme of the options", async () => {
  const server = await serve(answer(200, endpoint));
  await server.client({ apiKeyHeader: "Authorization", apiKeyScheme: "Bearer" }).get("wh_1");
  expect(server.received[0]?.headers).toMatchObject({
    authorization: `Bearer ${apiKey}`,
    accept: "application/json",
    "user-agent": `pulumi-webhook-endpoints/${version} node/${process.versions.node}`,
  });
  expect(server.received[0]?.headers).not.toHaveProperty("x-api-key");
});

test("requests keep the path of the base URL", async () => {
  const server = await serve(answer(200, [endpoint]), answer(200, endpoint));
  const client = clientOf(`${server.baseUrl}/api/v1/`);
  await client.list();
  await client.get("wh_1");
  expect(server.received.map(({ path }) => path)).toEqual(["/api/v1/webhooks", "/api/v1/webhooks/wh_1"]);
});

test("a registration sends url and type exactly as written", async () => {
  const server = await serve(answer(201, endpoint));
  const url = "HTTPS://Hooks.Example.com:443/a%2fb/../c?x=ä#";
  await server.client().register({ url, type: "development" });
  expect(server.received[0]?.body).toBe(JSON.stringify({ url, type: "development" }));
});

describe("an id of an endpoint", () => {
  test.each(["a/b", "../webhooks", "a?b#c", "%2e%2e", "ä ö", "a\r\nb", "...", "pending:1"])(
    "the id %j stays one segment of the path",
    async (id) => {
      const server = await serve(answer(200, { ...endpoint, id }));
      expect(await server.client().get(id)).toMatchObject({ id });
      const path = server.received[0]?.path ?? "";
      expect(path.split("/")).toHaveLength(3);
      expect(decodeURIComponent(path.slice("/webhooks/".length))).toBe(id);
    },
  );

  test.each(["", ".", "..", "\ud800", undefined, null, 7])(
    "the id %j is refused, and nothing is sent",
    async (id) => {
      const server = await serve(answer(200, endpoint));
      const client = server.client();
      for (const verb of ["get", "delete"] as const) {
        expect(await rejection(client[verb](id as string))).toMatchObject({
          code: "INVALID_ARGUMENT",
          message: expect.stringContaining(`Cannot ${verb} a webhook endpoint: ${JSON.stringify(id)} is not`),
        });
      }
      expect(server.received).toHaveLength(0);
    },
  );

  test("get fails if the service returns an endpoint with another id", async () => {
    const server = await serve(answer(200, { ...endpoint, id: "wh_2" }));
    expect(await rejection(server.client().get("wh_1"))).toMatchObject({
      code: "MALFORMED_RESPONSE",
      statusCode: 200,
    });
  });
});

test("a list takes the service's time, and that it is partial, from the headers", async () => {
  const headers = { date: "Thu, 01 Jan 2026 00:00:00 GMT", link: '</webhooks?page=2>; rel="next"' };
  const server = await serve(answer(200, { data: [endpoint] }, headers));
  const list = await server.client().list();
  expect(list).toEqual({
    endpoints: [endpoint],
    unrecognized: [],
    complete: false,
    serverTime: Date.UTC(2026, 0, 1),
  });
});

test("redirects are not followed, so the key is sent nowhere else", async () => {
  const elsewhere = await serve(answer(200, endpoint));
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await serve(answer(status, "", { location: `${elsewhere.baseUrl}/secret-place` }));
    const error = await rejection(server.client().get("wh_1"));
    expect(error).toMatchObject({ code: "REDIRECTED", statusCode: status });
    expect((error as Error).message).toContain(elsewhere.baseUrl);
    expect((error as Error).message).not.toContain("secret-place");
  }
  expect(elsewhere.received).toHaveLength(0);
});

test.each([
  ["64 by default", {}, 64],
  ["maxConcurrency", { maxConcurrency: 3 }, 3],
])("at most so many requests are under way at once: %s", async (_, options, limit) => {
  const underWay: Dispatcher.DispatchHandler[] = [];
  const controller = {} as Dispatcher.DispatchController;
  const dispatcher = {
    dispatch(_request: unknown, handler: Dispatcher.DispatchHandler) {
      handler.onRequestStart?.(controller, {});
      underWay.push(handler);
      return true;
    },
  } as Dispatcher;
  const client = clientOf("http://127.0.0.1:1", { ...options, dispatcher });
  const answers = Array.from({ length: 2 * limit }, () => client.get("wh_1"));
  for (let left = 2 * limit; left > 0; left--) {
    await setImmediate();
    expect(underWay).toHaveLength(Math.min(left, limit));
    const handler = underWay.shift();
    handler?.onResponseStart?.(controller, 200, {}, "OK");
    handler?.onResponseData?.(controller, Buffer.from(JSON.stringify(endpoint)));
    handler?.onResponseEnd?.(controller, {});
  }
  expect(await Promise.all(answers)).toHaveLength(2 * limit);
});

describe("a response longer than maxResponseBytes", () => {
  const long = JSON.stringify([endpoint, { ...endpoint, id: "x".repeat(10_000) }]);

  test.each<[string, Step]>([
    ["announced", answer(200, long, { "content-length": String(long.length) })],
    [
      "unannounced",
      (response) => {
        response.writeHead(200, { "transfer-encoding": "chunked" });
        const timer = setInterval(() => response.write("x".repeat(500)), 1);
        response.on("close", () => clearInterval(timer));
      },
    ],
  ])("a response longer than maxResponseBytes is refused if its length is %s", async (_, step) => {
    const server = await serve(step);
    const error = await rejection(server.client({ maxResponseBytes: 5_000 }).list());
    expect(error).toMatchObject({ code: "RESPONSE_TOO_LARGE", statusCode: 200 });
    expect((error as WebhookError).responseText?.length).toBeLessThanOrEqual(5_000);
    expect(server.received).toHaveLength(1);
  });

  test("a response of exactly maxResponseBytes is read", async () => {
    const server = await serve(answer(200, long));
    const { endpoints } = await server.client({ maxResponseBytes: long.length }).list();
    expect(endpoints).toHaveLength(2);
  });
});

describe("close", () => {
  test("close refuses further operations and resolves when those under way have ended", async () => {
    const events: string[] = [];
    let respond = () => {};
    const server = await serve((response, received) => {
      respond = () => answer(200, endpoint)(response, received);
    });
    const client = server.client();
    const last = client.get("wh_1").then((result) => {
      events.push("the last operation ended");
      return result;
    });
    await server.arrived(1);
    const closed = client.close().then(() => events.push("the client closed"));
    expect(await rejection(client.list())).toMatchObject({ code: "CLOSED" });
    expect(await rejection(client.register(endpoint))).toMatchObject({ code: "CLOSED", outcome: "not-made" });
    expect(events).toEqual([]);
    respond();
    expect(await last).toEqual(endpoint);
    await closed;
    await client.close();
    expect(events).toEqual(["the last operation ended", "the client closed"]);
    expect(server.received).toHaveLength(1);
  });

  test("close closes the client's connections", async () => {
    let connection: Socket | null = null;
    const server = await serve((response, received) => {
      connection = response.socket;
      answer(200, endpoint)(response, received);
    });
    const client = server.client();
    await client.get("wh_1");
    const ended = once(connection ?? new Socket(), "close");
    await client.close();
    await ended;
  });

  test("close ends a connection attempt that was given up, so that it keeps no process alive", async () => {
    const silent = createServer();
    const connection = once(silent, "connection");
    // The TLS handshake never ends. undici itself gives up after ten seconds.
    const client = clientOf(`https://127.0.0.1:${await listen(silent)}`);
    const controller = new AbortController();
    const error = rejection(client.get("wh_1", { signal: controller.signal }));
    const [socket]: Socket[] = await connection;
    const ended = once(socket ?? new Socket(), "close");
    controller.abort();
    expect(await error).toMatchObject({ code: "ABORTED" });
    await client.close();
    socket?.resume();
    await ended;
  }, 8_000);

  test("close leaves a dispatcher that was given as an option usable", async () => {
    const server = await serve(answer(200, endpoint));
    const dispatcher = new Agent();
    onCleanUp(() => dispatcher.close());
    const client = server.client({ dispatcher });
    await client.get("wh_1");
    await client.close();
    expect(await server.client({ dispatcher }).get("wh_1")).toEqual(endpoint);
  });
});
