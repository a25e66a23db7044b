import { once } from "node:events";
import { createServer, Socket } from "node:net";
import { Agent } from "undici";
import { WebhookEndpointNotFoundError } from "../../src/client";
import { holdTime } from "../heldTime";
import { VirtualTime } from "../provider/virtualTime";
import { simulateService } from "./simulatedService";
import {
  apiKey,
  cleanUp,
  clientOf,
  endpoint,
  listen,
  onCleanUp,
  rejection,
  reply,
  type Step,
  serve,
} from "./support";

afterEach(cleanUp);

const { version }: { version: string } = require("../../package.json");

test("a client registers, lists, gets and deletes an endpoint", async () => {
  const { id, url, type } = endpoint;
  const server = await serve(
    reply(201, { id, url, type }),
    reply(200, [endpoint], { date: "Thu, 01 Jan 1970 00:00:12 GMT" }),
    reply(200, endpoint),
    reply(204),
    reply(404, { error: "unknown" }),
  );
  const client = server.client();
  const made = { id, url, type, createdAt: null, updatedAt: null };
  expect(await client.register({ url, type, ip: "192.0.2.0/24" })).toEqual(made);
  const list = { endpoints: [endpoint], unrecognized: [], complete: true, serverTime: 12_000 };
  expect(await client.list()).toEqual(list);
  expect(await client.get(id)).toEqual(endpoint);
  expect(await client.delete(id)).toBeUndefined();
  expect(await rejection(client.get(id))).toBeInstanceOf(WebhookEndpointNotFoundError);
  expect(server.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /webhooks",
    "GET /webhooks",
    "GET /webhooks/wh_1",
    "DELETE /webhooks/wh_1",
    "GET /webhooks/wh_1",
  ]);
  expect(JSON.parse(server.received[0]?.body ?? "")).toEqual({ url, type, ip: "192.0.2.0/24" });
  expect(server.received.every(({ headers }) => headers["x-api-key"] === apiKey)).toBe(true);
});

test("every request has a user agent, asks for no compression, and has the key where the options say", async () => {
  const server = await serve(reply(200, endpoint));
  await server.client({ apiKeyHeader: "Authorization", apiKeyScheme: "Bearer" }).get("wh_1");
  expect(server.received[0]?.headers).toMatchObject({
    authorization: `Bearer ${apiKey}`,
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": `pulumi-webhook-endpoints/${version} node/${process.versions.node}`,
  });
  expect(server.received[0]?.headers).not.toHaveProperty("x-api-key");
});

test("requests keep the path of the base URL, and a registration sends its url exactly as written", async () => {
  const server = await serve(reply(201, endpoint));
  const url = "HTTPS://Hooks.Example.com:443/a%2fb/../c?x=ä#";
  await clientOf(`${server.baseUrl}/api/v1//`).register({ url, type: "development" });
  expect(server.received).toMatchObject([
    { path: "/api/v1/webhooks", body: JSON.stringify({ url, type: "development" }) },
  ]);
});

test("any id stays one segment of the path, and one that cannot be is refused before anything is sent", async () => {
  const ids = ["a/b", "../webhooks", "a?b#c", "%2e%2e", "ä ö", "a\r\nb", "..."];
  const server = await serve((response, received) => {
    const [, , segment = ""] = received.path.split("/");
    reply(200, { ...endpoint, id: decodeURIComponent(segment) })(response, received);
  });
  const client = server.client();
  for (const id of ids) expect(await client.get(id)).toMatchObject({ id });
  const sent = server.received.map(({ path }) => path.slice(1).split("/").map(decodeURIComponent));
  expect(sent).toEqual(ids.map((id) => ["webhooks", id]));

  for (const id of ["", ".", "..", undefined])
    for (const verb of ["get", "delete"] as const) {
      const error = await rejection(client[verb](id as string));
      const said = `Cannot ${verb} webhook endpoint ${JSON.stringify(id)}: this is not a valid id`;
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining(said) });
    }
  expect(server.received).toHaveLength(ids.length);
});

test.each<[string, Step]>([
  ["returns an endpoint with another id", reply(200, { ...endpoint, id: "wh_2" })],
  ["answers with a website", reply(200, "<html>")],
])("a get is malformed, and not a 404, if the service %s", async (_, step) => {
  const server = await serve(step);
  const error = await rejection(server.client().get("wh_1"));
  expect(error).toMatchObject({ code: "MALFORMED_RESPONSE", statusCode: 200 });
  expect(await server.client().delete("wh_1")).toBeUndefined();
});

test.each([
  ["64 by default", {}, 64],
  ["maxConcurrency", { maxConcurrency: 3 }, 3],
])("at most so many requests are under way at once: %s", async (_, options, limit) => {
  const clock = new VirtualTime();
  const service = simulateService({ clock, refuses: () => false, latencyMs: 30, random: () => 0 });
  const client = service.client(options);
  const all = Promise.all(Array.from({ length: 2 * limit }, () => client.get("wh_1")));
  await clock.pass(100);
  const times = [0, 30].flatMap((at) => Array.from({ length: limit }, () => at));
  expect(service.sentAt).toEqual(times);
  expect(await all).toHaveLength(2 * limit);
});

const long = JSON.stringify([endpoint, { ...endpoint, id: "x".repeat(10_000) }]);

test.each<[string, Step]>([
  ["announced", reply(200, long, { "content-length": String(long.length) })],
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
  const error = await rejection(server.client({ maxResponseBytes: 2_000 }).list());
  expect(error).toMatchObject({ code: "RESPONSE_TOO_LARGE", statusCode: 200 });
  expect(server.received).toHaveLength(1);
});

test("close waits for the operations under way, and later ones are not sent", async () => {
  let respond = () => {};
  const server = await serve((response, received) => {
    respond = () => reply(200, endpoint)(response, received);
  });
  const client = server.client();
  const events: string[] = [];
  const last = client.get("wh_1").finally(() => events.push("the last operation ended"));
  await server.arrived(1);
  const closed = client.close().then(() => events.push("the client closed"));
  expect(events).toEqual([]);
  respond();
  expect(await last).toEqual(endpoint);
  await closed;
  expect(events).toEqual(["the last operation ended", "the client closed"]);
  const late = await rejection(client.register(endpoint));
  expect(late).toMatchObject({ code: "UNREACHABLE", outcome: "not-made" });
  expect(String(late)).toContain("The client is destroyed");
  expect(server.received).toHaveLength(1);
});

test("close ends the client's connections, also one that does not open, so that none keeps a process alive", async () => {
  // So undici does not give up by itself, and the TLS handshake never ends.
  holdTime();
  const silent = createServer();
  const connection = once(silent, "connection");
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
});

test("close leaves a dispatcher that was given as an option usable", async () => {
  const server = await serve(reply(200, endpoint));
  const dispatcher = new Agent();
  onCleanUp(() => dispatcher.close());
  const client = server.client({ dispatcher });
  await client.get("wh_1");
  await client.close();
  expect(await server.client({ dispatcher }).get("wh_1")).toEqual(endpoint);
});
