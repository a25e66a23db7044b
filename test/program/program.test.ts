import * as pulumi from "@pulumi/pulumi";
import { getWebhookEndpoint, getWebhookEndpoints, WebhookEndpoint, WebhooksProvider } from "../../src";
import { resolveSettings } from "../../src/provider/settings";

/** What a program passed to the engine, by the names of its resources. */
const passed = new Map<string, Readonly<Record<string, unknown>>>();
const endpoint = {
  id: "wh_1",
  url: "https://a.example.com/",
  type: "production",
  createdAt: null,
  updatedAt: null,
};
const asked: object[] = [];

/** The engine as it is in an `up`, or in a preview. */
const mock = (isPreview: boolean) =>
  pulumi.runtime.setMocks(
    {
      newResource({ name, inputs }) {
        passed.set(name, inputs);
        return { id: `wh_${name}`, state: inputs };
      },
      call({ token, inputs }) {
        asked.push({ token, inputs });
        return token.endsWith("s") ? { endpoints: [endpoint] } : endpoint;
      },
    },
    "test",
    "dev",
    isPreview,
    "acme",
  );
beforeEach(() => mock(false));

const known = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => output.apply(resolve));
const args = { url: "https://example.com", type: "production" } as const;

describe("a WebhookEndpoint", () => {
  test("it passes what check needs and a dynamic provider cannot know, and get passes nothing", async () => {
    await known(new WebhookEndpoint("jobs", args).urn);
    await known(WebhookEndpoint.get("read", "wh_1").urn);
    expect(passed.get("jobs")).toMatchObject({
      ...{ ...args, __resourceName: "jobs", __organization: "acme", __urlIsSecret: false, __after: 0 },
      __provider: expect.stringContaining("pulumi-webhook-endpoints/provider"),
    });
    expect(Object.keys(passed.get("read") ?? {}).filter((name) => /^__(?!provider)/.test(name))).toEqual([]);
  });

  test("in a preview, the input that dates a registration is unknown, so that an update plan matches any time", async () => {
    await mock(true);
    await known(new WebhookEndpoint("previewed", args).urn);
    // The engine gets the unknown value.
    expect(passed.get("previewed")).toMatchObject({ __after: { __pulumiUnknown: true } });
  });

  test("it says of a secret url that it is one", async () => {
    await known(
      new WebhookEndpoint("secret", { ...args, url: pulumi.secret("https://example.com/t0ken") }).urn,
    );
    expect(passed.get("secret")).toMatchObject({ __urlIsSecret: true });
  });

  test.each<[string, () => unknown, RegExp]>([
    [
      "the import option",
      () => new WebhookEndpoint("jobs", args, { import: "wh_1" }),
      /"jobs".*adoptId.*import --file/,
    ],
    ["an empty id of get", () => WebhookEndpoint.get("read", ""), /the id of "read" is empty/],
    [
      "a WebhooksProvider with the name of the engine's own",
      () => new WebhooksProvider("default"),
      /^WebhooksProvider "default": the engine's own provider has this name; choose another$/,
    ],
    [
      "an option that a WebhooksProvider does not have",
      () => new WebhooksProvider("a", { apikey: "t0ken" } as object),
      /^WebhooksProvider "a": apikey is not an option/,
    ],
    [
      "an argument that getWebhookEndpoint does not have",
      () => getWebhookEndpoint({ id: "x", uri: "t0ken" } as never),
      /uri is not an argument/,
    ],
    [
      "an argument and an option that getWebhookEndpoints does not have",
      () => getWebhookEndpoints({ typ: "t0ken" } as object, { Provider: "t0ken" } as object),
      /typ is not an argument.*Provider is not an option/,
    ],
  ])("%s is refused at once, by an error that the engine prints without a stack", (_, use, message) => {
    expect(use).toThrow(pulumi.RunError);
    expect(use).toThrow(message);
    expect(use).not.toThrow(/t0ken/);
  });

  test("it warns of deletedWith, and once of an API key in plain text", async () => {
    const warn = jest.spyOn(pulumi.log, "warn").mockResolvedValue();
    try {
      const other = new WebhookEndpoint("other", args);
      expect(warn).not.toHaveBeenCalled();
      new WebhookEndpoint("tied", args, { deletedWith: other });
      expect(warn.mock.calls).toEqual([
        [expect.stringMatching(/"tied": .*stays at the service/), expect.anything()],
      ]);
      warn.mockClear();
      pulumi.runtime.setAllConfig({ "webhooks:apiKey": "k3y" }, ["webhooks:apiKey"]);
      new WebhookEndpoint("encrypted", args);
      expect(warn).not.toHaveBeenCalled();
      pulumi.runtime.setAllConfig({ "webhooks:apiKey": "k3y" });
      for (const name of ["plain", "again"]) new WebhookEndpoint(name, args);
      expect(warn.mock.calls).toEqual([[expect.stringMatching(/plain text.*--secret webhooks:apiKey/)]]);
    } finally {
      warn.mockRestore();
      pulumi.runtime.setAllConfig({});
    }
  });
});

test("a WebhooksProvider passes its settings as strings, its key as a secret, and its name, which the environment cannot set", async () => {
  const settings = { baseUrl: "https://example.com", apiKey: "key", timeoutSeconds: 7 };
  const provider = new WebhooksProvider("staging", settings);
  await known(provider.urn);
  expect(await pulumi.isSecret(pulumi.output(provider.programSettings["webhooks:apiKey"]))).toBe(true);
  const { "webhooks:apiKey": _key, ...inputs } = passed.get("staging") ?? {}; // the mocks wrap secrets
  const values = new Map<string, unknown>(Object.entries({ ...inputs, "webhooks:apiKey": "key" }));
  const resolved = () =>
    resolveSettings((name) => values.get(name) as string | undefined, { WEBHOOKS_PROVIDER_NAME: "other" });
  expect(resolved()).toMatchObject({ providerName: "staging", settings });
  values.delete("webhooks:providerName");
  expect(resolved()).toMatchObject({ providerName: "" });
});

test("in a unit test with mocks, queries ask the mocks, as the functions of other packages do, and no service", async () => {
  asked.length = 0;
  expect(await known(getWebhookEndpoint({ id: "wh_1" }))).toEqual(endpoint);
  expect(await known(getWebhookEndpoints({ type: "production" }))).toEqual([endpoint]);
  expect(asked).toEqual([
    { token: "webhooks:index:getWebhookEndpoint", inputs: { id: "wh_1" } },
    { token: "webhooks:index:getWebhookEndpoints", inputs: { type: "production" } },
  ]);
});
