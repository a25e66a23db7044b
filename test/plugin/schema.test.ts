import { schema } from "../../src/plugin/schema";
import { SETTING_NAMES } from "../../src/provider/settings";
import { createProvider } from "../../src/provider/verbs";
import { createReceiverValidation } from "../../src/validation/provider";

// The compiler checks that the schema has each argument and output of the TypeScript types, and no other.

const engine = { warn: () => {}, info: () => {}, rootUrn: async () => undefined };
const resources = schema.resources;
const checks = {
  "webhooks:index:WebhookEndpoint": createProvider({ environment: {}, engine }),
  "webhooks:index:ReceiverValidation": createReceiverValidation(engine),
} as const;

test.each(Object.entries(checks))("%s takes exactly the inputs of its schema", async (token, { check }) => {
  const { failures = [] } = await check({}, { nonsense: 1 });
  const [, listed = ""] =
    failures
      .map(({ reason }) => /^nonsense is not an argument .*; use (.*)$/.exec(reason))
      .find((match) => match !== null) ?? [];
  const { inputProperties } = resources[token as keyof typeof checks];
  expect(listed.split(", ").sort()).toEqual(Object.keys(inputProperties).sort());
});

test.each(Object.entries(checks))(
  "%s requires exactly the inputs that its schema requires",
  async (token, { check }) => {
    const { failures = [] } = await check({}, {});
    const missing = failures.flatMap(({ reason }) => /^(\w+) is missing$/.exec(reason)?.[1] ?? []);
    expect(missing).toEqual(resources[token as keyof typeof checks].requiredInputs);
  },
);

test("the provider's configuration has exactly the settings of the stack's configuration", () => {
  expect(Object.keys(schema.config.variables)).toEqual([...SETTING_NAMES]);
  expect(schema.provider.inputProperties).toBe(schema.config.variables);
  expect(schema.config.variables.apiKey.secret).toBe(true);
});

test("each property of the schema has a description", () => {
  const undescribed: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { properties, inputProperties, variables } = value as Record<string, object | undefined>;
    for (const [name, property] of Object.entries({ ...properties, ...inputProperties, ...variables }))
      if (!("description" in (property as object))) undescribed.push(`${path}.${name}`);
    for (const [name, inner] of Object.entries(value)) visit(inner, `${path}.${name}`);
  };
  visit(schema, "schema");
  expect(undescribed).toEqual([]);
});
