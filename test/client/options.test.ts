import { Agent } from "node:https";
import { WebhookError, WebhooksClient, type WebhooksClientOptions } from "../../src/client";
import { connectionProblems, resolveOptions } from "../../src/client/options";

const good: WebhooksClientOptions = { baseUrl: "https://api.example.com/v1", apiKey: "secret-key" };

/** Returns the error of the constructor for options that bypass the type checker. */
function refusal(options: Record<string, unknown>): WebhookError {
  try {
    new WebhooksClient({ ...good, ...options } as WebhooksClientOptions);
  } catch (error) {
    if (error instanceof WebhookError) return error;
    throw error;
  }
  throw new Error("the constructor accepted the options");
}

test.each<[string, unknown[]]>([
  ["baseUrl", [undefined, "", "secret.example.com", "https:secret.example.com", "ftp://secret.example.com"]],
  [
    "baseUrl",
    ["https://user:secret@example.com", "https://example.com/?secret=1", "https://example.com/#secret"],
  ],
  ["baseUrl", ["http://secret.example.com", "http://192.168.0.1", "http://127.0.0.1.secret.example.com"]],
  ["baseUrl", ["http://localhost.secret.example.com"]],
  ["apiKey", [undefined, "", "secret\n", " secret", "sec\r\nret: 1", "секрет"]],
  ["apiKeyHeader", ["", "X Secret"]],
  ["apiKeyScheme", ["", "Bearer secret"]],
  ["timeoutMs", [0, Number.NaN]],
  ["maxRetries", [-1]],
  ["maxConcurrency", [0]],
  ["maxResponseBytes", [0]],
  ["dispatcher", [new Agent(), {}]],
])(
  "the constructor refuses each %s of %j with an error that names the option and omits the value",
  (name, values) => {
    for (const value of values) {
      const error = refusal({ [name]: value });
      expect(error.code).toBe("INVALID_OPTION");
      expect(error.message).toContain(`Cannot create a webhooks client: ${name} must`);
      expect(error.message).not.toMatch(/secret|секрет/i);
    }
  },
);

test.each([
  "http://localhost:1",
  "http://api.localhost",
  "http://127.1:1",
  "http://[::1]:1",
  "https://192.168.0.1",
])("the base URL %s is accepted", (baseUrl) => expect(connectionProblems({ ...good, baseUrl })).toEqual([]));

test("the options have the documented defaults, also where they are undefined", () => {
  expect(resolveOptions({ ...good, maxRetries: undefined })).toMatchObject({
    apiKeyHeader: "X-Api-Key",
    apiKeyValue: "secret-key",
    timeoutMs: 30_000,
    maxRetries: 3,
    maxConcurrency: 64,
    maxResponseBytes: 16 * 1024 * 1024,
  });
});
