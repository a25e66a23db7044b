import { inspect } from "node:util";
import {
  WebhookEndpointNotFoundError,
  WebhookError,
  WebhookRegistrationError,
  type WebhooksClient,
} from "../../src/client";
import { apiKey, cleanUp, endpoint, rejection, reply, reset, type Step, serve } from "./support";

afterEach(cleanUp);

type Operation = (client: WebhooksClient) => Promise<unknown>;
const operations: Record<string, Operation> = {
  register: (client) => client.register({ url: endpoint.url, type: "production", ip: "192.0.2.1" }),
  list: (client) => client.list(),
  get: (client) => client.get("wh_1"),
  delete: (client) => client.delete("wh_1"),
};

/** What the error of an operation begins with, and its class if the service answers 404. */
const described: Record<string, [beginning: string, documented: { readonly name: string }]> = {
  register: [
    "Cannot register a webhook endpoint for https://hooks.example.com/… (production): POST /webhooks",
    WebhookRegistrationError,
  ],
  list: ["Cannot list the webhook endpoints: GET /webhooks", WebhookError],
  get: [`Cannot get webhook endpoint "wh_1": GET /webhooks/wh_1`, WebhookEndpointNotFoundError],
  delete: [`Cannot delete webhook endpoint "wh_1": DELETE /webhooks/wh_1`, WebhookEndpointNotFoundError],
};

async function errorOf(operation: Operation, client: WebhooksClient): Promise<WebhookError> {
  const error = await rejection(operation(client));
  expect(error).toBeInstanceOf(WebhookError);
  return error as WebhookError;
}

describe.each(Object.entries(operations))("an error of %s", (name, operation) => {
  const steps: [string, Step][] = [
    ["401", reply(401, { error: `bad key ${apiKey} secret-text` })],
    ["404", reply(404, "secret-text")],
    ["429", reply(429, "secret-text")],
    ["500", reply(500, "secret-text")],
    ["a 200 with text", reply(200, "secret-text")],
    ["a 200 with JSON", reply(200, { "secret-text": apiKey })],
    ["a redirect", reply(302, "secret-text", { location: "/secret-text" })],
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
      const inspected = [error, client].map((each) => inspect(each, { depth: 9 }));
      const shown = [error.message, error.stack, JSON.stringify(error), ...inspected];
      expect(shown.join("\n")).not.toMatch(new RegExp(`${apiKey}|secret-text|secret-path|secret-token`));
      expect(Object.keys(error)).not.toContain("responseText");
    },
  );

  test(`an error of ${name} says what failed, at which url, why, what to do, its code, and is of its own class`, async () => {
    const server = await serve(reply(401, "why"), reply(404));
    const client = server.client();
    const error = await errorOf(operation, client);
    const [beginning, documented] = described[name] ?? [];
    expect(error.message.replace(server.baseUrl, "")).toContain(`${beginning} was`);
    expect(error.message).toMatch(/401.*API key.*X-Api-Key.*\(UNAUTHORIZED\)$/);
    expect(error).toMatchObject({ code: "UNAUTHORIZED", statusCode: 401, responseText: "why" });
    const notFound = await errorOf(operation, client);
    expect([notFound.name, notFound.constructor]).toEqual([documented?.name, documented]);
  });

  test(`an error of ${name} without a response has a cause, no status or text, and no byte of what is not HTTP`, async () => {
    const noHttp: Step = (response) =>
      response.socket?.end("HTTP/1.1 200 OK\r\nbad header secret-text\r\n\r\n");
    const server = await serve(reset, noHttp);
    for (const _ of [reset, noHttp]) {
      const error = await errorOf(operation, server.client({ maxRetries: 0 }));
      expect(error).toMatchObject({ code: "CONNECTION_LOST" });
      expect(error).not.toHaveProperty("statusCode");
      expect(error).not.toHaveProperty("responseText");
      expect(error.cause).toMatchObject({ message: expect.any(String) });
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("secret-text");
    }
  });
});

test("a list that gets 404 says that the base URL has no webhooks API", async () => {
  const server = await serve(reply(404));
  await expect(server.client().list()).rejects.toThrow(
    /There is no webhooks API at this base URL: .*\(REJECTED\)/,
  );
});
