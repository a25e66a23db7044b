import { schema } from "../../src/plugin/schema";
import { SETTING_NAMES } from "../../src/provider/settings";
import { createProvider } from "../../src/provider/verbs";
import { createReceiverValidationProvider } from "../../src/validation/receiverValidationProvider";

// The compiler checks that the schema has each argument and output of the TypeScript types, and no other.

const engine = { warn: () => {}, info: () => {}, rootUrn: async () => undefined };
const checks = {
  "webhooks:index:WebhookEndpoint": createProvider({ environment: {}, engine }),
  "webhooks:index:ReceiverValidation": createReceiverValidationProvider(engine),
} as const;

test.each(Object.entries(checks))(
  "%s takes and requires exactly what its schema says",
  async (token, { check }) => {
    const { inputProperties, requiredInputs } = schema.resources[token as keyof typeof checks];
    const reasons = async (inputs: Record<string, unknown>) =>
      ((await check({}, inputs)).failures ?? []).map(({ reason }) => reason).join("\n");
    const [, listed = ""] =
      /^nonsense is not an argument .*; use (.*)$/m.exec(await reasons({ nonsense: 1 })) ?? [];
    expect(listed.split(", ").sort()).toEqual(Object.keys(inputProperties).sort());
    const missing = [...(await reasons({})).matchAll(/^(\w+) is missing$/gm)].map(([, name]) => name);
    expect(missing).toEqual(requiredInputs);
  },
);

test("the provider's configuration has exactly the settings of the stack's configuration", () => {
  expect(Object.keys(schema.config.variables)).toEqual([...SETTING_NAMES]);
  expect(schema.provider.inputProperties).toBe(schema.config.variables);
  expect(schema.config.variables.apiKey.secret).toBe(true);
});

test.each([
  ["git+https://github.com/Example-Owner/webhooks.js.git", "Example-Owner", "Example-Owner/webhooks.js"],
  ["https://github.com/owner/name", "owner", "owner/name"],
  [undefined, undefined, undefined],
])("with the repository %s, the schema says that the plugin comes from there", (url, owner, place) => {
  jest.isolateModules(() => {
    jest.doMock("../../package.json", () => ({ version: "1.2.3", repository: url && { type: "git", url } }));
    const released: typeof import("../../src/plugin/schema") = require("../../src/plugin/schema");
    const { publisher, repository, pluginDownloadURL } = { ...released.schema };
    expect(publisher).toBe(owner);
    expect(repository).toBe(place && `https://github.com/${place}`);
    expect(pluginDownloadURL).toBe(place && `github://api.github.com/${place}`);
  });
});
