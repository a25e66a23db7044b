import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { getEventListeners } from "node:events";
import { type Wait, WebhookEndpointNotFoundError, WebhookError, type WebhooksClient } from "../../src/client";
import { holdTime } from "../heldTime";
import { VirtualTime } from "../provider/virtualTime";
import { simulateService } from "./simulatedService";
import {
  cleanUp,
  clientOf,
  cutShort,
  endpoint,
  hang,
  rejection,
  reply,
  reset,
  type Step,
  serve,
} from "./support";

afterEach(cleanUp);

const transient: [string, Step][] = [
  ["a reset connection", reset],
  ...[408, 429, 500, 502, 503, 504].map((status): [string, Step] => [String(status), reply(status)]),
  ["429 with Retry-After", reply(429, "", { "retry-after": "0" })],
  ["503 with Retry-After", reply(503, "", { "retry-after": "0" })],
];

test.each(transient)(
  "get, list and delete are repeated after %s, unless maxRetries is 0",
  async (_, step) => {
    const got = await serve(step, step, reply(200, endpoint));
    expect(await got.client().get("wh_1")).toEqual(endpoint);
    const listed = await serve(step, step, reply(200, [endpoint]));
    expect((await listed.client().list()).endpoints).toEqual([endpoint]);
    const deleted = await serve(step, step, reply(204));
    expect(await deleted.client().delete("wh_1")).toBeUndefined();
    const once = await serve(step, reply(200, endpoint));
    expect(await rejection(once.client({ maxRetries: 0 }).get("wh_1"))).toBeInstanceOf(WebhookError);
    expect([got, listed, deleted, once].map(({ received }) => received.length)).toEqual([3, 3, 3, 1]);
  },
);

test("a get is not repeated after a response that another attempt would get, too, and follows no redirect", async () => {
  for (const status of [301, 302, 303, 307, 308, 400, 401, 403, 404, 409, 410, 422, 501, 505]) {
    const server = await serve(reply(status, "", { location: "/webhooks/wh_1" }), reply(200, endpoint));
    expect(await rejection(server.client().get("wh_1"))).toMatchObject({ statusCode: status });
    expect(server.received).toHaveLength(1);
  }
});

const limited = reply(403, "slow down", { "retry-after": "0" });

test("every operation is repeated once after a 403 with Retry-After, and fails with UNAUTHORIZED and a word on limits after another", async () => {
  const operations: [(client: WebhooksClient) => Promise<unknown>, Step][] = [
    [(client) => client.register({ url: endpoint.url, type: "production" }), reply(201, endpoint)],
    [(client) => client.list(), reply(200, [])],
    [(client) => client.get("wh_1"), reply(200, endpoint)],
    [(client) => client.delete("wh_1"), reply(204)],
  ];
  for (const [operation, succeed] of operations) {
    const [once, twice, never] = [
      await serve(limited, succeed),
      await serve(limited, limited, succeed),
      await serve(limited, succeed),
    ];
    await operation(once.client());
    const error = await rejection(operation(twice.client()));
    expect(error).toMatchObject({ code: "UNAUTHORIZED", statusCode: 403 });
    expect(String(error)).toMatch(/refused the API key.*limits requests/);
    expect(await rejection(operation(never.client({ maxRetries: 0 })))).toMatchObject({ statusCode: 403 });
    expect([once, twice, never].map(({ received }) => received.length)).toEqual([2, 2, 1]);
  }
});

test("a 403 with Retry-After makes all requests of the client wait, and one without a readable pause none", async () => {
  const clock = new VirtualTime();
  const limits = { clock, status: 403, refuses: (index: number) => index === 0, random: () => 0 };
  const service = simulateService({ ...limits, headers: { "retry-after": "7" } });
  const client = service.client({ maxConcurrency: 1 });
  const all = Promise.all([client.get("wh_1"), client.get("wh_1")]);
  const unreadable = simulateService({ ...limits, headers: { "retry-after": "soon" } });
  const refused = rejection(unreadable.client().get("wh_1"));
  await clock.pass(60_000);
  expect(await all).toHaveLength(2);
  expect(await refused).toMatchObject({ code: "UNAUTHORIZED" });
  expect([service.sentAt, unreadable.sentAt]).toEqual([[0, 7_030, 7_060], [0]]);
});

test("an operation that keeps failing makes 1 + maxRetries attempts, calls onSend right before each, and reports the last response", async () => {
  const server = await serve(reply(500), reply(500), reply(502, "the last one"));
  const seen: number[] = [];
  const onSend = () => seen.push(server.received.length);
  const error = await rejection(server.client({ maxRetries: 2 }).list({ onSend }));
  expect(seen).toEqual([0, 1, 2]);
  expect(error).toMatchObject({ code: "SERVER_ERROR", statusCode: 502, responseText: "the last one" });
  expect(String(error)).toContain("was answered with 502 (attempt 3).");
  expect(server.received).toHaveLength(3);
});

test.each<[string, Step | undefined, boolean]>([
  ["at once", undefined, false],
  // A refused attempt cannot have worked.
  ...transient.map(([name, step]): [string, Step, boolean] => [`after ${name}`, step, !name.includes("429")]),
])(
  "whether a delete that gets 404 or 410 %s succeeds depends on whether an attempt may have worked",
  async (_, step, succeeds) => {
    for (const gone of [404, 410]) {
      const server = await (step ? serve(step, reply(gone)) : serve(reply(gone)));
      const client = server.client();
      if (succeeds) expect(await client.delete("wh_1")).toBeUndefined();
      else expect(await rejection(client.delete("wh_1"))).toBeInstanceOf(WebhookEndpointNotFoundError);
    }
  },
);

