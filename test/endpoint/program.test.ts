import * as pulumi from "@pulumi/pulumi";
import { WebhookEndpoint, WebhooksProvider } from "../../src";
import { resolveSettings } from "../../src/endpoint/settings";

/** What a program passed to the engine, by the names of its resources. */
const passed = new Map<string, Readonly<Record<string, unknown>>>();

beforeAll(() =>
  pulumi.runtime.setMocks({
    newResource({ name, inputs }) {
      passed.set(name, inputs);
      return { id: `wh_${name}`, state: inputs };
    },
    call: ({ inputs }) => inputs,
  }),
);

const known = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => output.apply(resolve));

test("a WebhooksProvider passes its name to the plugin, and the environment cannot set one", async () => {
  const provider = new WebhooksProvider("staging", { baseUrl: "https://example.com", apiKey: "key" });
  await known(provider.urn);
  const { "webhooks:apiKey": _key, ...inputs } = passed.get("staging") ?? {}; // the key is a secret
  const settings = new Map(Object.entries({ ...inputs, "webhooks:apiKey": "key" }));
  const providerName = () => {
    const environment = { WEBHOOKS_PROVIDER_NAME: "other" };
    const resolved = resolveSettings((name) => settings.get(name) as string | undefined, environment);
    return "problems" in resolved ? resolved.problems : resolved.providerName;
  };
  expect(providerName()).toBe("staging");
  settings.delete("webhooks:providerName");
  expect(providerName()).toBe("");
});

test("a WebhookEndpoint passes its name to the plugin, and get does not", async () => {
  await known(new WebhookEndpoint("jobs", { url: "https://example.com", type: "production" }).urn);
  await known(WebhookEndpoint.get("read", "wh_1").urn);
  expect(passed.get("jobs")).toMatchObject({ __resourceName: "jobs" });
  expect(passed.get("read")).not.toHaveProperty("__resourceName");
});
