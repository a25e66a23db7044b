import * as pulumi from "@pulumi/pulumi";
import {
  getWebhookEndpoint,
  getWebhookEndpoints,
  ReceiverValidation,
  WebhookEndpoint,
  WebhooksProvider,
} from "../../src";
import { resolveSettings } from "../../src/provider/settings";
import { TYPE_TOKEN } from "../../src/shared/permanent";

/** What a program passed to the engine, by the names of its resources. */
const passed = new Map<string, Readonly<Record<string, unknown>>>();
const asked: object[] = [];
const endpoint = { id: "wh_1", url: "https://a.example.com/", type: "production", createdAt: null };

/** The engine as it is in an `up`, or in a preview. */
function mock({ isPreview = false } = {}): Promise<void> {
  const mocks: pulumi.runtime.Mocks = {
    newResource({ name, inputs }) {
      passed.set(name, inputs);
      return { id: `wh_${name}`, state: inputs };
    },
    call({ token, inputs }) {
      asked.push({ token, inputs });
      return token.endsWith("s") ? { endpoints: [endpoint] } : endpoint;
    },
  };
  return pulumi.runtime.setMocks(mocks, "test", "dev", isPreview, "acme");
}
beforeEach(() => mock());

const known = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => output.apply(resolve));
const args = { url: "https://example.com", type: "production" } as const;

test("a WebhookEndpoint passes what check needs and a dynamic provider cannot know, and get passes nothing", async () => {
  await known(new WebhookEndpoint("jobs", args).urn);
  await known(
    new WebhookEndpoint("secret", { ...args, url: pulumi.secret("https://example.com/t0ken") }).urn,
  );
  await known(WebhookEndpoint.get("read", "wh_1").urn);
  expect(passed.get("jobs")).toMatchObject({
    ...{
      ...args,
      __urn: `urn:pulumi:dev::test::${TYPE_TOKEN}::jobs`,
      __organization: "acme",
      __urlIsSecret: false,
      __after: 0,
    },
    __provider: expect.stringContaining("pulumi-webhook-endpoints/provider"),
  });
  expect(passed.get("secret")).toMatchObject({ __urlIsSecret: true });
  expect(Object.keys(passed.get("read") ?? {}).filter((name) => /^__(?!provider)/.test(name))).toEqual([]);
  // In a preview, what dates a registration is unknown, so that an update plan matches any time.
  await mock({ isPreview: true });
  await known(new WebhookEndpoint("previewed", args).urn);
  expect(passed.get("previewed")).toMatchObject({ __after: { __pulumiUnknown: true } });
});

test.each<[RegExp, () => unknown]>([
  [/"jobs".*adoptId.*import --file/, () => new WebhookEndpoint("jobs", args, { import: "wh_1" })],
  [/the id of "read" is empty/, () => WebhookEndpoint.get("read", "")],
  [
    /^WebhooksProvider "default": the engine's own provider has this name/,
    () => new WebhooksProvider("default"),
  ],
  [/^WebhooksProvider "a": apikey is not/, () => new WebhooksProvider("a", { apikey: "t0ken" } as object)],
  [/uri is not an argument/, () => getWebhookEndpoint({ id: "x", uri: "t0ken" } as never)],
  [/typ is not an argument/, () => getWebhookEndpoints({ typ: "t0ken" } as object)],
  [/Provider is not an option/, () => getWebhookEndpoints({}, { Provider: "t0ken" } as object)],
])("%s is an error at once, which the engine prints without a stack and a value", (message, use) => {
  expect(use).toThrow(pulumi.RunError);
  expect(use).toThrow(message);
  expect(use).not.toThrow(/t0ken/);
});

test("isInstance tells a resource from another and from anything else", async () => {
  const { url } = args;
  const endpoint = new WebhookEndpoint("told", args);
  const validation = new ReceiverValidation("told", {
    url,
    secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  });
  const provider = new WebhooksProvider("told");
  const all = [endpoint, validation, provider, undefined, null, "a string", {}, { __pulumiType: "other" }];
  expect(all.filter(WebhookEndpoint.isInstance)).toEqual([endpoint]);
  expect(all.filter(ReceiverValidation.isInstance)).toEqual([validation]);
});

