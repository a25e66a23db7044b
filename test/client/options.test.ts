import { WebhookError, WebhooksClient, type WebhooksClientOptions } from "../../src/client";
import { resolveOptions } from "../../src/client/options";

const good: WebhooksClientOptions = { baseUrl: "https://api.example.com/v1", apiKey: "secret-key" };

/** Returns the error of the constructor for options that bypass the type checker. */
function refusal(options: Record<string, unknown>): WebhookError {
  try {
    new WebhooksClient({ ...good, ...options } as WebhooksClientOptions, { env: {} });
  } catch (error) {
    if (error instanceof WebhookError) return error;
    throw error;
  }
  throw new Error("the constructor accepted the options");
}

describe("the constructor", () => {
  test.each([
    ["baseUrl", undefined],
    ["baseUrl", 7],
    ["baseUrl", ""],
    ["baseUrl", "secret.example.com"],
    ["baseUrl", "/secret"],
    ["baseUrl", "https:secret.example.com"],
    ["baseUrl", "ftp://secret.example.com"],
    ["baseUrl", "https://secret@example.com"],
    ["baseUrl", "https://user:secret@example.com"],
    ["baseUrl", "https://example.com/?secret=1"],
    ["baseUrl", "https://example.com/#secret"],
    ["baseUrl", "https://example.com?"],
    ["baseUrl", "http://secret.example.com"],
    ["baseUrl", "http://192.168.0.1"],
    ["baseUrl", "http://0.0.0.0"],
    ["baseUrl", "http://127.0.0.1.secret.example.com"],
    ["baseUrl", "http://localhost.secret.example.com"],
    ["apiKey", undefined],
    ["apiKey", ""],
    ["apiKey", {}],
    ["apiKey", "secret\n"],
    ["apiKey", " secret"],
    ["apiKey", "sec\r\nret: 1"],
    ["apiKey", "secret\0"],
    ["apiKey", "секрет"],
    ["apiKey", "secret🔑"],
    ["apiKeyHeader", ""],
    ["apiKeyHeader", "X Secret"],
    ["apiKeyHeader", "X-Secret:"],
    ["apiKeyHeader", "Host"],
    ["apiKeyHeader", "content-length"],
    ["apiKeyHeader", "Proxy-Authorization"],
    ["apiKeyScheme", ""],
    ["apiKeyScheme", "Bearer secret"],
    ["apiKeyScheme", "Bearer\n"],
    ["timeoutMs", 0],
    ["timeoutMs", Number.NaN],
    ["timeoutMs", Number.POSITIVE_INFINITY],
    ["timeoutMs", "30"],
    ["maxRetries", -1],
    ["maxRetries", 1.5],
    ["maxConcurrency", 0],
    ["maxResponseBytes", 0],
    ["maxResponseBytes", 2 ** 40],
    ["dispatcher", {}],
    ["onWait", "secret"],
  ])(
    "the constructor refuses %s %p with an error that names the option and omits the value",
    (name, value) => {
      const error = refusal({ [name]: value });
      expect(error.code).toBe("INVALID_OPTION");
      expect(error.message).toContain(name);
      expect(error.message).not.toMatch(/secret|секрет/i);
      expect(error.cause).toBeUndefined();
    },
  );
});

test("the constructor refuses a misspelt option, which would be dropped in silence", () => {
  const error = refusal({ maxRetry: 0 });
  expect(error.code).toBe("INVALID_OPTION");
  expect(error.message).toContain("maxRetry is not an option of WebhooksClient (did you mean maxRetries?)");
  expect(() => resolveOptions({ ...good, maxRetries: undefined })).not.toThrow();
});

test.each([
  "http://localhost:1",
  "http://api.localhost",
  "http://127.1:1",
  "http://[::1]:1",
  "http://[::ffff:127.0.0.1]",
  "https://192.168.0.1",
])("resolveOptions accepts the base URL %s", (baseUrl) => {
  expect(() => resolveOptions({ ...good, baseUrl })).not.toThrow();
});

test("trailing slashes of the base URL make no difference", () => {
  const urls = [
    "https://api.example.com/v1",
    "https://api.example.com/v1/",
    "HTTPS://API.example.com:443/v1//",
  ];
  expect(new Set(urls.map((baseUrl) => resolveOptions({ ...good, baseUrl }).baseUrl.href)).size).toBe(1);
});

test("the options have the documented defaults", () => {
  expect(resolveOptions(good)).toMatchObject({
    apiKeyHeader: "X-Api-Key",
    apiKeyValue: "secret-key",
    timeoutMs: 30_000,
    maxRetries: 3,
    maxConcurrency: 64,
    maxResponseBytes: 16 * 1024 * 1024,
  });
});