test("after a 2xx that breaks off, a delete has succeeded, and a get is repeated", async () => {
  const server = await serve(cutShort(200), cutShort(200), reply(200, endpoint));
  expect(await server.client().delete("wh_1")).toBeUndefined();
  expect(await server.client().get("wh_1")).toEqual(endpoint);
  expect(server.received).toHaveLength(3);
});

test.each<[string, Step, string]>([
  ["without a response", hang, "got no response: it took too long"],
  [
    "while a body keeps arriving",
    (response) => {
      response.writeHead(200).write(" ");
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    },
    "was answered with 200, but the response cannot be used: it took too long",
  ],
])("an operation ends at its deadline %s, and says what it was waiting for", async (_, step, said) => {
  holdTime();
  // Time passes when the request has arrived that gets no response, and with each part of a body.
  const pass = () => queueMicrotask(() => jest.advanceTimersByTime(100));
  subscribe("undici:request:bodyChunkReceived", pass);
  const server = await serve(step);
  if (step === hang) void server.arrived(1).then(() => jest.advanceTimersByTime(300));
  const error = await rejection(server.client({ timeoutMs: 300 }).list());
  unsubscribe("undici:request:bodyChunkReceived", pass);
  expect(error).toMatchObject({ code: "TIMED_OUT" });
  expect(String(error)).toContain(said);
});

test("the attempts of an operation take at most 10 s each and share its timeout", async () => {
  const clock = new VirtualTime();
  const service = simulateService({ clock, refuses: () => false, latencyMs: 60_000, random: () => 0.5 });
  const failedAt = rejection(service.client({ timeoutMs: 15_000 }).get("wh_1")).then(() => clock.now());
  await clock.pass(60_000);
  expect(service.sentAt).toEqual([0, 10_125]);
  expect(await failedAt).toBe(15_000);
});

test("waiting for a turn, and pauses that the service asks for, do not count towards the timeout", async () => {
  const clock = new VirtualTime();
  const refuses = (index: number) => index === 0;
  const headers = { "retry-after": "7" };
  const service = simulateService({ clock, refuses, headers, latencyMs: 400, random: () => 0.5 });
  const client = service.client({ timeoutMs: 1_000, maxConcurrency: 1 });
  const all = Promise.all(Array.from({ length: 14 }, () => client.get("wh_1")));
  await clock.pass(60_000);
  expect(await all).toHaveLength(14);
  expect(service.sentAt.slice(0, 3)).toEqual([0, 7_400, 7_800]);
});

const reason = new Error("the user cancelled");

test.each<[string, Step]>([
  ["while it waits for a response", hang],
  ["during a pause that the service asked for", reply(429, "", { "retry-after": "60" })],
  ["during a backoff", reply(500)],
])("an abort of an operation %s ends it at once", async (_, step) => {
  const server = await serve(step);
  const controller = new AbortController();
  const client = clientOf(server.baseUrl, { onWait: () => controller.abort(reason) });
  if (step === hang) void server.arrived(1).then(() => controller.abort(reason));
  const error = await rejection(client.get("wh_1", { signal: controller.signal }));
  expect(error).toMatchObject({ code: "ABORTED", cause: reason });
  const late = await rejection(client.get("wh_1", { signal: controller.signal }));
  expect(late).toMatchObject({ code: "ABORTED", cause: reason });
  expect(server.received).toHaveLength(1);
});

test("once a client is cancelled, a request under way goes on, and nothing is repeated or sent", async () => {
  const clock = new VirtualTime();
  const cancelling = new AbortController();
  const service = simulateService({ clock, refuses: (index) => index === 1, random: () => 0.5 });
  const client = service.client({ maxConcurrency: 2 }, cancelling.signal);
  const underWay = client.get("wh_1");
  const stopped = [rejection(client.get("wh_1")), rejection(client.list())];
  await clock.pass(10);
  cancelling.abort(reason);
  await clock.pass(10_000);
  expect(await underWay).toEqual(endpoint);
  for (const error of await Promise.all(stopped))
    expect(error).toMatchObject({ code: "ABORTED", cause: reason });
  expect(service.sentAt).toHaveLength(2);
  await client.close();
  expect(clock.pending).toBe(0);
});

test("a signal that many operations share keeps none of their listeners", async () => {
  const server = await serve(reply(200, endpoint));
  const { signal } = new AbortController();
  const client = server.client({ maxConcurrency: 8 });
  await Promise.all(Array.from({ length: 50 }, () => client.get("wh_1", { signal })));
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("onWait is called once for all requests that share a pause, which is read on the service's own clock", async () => {
  const clock = new VirtualTime();
  const headers = { date: "Thu, 01 Jan 2004 00:00:00 GMT", "retry-after": "Thu, 01 Jan 2004 00:00:01 GMT" };
  const service = simulateService({ clock, refuses: (index) => index < 3, headers, random: () => 0 });
  const waits: Wait[] = [];
  const client = service.client({ onWait: (wait) => waits.push(wait) });
  const all = Promise.all(Array.from({ length: 3 }, () => client.get("wh_1")));
  await clock.pass(60_000);
  expect(await all).toHaveLength(3);
  expect(waits).toEqual([
    { operation: "get", attempt: 1, delayMs: 1_000, code: "RATE_LIMITED", statusCode: 429 },
  ]);
});
