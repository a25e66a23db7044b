import type { Deployment, Resource } from "../../src/cli/deployment";
import { type Claim, mend } from "../../src/cli/mend";

const now = new Date("2026-01-01T12:00:00Z");
const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };
const provider: Resource = { urn: "urn:provider", type: "pulumi:providers:pulumi-nodejs", id: "p1" };
const stack: Resource = { urn: "urn:stack", type: "pulumi:pulumi:Stack" };
const after: Resource = { urn: "urn:after", type: "x", dependencies: ["urn:e"] };
const old: Resource = { urn: "urn:e", type: "t", id: "old" };

const claim = (more: Partial<Claim> = {}): Claim => ({
  resource: {
    urn: "urn:e",
    type: "t",
    parent: "urn:stack",
    provider: "urn:provider::p1",
    inputs: { __provider: "code", url: secret, type: "production" },
    propertyDependencies: { url: [] },
  },
  endpoint: {
    id: "new",
    url: "https://a.example.com",
    type: "production",
    createdAt: "then",
    updatedAt: null,
  },
  origin: { baseUrl: "https://api.example.com", account: "abcdef" },
  duplicate: false,
  ...more,
});

const order = ({ resources = [] }: Deployment) =>
  resources.map(({ urn, id, delete: gone }) => `${urn}${id ? ` ${id}` : ""}${gone ? " (delete)" : ""}`);

it("records the endpoint as the run would have, its secrets as they are in the state", () => {
  const { resources = [], pending_operations } = mend({ resources: [stack, provider] }, [claim()], now);
  expect(resources.at(-1)).toEqual({
    ...claim().resource,
    id: "new",
    outputs: {
      __provider: "code",
      url: secret,
      type: "production",
      ip: null,
      createdAt: "then",
      updatedAt: null,
      baseUrl: "https://api.example.com",
      account: "abcdef",
    },
    created: now.toISOString(),
    modified: now.toISOString(),
  });
  expect(pending_operations).toEqual([]);
});

it("puts it after all that it depends on, and before what depends on it", () => {
  expect(order(mend({ resources: [stack, provider, after] }, [claim()], now))).toEqual([
    "urn:stack",
    "urn:provider p1",
    "urn:e new",
    "urn:after",
  ]);
});

it("leaves the endpoint that it replaces for the next up to delete", () => {
  expect(order(mend({ resources: [stack, provider, old, after] }, [claim()], now))).toEqual([
    "urn:stack",
    "urn:provider p1",
    "urn:e new",
    "urn:e old (delete)",
    "urn:after",
  ]);
});

it("leaves a duplicate of what the stack has by now for the next up to delete", () => {
  expect(order(mend({ resources: [stack, provider, old] }, [claim({ duplicate: true })], now))).toEqual([
    "urn:stack",
    "urn:provider p1",
    "urn:e old",
    "urn:e new (delete)",
  ]);
});

it("does not take one that is to be deleted already for the one it replaces", () => {
  const gone = { ...old, delete: true };
  expect(order(mend({ resources: [stack, gone, provider] }, [claim()], now))).toEqual([
    "urn:stack",
    "urn:e old (delete)",
    "urn:provider p1",
    "urn:e new",
  ]);
});
