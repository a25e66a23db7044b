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
    ["a 200 with text", answer(200, "secret-text")],
    ["a 200 with JSON", answer(200, { "secret-text": apiKey })],
    ["a redirect", answer(302, "secret-text", { location: "/secret-text" })],
    ["a reset", reset],
  ];
  // A delete succeeds whatever the body of a 200 is.
  const failing = steps.filter(([what]) => name !== "delete" || !what.includes("200"));
  test.each(failing)(
    `an error of ${name} shows no key, path of a url or response text, however it is printed, after %s`,
    async (_, step) => {
      const server = await serve(step);
      const client = server.client({ maxRetries: 0 });
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

  test(`an error of ${name} says what failed, at which url, why, what to do, and its code`, async () => {
    const server = await serve(answer(401, "why", { date: "Thu, 01 Jan 2026 00:00:00 GMT" }));
    const error = await errorOf(operation, server.client());
    const collection = `${server.baseUrl}/webhooks`;
    const beginnings: Record<string, string> = {
      register: `Cannot register a webhook endpoint for https://hooks.example.com/… (production): POST ${collection} was`,
      list: `Cannot list the webhook endpoints: GET ${collection} was`,
      get: `Cannot get webhook endpoint "wh_1": GET ${collection}/wh_1 was`,
      delete: `Cannot delete webhook endpoint "wh_1": DELETE ${collection}/wh_1 was`,
    };
    expect(error.message.slice(0, beginnings[name]?.length)).toBe(beginnings[name]);
    expect(error.message).toMatch(/401.*API key.*X-Api-Key.*\(UNAUTHORIZED\)$/);
    expect(error).toMatchObject({
      code: "UNAUTHORIZED",
      statusCode: 401,
      responseText: "why",
      serverTime: Date.UTC(2026, 0, 1),
    });
  });

  test(`an error of ${name} without a response has a cause, and neither a status nor a response text`, async () => {
    const server = await serve(reset);
    const error = await errorOf(operation, server.client({ maxRetries: 0 }));
    expect(error).toMatchObject({ code: "CONNECTION_LOST", serverTime: null });
    expect(error).not.toHaveProperty("statusCode");
    expect(error).not.toHaveProperty("responseText");
    expect(error.cause).toMatchObject({ message: expect.any(String) });
  });
});

test("each operation throws the documented class of error, by its name", async () => {
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

test("an answer that is not HTTP is a lost connection, and no error holds its bytes", async () => {
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