test("a WebhookEndpoint warns of deletedWith, and not of an API key that is encrypted", async () => {
  const warn = jest.spyOn(pulumi.log, "warn").mockResolvedValue();
  pulumi.runtime.setAllConfig({ "webhooks:apiKey": "k3y" }, ["webhooks:apiKey"]);
  try {
    const deletedWith = new WebhookEndpoint("encrypted", args);
    expect(warn).not.toHaveBeenCalled();
    new WebhookEndpoint("tied", args, { deletedWith });
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/"tied": .*stays at the service/), expect.anything()],
    ]);
  } finally {
    warn.mockRestore();
    pulumi.runtime.setAllConfig({});
  }
});

test("each program of a process is warned once of an API key in plain text, by whichever copy of the package", async () => {
  const warnings: string[] = [];
  /** Loads the package and the SDK again, as npm and pnpm do where two versions of the SDK are installed. */
  const load = (): typeof import("../../src") => {
    let copy: typeof import("../../src") | undefined;
    jest.isolateModules(() => {
      const { log }: typeof pulumi = require("@pulumi/pulumi");
      jest.spyOn(log, "warn").mockImplementation(async (message) => void warnings.push(message));
      copy = require("../../src");
    });
    if (copy === undefined) throw new Error("the package was not loaded");
    return copy;
  };
  const copies = [load(), load()];
  expect(copies[0]?.WebhookEndpoint).not.toBe(copies[1]?.WebhookEndpoint);
  pulumi.runtime.setAllConfig({ "webhooks:apiKey": "k3y" });
  try {
    for (const stack of ["acme", "globex"]) {
      await pulumi.runtime.runInPulumiStack(async () => {
        for (const name of ["one", "two"])
          for (const copy of copies) new copy.WebhookEndpoint(`${stack}-${name}`, args);
      });
      expect(warnings).toEqual([expect.stringMatching(/plain text.*--secret webhooks:apiKey/)]);
      warnings.length = 0;
    }
  } finally {
    pulumi.runtime.setAllConfig({});
  }
});

test("a WebhooksProvider passes its settings as strings, its key as a secret, and its name, which the environment cannot set", async () => {
  const service = { baseUrl: "https://example.com", apiKey: "key" };
  const provider = new WebhooksProvider("staging", { ...service, timeoutSeconds: 7 });
  await known(provider.urn);
  expect(await pulumi.isSecret(pulumi.output(provider.programSettings["webhooks:apiKey"]))).toBe(true);
  const { "webhooks:apiKey": _key, ...inputs } = passed.get("staging") ?? {}; // the mocks wrap secrets
  const values = new Map<string, unknown>(Object.entries({ ...inputs, "webhooks:apiKey": "key" }));
  const resolved = () =>
    resolveSettings((name) => values.get(name) as string | undefined, { WEBHOOKS_PROVIDER_NAME: "other" });
  const settings = { ...service, timeoutMs: 7_000 };
  expect(resolved()).toMatchObject({ providerName: "staging", settings });
  values.delete("webhooks:providerName");
  expect(resolved()).toMatchObject({ providerName: "" });
});

test("in a unit test with mocks, queries ask the mocks, as the functions of other packages do, and no service", async () => {
  expect(await known(getWebhookEndpoint({ id: "wh_1" }))).toEqual(endpoint);
  expect(await known(getWebhookEndpoints({ type: "production" }))).toEqual([endpoint]);
  expect(asked).toEqual([
    { token: "webhooks:index:getWebhookEndpoint", inputs: { id: "wh_1" } },
    { token: "webhooks:index:getWebhookEndpoints", inputs: { type: "production" } },
  ]);
});

test("the result of a query is always secret, and unsecret shows it", async () => {
  const [one, all] = [getWebhookEndpoint({ id: "wh_1" }), getWebhookEndpoints()];
  for (const output of [one, one.type, all, all.apply(({ length }) => length)] as pulumi.Output<unknown>[]) {
    expect(await pulumi.isSecret(output)).toBe(true);
    expect(await pulumi.isSecret(pulumi.unsecret(output))).toBe(false);
  }
});
