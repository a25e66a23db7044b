import { createServer } from "node:net";
import { inspect } from "node:util";
import {
  WebhookEndpointNotFoundError,
  WebhookError,
  WebhookRegistrationError,
  type WebhooksClient,
} from "../../src/client";
import {
  answer,
  apiKey,
  cleanUp,
  clientOf,
  endpoint,
  listen,
  rejection,
  reset,
  type Step,
  serve,
} from "./support";

afterEach(cleanUp);

type Operation = (client: WebhooksClient) => Promise<unknown>;
const operations: Record<string, Operation> = {
  register: (client) => client.register({ url: endpoint.url, type: "production", ip: "192.0.2.1" }),
  list: (client) => client.list(),
  get: (client) => client.get("wh_1"),
  delete: (client) => client.delete("wh_1"),
};

async function errorOf(operation: Operation, client: WebhooksClient): Promise<WebhookError> {
  const error = await rejection(operation(client));
  expect(error).toBeInstanceOf(WebhookError);
  return error as WebhookError;
}

describe.each(Object.entries(operations))("an error of %s", (name, operation) => {
  const steps: [string, Step][] = [
    ["401", answer(401, { error: `bad key ${apiKey} secret-text` })],
    ["404", answer(404, "secret-text")],
    ["429", answer(429, "secret-text")],
    ["500", answer(500, "secret-text")],
    ["200 with text", answer(200, "secret-text")],
    ["200 with JSON", answer(200, { "secret-text": apiKey })],
    ["a redirect", answer(302, "secret-text", { location: "/secret-text" })],
    ["a reset", reset],
  ];
  test.each(steps)(
    "shows no key, no path of a url and no response text, however it is printed: %s",
    async (_, step) => {
      const server = await serve(step);
      const client = server.client({ maxRetries: 0 });
      // The answer to a delete is nothing, so that a 200 with anything else is no error.
      if (name === "delete" && /^200/.test(_)) return;
      const error = await errorOf(operation, client);
      const shown = [
        error.message,
        error.stack,
        JSON.stringify(error),
        inspect(error, { depth: 9 }),
        inspect(client, { depth: 9 }),
      ];
      expect(shown.join("\n")).not.toMatch(new RegExp(`${apiKey}|secret-text|secret-path|secret-token`));
      expect(Object.keys(error)).not.toContain("responseText");
    },
  );

  test("says what was being done, where, what came back, and its code", async () => {
    const server = await serve(answer(401, "why", { date: "Thu, 01 Jan 2026 00:00:00 GMT" }));
    const error = await errorOf(operation, server.client());
    const what = {
      register: "https://hooks.example.com (production)",
      list: "webhook endpoints",
      get: '"wh_1"',
      delete: '"wh_1"',
    };
    expect(error.message).toContain(what[name as keyof typeof what]);
    expect(error.message).toContain(`${server.baseUrl}/webhooks`);
    expect(error.message).toMatch(/401.*API key.*X-Api-Key.*\(UNAUTHORIZED\)$/);
    expect(error).toMatchObject({
      code: "UNAUTHORIZED",
      statusCode: 401,
      responseText: "why",
      serverTime: Date.UTC(2026, 0, 1),
    });
  });

  test("without a response has neither status nor text, but the cause", async () => {
    const server = await serve(reset);
    const error = await errorOf(operation, server.client({ maxRetries: 0 }));
    expect(error).toMatchObject({ code: "CONNECTION_LOST", serverTime: null });
    expect(error).not.toHaveProperty("statusCode");
    expect(error).not.toHaveProperty("responseText");
    expect(error.cause).toMatchObject({ message: expect.any(String) });
  });
});

test("each class has its name, and is a WebhookError", async () => {
  const server = await serve(answer(404));
  const names: Record<string, [string, unknown]> = {
    register: ["WebhookRegistrationError", WebhookRegistrationError],
    list: ["WebhookError", WebhookError],
    get: ["WebhookEndpointNotFoundError", WebhookEndpointNotFoundError],
    delete: ["WebhookEndpointNotFoundError", WebhookEndpointNotFoundError],
  };
  for (const [operation, send] of Object.entries(operations)) {
    const error = await errorOf(send, server.client());
    expect([error.name, error.constructor]).toEqual(names[operation]);
  }
});

test("an answer that is no HTTP is a lost connection, and its bytes are on no error", async () => {
  const port = await listen(
    createServer((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nbad header secret-text\r\n\r\n")),
    ),
  );
  const error = await errorOf(
    (client) => client.list(),
    clientOf(`http://127.0.0.1:${port}`, { maxRetries: 0 }),
  );
  expect(error.code).toBe("CONNECTION_LOST");
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("secret-text");
});

test("a webhook's url that cannot be read is not shown at all", async () => {
  const server = await serve(answer(422));
  for (const url of [
    "not a url with secret-token",
    "https://user:secret-token@hooks.example.com/",
    "mailto:secret-token",
  ]) {
    const error = await errorOf((client) => client.register({ url, type: "production" }), server.client());
    expect(error.message).not.toContain("secret-token");
  }
});
