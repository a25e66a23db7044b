import * as pulumi from "@pulumi/pulumi";
import {
  getWebhookEndpoint,
  getWebhookEndpoints,
  receiverConfig,
  WebhookEndpoint,
  WebhooksProvider,
} from "../../src";
import { resolveSettings } from "../../src/provider/settings";

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

const misspelt: [name: string, use: () => unknown, message: RegExp][] = [
  [
    "a WebhooksProvider with the name of the engine's own",
    () => new WebhooksProvider("default", {}),
    /^WebhooksProvider "default": the engine's own provider has this name; choose another$/,
  ],
  [
    "WebhooksProvider",
    () => new WebhooksProvider("a", { apikey: "t0ken" } as object),
    /^WebhooksProvider "a": apikey is not an option.*did you mean apiKey\?\)$/,
  ],
  [
    "getWebhookEndpoint",
    () => getWebhookEndpoint({ id: "x", uri: "t0ken" } as never),
    /uri is not an argument.*use id$/,
  ],
  [
    "getWebhookEndpoints",
    () => getWebhookEndpoints({ typ: "t0ken" } as object, { Provider: "t0ken" } as object),
    /typ is not an argument.*did you mean type\?\); Provider is not an option.*did you mean provider\?\)$/,
  ],
  [
    "receiverConfig",
    () => receiverConfig({ secrets: [], toleranceSecond: "t0ken" } as never),
    /toleranceSecond is not an option.*did you mean toleranceSeconds\?/,
  ],
];
test.each(misspelt)(
  "%s refuses an option that it does not have, and names the nearest",
  (_, use, message) => {
    expect(use).toThrow(pulumi.RunError);
    expect(use).toThrow(message);
    expect(use).not.toThrow(/t0ken/);
  },
);

test("a WebhookEndpoint with deletedWith warns that it stays at the service", async () => {
  const warn = jest.spyOn(pulumi.log, "warn").mockResolvedValue();
  try {
    const jobs = { url: "https://example.com", type: "production" } as const;
    const other = new WebhookEndpoint("other", jobs);
    expect(warn).not.toHaveBeenCalled();
    const endpoint = new WebhookEndpoint("tied", jobs, { deletedWith: other });
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/"tied": .*stays at the service/), endpoint]]);
  } finally {
    warn.mockRestore();
  }
});
