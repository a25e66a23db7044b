import { connect, createServer as createTcpServer } from "node:net";
import { Agent } from "undici";
import { type Registration, type Wait, WebhookRegistrationError } from "../../src/client";
import {
  answer,
  cleanUp,
  clientOf,
  closedPort,
  cutShort,
  endpoint,
  hang,
  listen,
  onCleanUp,
  rejection,
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

test("a misspelt field of a registration is refused before anything is sent", async () => {
  const server = await serve(answer(201, endpoint));
  const misspelt = { ...registration, IP: "192.0.2.1" };
  const error = await failure(server.client().register(misspelt));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", outcome: "not-made" });
  expect(error.message).toContain("IP is not a field of a registration (did you mean ip?)");
  expect(server.received).toEqual([]);
});

describe("a registration that may have worked", () => {
  test.each<[string, Step, string, number | undefined]>([
    ["a reset connection", reset, "CONNECTION_LOST", undefined],
    ["no answer", hang, "TIMED_OUT", undefined],
    ["303", answer(303, "", { location: "/webhooks/wh_1" }), "REDIRECTED", 303],
    ["408", answer(408), "TIMED_OUT", 408],
    ["500", answer(500, "oops"), "SERVER_ERROR", 500],
    ["502", answer(502), "SERVER_ERROR", 502],
    ["503 without Retry-After", answer(503), "SERVER_ERROR", 503],
    ["503 with an unreadable Retry-After", answer(503, "", { "retry-after": "soon" }), "SERVER_ERROR", 503],
    ["503 with Retry-After", answer(503, "", { "retry-after": "0" }), "SERVER_ERROR", 503],
    ["504", answer(504), "SERVER_ERROR", 504],
    ["501", answer(501), "SERVER_ERROR", 501],
    ["201 without a body", answer(201), "MALFORMED_RESPONSE", 201],
    ["204", answer(204), "MALFORMED_RESPONSE", 204],
    ["201 with HTML", answer(201, "<html>"), "MALFORMED_RESPONSE", 201],
    ["201 with another type", answer(201, { ...endpoint, type: "x" }), "MALFORMED_RESPONSE", 201],
    ["a 201 that breaks off", cutShort(201), "CONNECTION_LOST", 201],
    [
      "a 201 that is too long",
      answer(201, { ...endpoint, filler: "x".repeat(5_000) }),
      "RESPONSE_TOO_LARGE",
      201,
    ],
  ])("a registration is undecided, and never repeated, after %s", async (_, step, code, statusCode) => {
    const server = await serve(step);
    const error = await failure(
      server.client({ timeoutMs: 1_500, maxResponseBytes: 4_096 }).register(registration),
    );
    expect(error).toMatchObject({ outcome: "undecided", code });
    expect(error.statusCode).toBe(statusCode);
    expect(error.message).toContain("may have been registered");
    expect(server.received).toHaveLength(1);
  });
});

describe("a registration that is answered with 503 and Retry-After", () => {
  const overloaded = (retryAfter: string) => answer(503, "", { "retry-after": retryAfter });

  test.each([
    [{}, "7", 7_000],
    [{}, "0", 0],
    [{}, "3600", 60_000],
    [{ maxRetries: 0 }, "7", 7_000],
  ])(
    "with the options %j and Retry-After: %s, retryAfterMs of the error is %d",
    async (options, asked, milliseconds) => {
      const server = await serve(overloaded(asked));
      const error = await failure(server.client(options).register(registration));
      expect(error).toMatchObject({ outcome: "undecided", code: "SERVER_ERROR", retryAfterMs: milliseconds });
      expect(server.received).toHaveLength(1);
    },
  );

  test("the error of a registration has retryAfterMs even if an earlier attempt was refused for another reason", async () => {
    const server = await serve(answer(429, "", { "retry-after": "0" }), overloaded("7"));
    const error = await failure(server.client().register(registration));
    expect(error).toMatchObject({ outcome: "undecided", statusCode: 503, retryAfterMs: 7_000 });
    expect(server.received).toHaveLength(2);
  });

  test.each<[string, Step]>([
    ["503 without Retry-After", answer(503)],
    ["500 with Retry-After", answer(500, "", { "retry-after": "7" })],
    ["303 with Retry-After", answer(303, "", { "retry-after": "7" })],
    ["422 with Retry-After", answer(422, "", { "retry-after": "7" })],
    ["a reset connection", reset],
  ])("the error of a registration has no retryAfterMs after %s", async (_, step) => {
    const server = await serve(step);
    expect(await failure(server.client().register(registration))).not.toHaveProperty("retryAfterMs");
  });

  test("the list that follows, and every other request of the client, waits as long as the service asked", async () => {
    const server = await serve(overloaded("1"), answer(200, [endpoint]), answer(200, endpoint));
    const waits: Wait[] = [];
    const client = server.client({ onWait: (wait) => waits.push(wait) });
    await failure(client.register(registration));
    await Promise.all([client.list(), client.get(endpoint.id)]);
    const [sentAt = 0, ...later] = server.received.map(({ at }) => at);
    for (const at of later) expect(at - sentAt).toBeGreaterThanOrEqual(990);
    expect(waits).toEqual([
      { operation: "register", attempt: 1, delayMs: 1_000, code: "SERVER_ERROR", statusCode: 503 },
    ]);
  });
});

describe("a refused registration", () => {
  test.each<[number, string]>([
    [301, "REDIRECTED"],
    [302, "REDIRECTED"],
    [304, "REDIRECTED"],
    [307, "REDIRECTED"],
    [308, "REDIRECTED"],
    [400, "REJECTED"],
    [401, "UNAUTHORIZED"],
    [403, "UNAUTHORIZED"],
    [404, "REJECTED"],
    [409, "REJECTED"],
    [422, "REJECTED"],
  ])("a registration is not-made, and not repeated, after %d", async (statusCode, code) => {
    const server = await serve(answer(statusCode, "", { location: "/elsewhere" }));
    const error = await failure(server.client().register(registration));
    expect(error).toMatchObject({ outcome: "not-made", code, statusCode });
    expect(server.received).toHaveLength(1);
  });
});

test("a registration is not-made even if the body of the refusal breaks off", async () => {
  const server = await serve(cutShort(422));
  expect(await failure(server.client().register(registration))).toMatchObject({
    outcome: "not-made",
    statusCode: 422,
  });
});

describe("a registration that was certainly not made", () => {
  test.each<[string, Step]>([
    ["429 with Retry-After", answer(429, "", { "retry-after": "0" })],
    ["429 without Retry-After", answer(429)],
  ])("a registration is repeated, and made once, after %s", async (_, step) => {
    const server = await serve(step, step, answer(201, endpoint));
    expect(await server.client().register(registration)).toMatchObject({ id: endpoint.id });
    expect(server.received).toHaveLength(3);
  });

  test("a registration is repeated, and made once, after a refused connection", async () => {
    const server = await serve(answer(201, endpoint));
    const { dispatcher, connections } = refusedFirst(server.port, 2);
    expect(await server.client({ dispatcher }).register(registration)).toMatchObject({ id: endpoint.id });
    expect(connections()).toBe(3);
    expect(server.received).toHaveLength(1);
  });
});

/** Returns an undici agent whose first connections are refused. */
function refusedFirst(port: number, refusals: number): { dispatcher: Agent; connections: () => number } {
  let connections = 0;
  const dispatcher = new Agent({
    connect: (_, callback) => {
      connections += 1;
      if (connections <= refusals) {
        callback(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }), null);
        return;
      }
      const socket = connect(port, "127.0.0.1", () => callback(null, socket));
    },
  });
  onCleanUp(() => dispatcher.close());
  return { dispatcher, connections: () => connections };
}

