import { connect, createServer as createTcpServer } from "node:net";
import { Agent } from "undici";
import {
  type Registration,
  type Wait,
  WebhookRegistrationError,
  WebhooksClient,
  type WebhooksClientOptions,
} from "../../src/client";
import { holdTime } from "../heldTime";
import { deferred } from "../receiver/support";
import {
  apiKey,
  cleanUp,
  clientOf,
  cutShort,
  endpoint,
  hang,
  listen,
  onCleanUp,
  rejection,
  reply,
  reset,
  type Step,
  serve,
} from "./support";

afterEach(cleanUp);

const registration: Registration = { url: endpoint.url, type: endpoint.type };

async function failure(promise: Promise<unknown>): Promise<WebhookRegistrationError> {
  const error = await rejection(promise);
  expect(error).toBeInstanceOf(WebhookRegistrationError);
  return error as WebhookRegistrationError;
}

test.each<[string, Step, string, number | undefined]>([
  ["a reset connection", reset, "CONNECTION_LOST", undefined],
  ["no response", hang, "TIMED_OUT", undefined],
  ["303", reply(303, "", { location: "/webhooks/wh_1" }), "REDIRECTED", 303],
  ["408", reply(408), "TIMED_OUT", 408],
  ...[500, 501, 502, 503, 504].map((status): [string, Step, string, number] => [
    String(status),
    reply(status, "oops", { "retry-after": "0" }),
    "SERVER_ERROR",
    status,
  ]),
  ["201 without a body", reply(201), "MALFORMED_RESPONSE", 201],
  ["201 with HTML", reply(201, "<html>"), "MALFORMED_RESPONSE", 201],
  ["201 with another type", reply(201, { ...endpoint, type: "x" }), "MALFORMED_RESPONSE", 201],
  ["a 201 that breaks off", cutShort(201), "CONNECTION_LOST", 201],
  ["a 201 that is too long", reply(201, " ".repeat(5_000)), "RESPONSE_TOO_LARGE", 201],
])("a registration is undecided, and never repeated, after %s", async (_, step, code, statusCode) => {
  holdTime();
  const server = await serve(step);
  const client = server.client({ maxResponseBytes: 4_096 });
  if (step === hang) void server.arrived(1).then(() => jest.advanceTimersByTime(10_000));
  const error = await failure(client.register(registration));
  expect(error).toMatchObject({ outcome: "undecided", code });
  expect(error.statusCode).toBe(statusCode);
  expect(error.message).toContain("may have been registered anyway: list the endpoints");
  expect(error.message).not.toContain("Try again");
  expect(server.received).toHaveLength(1);
});

test.each<[string, number[], Partial<WebhooksClientOptions>]>([
  ["REDIRECTED", [301, 304, 307], {}],
  ["UNAUTHORIZED", [401], {}],
  ["UNAUTHORIZED", [403], { maxRetries: 0 }],
  ["REJECTED", [400, 404, 409, 410, 422], {}],
  ["RATE_LIMITED", [429], { maxRetries: 0 }],
])("a registration is not-made, not repeated, and %s after each of %j", async (code, statuses, options) => {
  for (const statusCode of statuses) {
    const server = await serve(reply(statusCode, "why", { "retry-after": "0" }));
    const error = await failure(server.client(options).register(registration));
    expect(error).toMatchObject({ outcome: "not-made", code, statusCode });
    expect(error.message).not.toContain("may have been registered");
    expect(server.received).toHaveLength(1);
  }
});

test("a registration is not-made, and repeated, while no connection can be opened", async () => {
  const waits: Wait[] = [];
  const client = clientOf("http://127.0.0.1:1", { onWait: (wait) => waits.push(wait) });
  const error = await failure(client.register(registration));
  expect(error).toMatchObject({ outcome: "not-made", code: "UNREACHABLE" });
  expect(error.message).toMatch(/: ECONNREFUSED \(attempt 4\)\. Nothing was sent, so/);
  expect(waits.map(({ attempt, code }) => [attempt, code])).toEqual(
    [1, 2, 3].map((attempt) => [attempt, "UNREACHABLE"]),
  );
});

test("a registration is not-made if TLS fails, or never ends", async () => {
  const plain = await serve(reply(201, endpoint));
  const silent = await listen(createTcpServer());
  for (const [port, code, options] of [
    [plain.port, "UNREACHABLE", {}],
    [silent, "TIMED_OUT", { timeoutMs: 300 }],
  ] as const) {
    const client = clientOf(`https://127.0.0.1:${port}`, options);
    expect(await failure(client.register(registration))).toMatchObject({ outcome: "not-made", code });
  }
  expect(plain.received).toHaveLength(0);
});

test("a registration that is aborted is not-made before it is sent, and undecided after that", async () => {
  const server = await serve(hang);
  const client = server.client({ maxConcurrency: 1 });
  const [first, second] = [new AbortController(), new AbortController()];
  const sent = failure(client.register(registration, { signal: first.signal }));
  const queued = failure(client.register(registration, { signal: second.signal }));
  await server.arrived(1);
  second.abort();
  expect(await queued).toMatchObject({ outcome: "not-made", code: "ABORTED" });
  first.abort(new Error("enough"));
  expect(await sent).toMatchObject({ outcome: "undecided", code: "ABORTED", cause: new Error("enough") });
  expect(server.received).toHaveLength(1);
});

test.each([
  ["TIMED_OUT", 100],
  ["ABORTED", 10_000],
])(
  "a registration that is %s while it connects is not sent once the connection is open",
  async (code, timeoutMs) => {
    const cancelling = new AbortController();
    const server = await serve(reply(201, endpoint));
    const opened = deferred();
    const dispatcher = new Agent({
      connect: (_, callback) => {
        if (code === "ABORTED") {
          cancelling.abort();
          opened.resolve();
        }
        void opened.promise.then(() => {
          const socket = connect(server.port, "127.0.0.1", () => callback(null, socket));
        });
      },
    });
    onCleanUp(() => dispatcher.close());
    const options = { baseUrl: server.baseUrl, apiKey, dispatcher, timeoutMs };
    const client = new WebhooksClient(options, { cancelled: cancelling.signal });
    expect(await failure(client.register(registration))).toMatchObject({ outcome: "not-made", code });
    opened.resolve();
    // This uses the same connection, so it arrives after anything that the registration would have sent.
    await rejection(server.client({ dispatcher }).list());
    expect(server.received.map(({ method }) => method)).toEqual(["GET"]);
  },
);
