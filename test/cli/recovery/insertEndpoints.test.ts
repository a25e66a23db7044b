import { type FoundEndpoint, insertEndpoints } from "../../../src/cli/recovery/insertEndpoints";
import type { Deployment, Resource } from "../../../src/settlement/deployment";

const now = new Date("2026-01-01T12:00:00Z");
const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };
const provider: Resource = { urn: "urn:provider", type: "pulumi:providers:pulumi-nodejs", id: "p1" };
const stack: Resource = { urn: "urn:stack", type: "pulumi:pulumi:Stack" };
const after: Resource = { urn: "urn:after", type: "x", dependencies: ["urn:e"] };
const old: Resource = { urn: "urn:e", type: "t", id: "old" };

const found = (more: Partial<FoundEndpoint> = {}): FoundEndpoint => ({
  resource: {
    urn: "urn:e",
    type: "t",
    parent: "urn:stack",
    provider: "urn:provider::p1",
    inputs: { __provider: "code", url: secret, type: "production" },
    propertyDependencies: { url: [] },
  },
  registration: { index: 0, urn: "urn:e", url: "https://a.example.com", type: "production" },
  endpoint: {
    id: "new",
    url: "https://a.example.com",
    type: "production",
    createdAt: "then",
    updatedAt: null,
  },
  origin: { baseUrl: "https://api.example.com", account: "abcdef" },
  surplus: false,
  ...more,
});

const order = ({ resources = [] }: Deployment) =>
  resources.map(({ urn, id, delete: gone }) => `${urn}${id ? ` ${id}` : ""}${gone ? " (delete)" : ""}`);

it("insertEndpoints records an endpoint as the run would have, with its secrets still encrypted", () => {
  const { resources = [], pending_operations } = insertEndpoints(
    { resources: [stack, provider] },
    [found()],
    now,
  );
  expect(resources.at(-1)).toEqual({
    ...found().resource,
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

it("insertEndpoints puts an endpoint after everything it depends on and before what depends on it", () => {
  expect(order(insertEndpoints({ resources: [stack, provider, after] }, [found()], now))).toEqual([
    "urn:stack",
    "urn:provider p1",
    "urn:e new",
    "urn:after",
  ]);
});

it("insertEndpoints marks the endpoint that is replaced for the next up to delete", () => {
  expect(order(insertEndpoints({ resources: [stack, provider, old, after] }, [found()], now))).toEqual([
    "urn:stack",
    "urn:provider p1",
    "urn:e new",
    "urn:e old (delete)",
    "urn:after",
  ]);
});

it("insertEndpoints marks a surplus endpoint for the next up to delete", () => {
  expect(
    order(insertEndpoints({ resources: [stack, provider, old] }, [found({ surplus: true })], now)),
  ).toEqual(["urn:stack", "urn:provider p1", "urn:e old", "urn:e new (delete)"]);
});

it("insertEndpoints leaves a resource alone that is marked for deletion already", () => {
  const gone = { ...old, delete: true };
  expect(order(insertEndpoints({ resources: [stack, gone, provider] }, [found()], now))).toEqual([
    "urn:stack",
    "urn:e old (delete)",
    "urn:provider p1",
    "urn:e new",
  ]);
});

it("insertEndpoints keeps the endpoint of the latest run when two interrupted runs registered the same resource", () => {
  const latest = found();
  const earlier = found({ endpoint: { ...latest.endpoint, id: "earlier" } });
  expect(order(insertEndpoints({ resources: [stack, provider] }, [latest, earlier], now))).toEqual([
    "urn:stack",
    "urn:provider p1",
    "urn:e new",
    "urn:e earlier (delete)",
  ]);
});