describe("a registration without a connection", () => {
  test("a registration is not-made if nothing listens on the port", async () => {
    const error = await failure(clientOf(`http://127.0.0.1:${await closedPort()}`).register(registration));
    expect(error).toMatchObject({ outcome: "not-made", code: "UNREACHABLE" });
    expect(error.message).toContain("ECONNREFUSED");
    expect(error.message).toContain("attempt 4");
    expect(error).not.toHaveProperty("statusCode");
    expect(error).not.toHaveProperty("responseText");
  });

  test("a registration is not-made if the host has no address", async () => {
    const dispatcher = new Agent({
      connect: {
        lookup: (_host, _options, callback) => {
          callback(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }), []);
        },
      },
    });
    onCleanUp(() => dispatcher.close());
    const error = await failure(clientOf("https://api.example.com", { dispatcher }).register(registration));
    expect(error).toMatchObject({ outcome: "not-made", code: "UNREACHABLE" });
    expect(error.message).toContain("ENOTFOUND");
  });

  test("a registration is not-made if the server does not use TLS", async () => {
    const server = await serve(answer(201, endpoint));
    const error = await failure(clientOf(`https://127.0.0.1:${server.port}`).register(registration));
    expect(error).toMatchObject({ outcome: "not-made", code: "UNREACHABLE" });
    expect(server.received).toHaveLength(0);
  });

  test("a registration is not-made if the TLS handshake never ends", async () => {
    const port = await listen(createTcpServer());
    const error = await failure(
      clientOf(`https://127.0.0.1:${port}`, { timeoutMs: 300 }).register(registration),
    );
    expect(error).toMatchObject({ outcome: "not-made", code: "TIMED_OUT" });
  });
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
  ["that is null", null, "it takes { url, type, ip? }"],
  ["that is a url", endpoint.url, "it takes { url, type, ip? }"],
  ["without a url", { type: "production" }, "url must be a non-empty string"],
  ["with an empty url", { url: "", type: "production" }, "url must be a non-empty string"],
  ["of another type", { ...registration, type: "staging" }, 'type must be "production" or "development"'],
  ["with an empty ip", { ...registration, ip: "" }, "ip must be a non-empty string"],
  ["with a number as its ip", { ...registration, ip: 7 }, "ip must be a non-empty string"],
])("a registration %s is refused, and nothing is sent", async (_, value, problem) => {
  const server = await serve(answer(201, endpoint));
  const error = await failure(server.client().register(value as Registration));
  expect(error).toMatchObject({ outcome: "not-made", code: "INVALID_ARGUMENT" });
  expect(error.message).toContain(`Cannot register a webhook endpoint: ${problem}`);
  expect(server.received).toHaveLength(0);
});

test("a registration that timed out while connecting is not sent once the connection is open", async () => {
  const server = await serve(answer(201, endpoint));
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const dispatcher = new Agent({
    connect: (_, callback) => {
      void opened.then(() => {
        const socket = connect(server.port, "127.0.0.1", () => callback(null, socket));
      });
    },
  });
  onCleanUp(() => dispatcher.close());
  const client = server.client({ dispatcher, timeoutMs: 100 });
  const error = await failure(client.register(registration));
  expect(error).toMatchObject({ outcome: "not-made", code: "TIMED_OUT" });
  open();
  // This uses the same connection, so it arrives after anything that the registration would have sent.
  await client.list().catch(() => {});
  expect(server.received.map(({ method }) => method)).toEqual(["GET"]);
});
