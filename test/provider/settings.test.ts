import { resolveSettings, SETTING_NAMES, type SettingName } from "../../src/provider/settings";
import { originOf } from "../../src/provider/state";

const needed = { "webhooks:baseUrl": "https://api.example.com", "webhooks:apiKey": "k3y" };
const resolve = (configuration: Record<string, string>, environment: NodeJS.ProcessEnv = {}) =>
  resolveSettings((key) => configuration[key], environment);
const problemsOf = (more: Record<string, string>) => {
  const resolved = resolve({ ...needed, ...more });
  return "problems" in resolved ? resolved.problems.join("\n") : "";
};
const places = (name: string) => {
  const variable = `WEBHOOKS_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
  return new RegExp(
    `pulumi config set (--secret )?webhooks:${name} .*${variable}.*${name} of a WebhooksProvider`,
  );
};

test("settings come from the configuration first, then from the environment, then from the defaults", () => {
  const environment = {
    WEBHOOKS_BASE_URL: "https://environment.example.com",
    WEBHOOKS_API_KEY: "environment",
    WEBHOOKS_API_KEY_SCHEME: "Bearer",
  };
  expect(resolve({ "webhooks:apiKey": "k3y", "webhooks:baseUrl": "" }, environment)).toEqual({
    settings: {
      baseUrl: environment.WEBHOOKS_BASE_URL,
      apiKey: "k3y",
      apiKeyScheme: "Bearer",
      timeoutMs: 30_000,
    },
    showResponses: false,
    ifExists: "fail",
    providerName: "",
  });
});

/** A value of each setting that is not its default. */
const OTHERS: Readonly<Record<SettingName, string>> = {
  baseUrl: "https://other.example.com",
  apiKey: "another",
  apiKeyHeader: "X-Key",
  apiKeyScheme: "Bearer",
  timeoutSeconds: "5",
  showResponses: "true",
  ifExists: "adopt",
};

test.each(SETTING_NAMES)("the setting %s reaches what reads the settings", (name) => {
  const resolved = resolve({ ...needed, [`webhooks:${name}`]: OTHERS[name] });
  expect(resolved).not.toHaveProperty("problems");
  expect(resolved).not.toEqual(resolve(needed));
});

test.each<[string, string, string, RegExp]>([
  ["no base URL", "baseUrl", "", /base URL is missing.*another process.*process\.env/],
  ["no API key", "apiKey", "", /API key is missing.*--secret.*another process.*process\.env/],
  ["a relative base URL", "baseUrl", "example.com", /baseUrl must be an absolute URL/],
  ["plain http to another host", "baseUrl", "http://example.com", /baseUrl must begin with "https:/],
  ["a base URL with a password", "baseUrl", "https://u:k3y@example.com", /user name or password/],
  [
    "a base URL that ends in /webhooks",
    "baseUrl",
    "https://example.com/v1/webhooks/",
    /must not end in .webhooks/,
  ],
  ["a key with a line break", "apiKey", "k3y\nx", /apiKey must be .*printable ASCII/],
  ["a header that is none", "apiKeyHeader", "X Key", /apiKeyHeader must name a header/],
  ["a scheme of two words", "apiKeyScheme", "Bearer x", /apiKeyScheme must be one word/],
  ["another word for yes", "showResponses", "yes", /showResponses must be true or false/],
  ["another word for adopt", "ifExists", "take", /ifExists must be fail, adopt or register/],
  ["a timeout of 0", "timeoutSeconds", "0", /timeoutSeconds must be a number of seconds/],
  ["a timeout that is not a number", "timeoutSeconds", "soon", /timeoutSeconds must be a number of seconds/],
])("%s is refused with every place to set it, and without a key", (_, name, value, problem) => {
  const problems = problemsOf({ [`webhooks:${name}`]: value });
  expect(problems).toMatch(problem);
  expect(problems).toMatch(places(name));
  expect(problems).not.toContain("k3y");
});

test("an origin tells base URLs and keys apart, whatever the spelling of the URL, and does not hold the key", () => {
  const of = (baseUrl: string, apiKey: string, providerName = "") =>
    originOf({ baseUrl, apiKey, providerName });
  const origin = of("https://API.example.com/v1/", "k3y");
  expect(origin).toEqual(of("https://api.example.com/v1", "k3y"));
  expect(origin).toEqual({
    baseUrl: "https://api.example.com/v1",
    account: expect.stringMatching(/^[0-9a-f]{6}$/),
  });
  expect(of("https://api.example.com/v1", "another").account).not.toBe(origin.account);
  expect(of("https://api.example.com/v1", "k3y", "staging")).toEqual({ ...origin, provider: "staging" });
});
