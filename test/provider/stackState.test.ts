import { type Deployment, type Resource, StackState } from "../../src/provider/stackState";
import { NATIVE_TYPE_TOKEN, TYPE_TOKEN } from "../../src/shared/permanent";
import { providerUrnOf, urnOf } from "./engineModel";

const origin = { baseUrl: "https://api.example.com", account: "abc123" };
const wanted = { url: "https://hooks.example.com/a", type: "production" } as const;
const resource = (name: string, more: Partial<Resource> = {}): Resource => ({
  ...{ urn: urnOf(name), type: TYPE_TOKEN, id: `wh_${name}`, provider: providerUrnOf("") },
  ...{ inputs: { ...wanted, __after: 1_000 }, outputs: { ...wanted, ...origin } },
  ...more,
});
const creating = (name: string, more: Partial<Resource> = {}) => {
  const { id: _id, outputs: _outputs, ...rest } = resource(name, more);
  return { type: "creating", resource: rest };
};
const evidenceIn = (deployment: Deployment, more: object = {}) =>
  new StackState(deployment).evidence({ wanted, names: ["lost"], origin, ...more });

const secretUrl = { inputs: { ...wanted, url: { ciphertext: "x" } } };
const serviceSentAt = (after: number) => ({ inputs: { ...wanted, __after: after } });
const ofFirstRelease = { inputs: wanted };
// What is in the state beside an interrupted creation of the resource "lost", and how that one differs from a usual one.
test.each<[string, Partial<Resource>, Resource[], number]>([
  ["one", {}, [], 1],
  ["one whose resource was recorded since", {}, [resource("lost", serviceSentAt(2_000))], 0],
  ["one whose resource was recorded as it was sent", {}, [resource("lost")], 0],
  ["one that was to replace an older resource", {}, [resource("lost", serviceSentAt(500))], 1],
  ["one whose resource the first release recorded", {}, [resource("lost", ofFirstRelease)], 1],
  ["one that adopts", { inputs: { ...wanted, adoptId: "wh_1" } }, [], 0],
  ["one of another type of resource", { type: "aws:s3:Bucket" }, [], 0],
  ["one of another provider", { provider: providerUrnOf("staging") }, [], 0],
  ["one of the default provider with a version", { provider: providerUrnOf("default_3_255_0") }, [], 1],
  ["one of another url", { inputs: { ...wanted, url: "https://b.example.com" } }, [], 0],
  ["one whose url the state encrypts, by the name", secretUrl, [], 1],
  ["another one whose url the state encrypts", { ...secretUrl, urn: urnOf("another") }, [], 0],
  ["one of the native plugin", { type: NATIVE_TYPE_TOKEN, ...ofFirstRelease }, [], 1],
  ["one of the native plugin that was recorded", ofFirstRelease, [resource("lost", ofFirstRelease)], 0],
])("%s is evidence as far as it may have registered what is wanted", (_, more, resources, count) => {
  const deployment = { resources, pending_operations: [creating("lost", more)] };
  expect(evidenceIn(deployment)).toHaveLength(count);
  const updating = [{ ...creating("lost", more), type: "updating" }];
  expect(evidenceIn({ resources, pending_operations: updating })).toEqual([]);
});

test("each interrupted creation is evidence with its own window and ip, that of an explicit provider for its own", () => {
  const inputs = { ...wanted, ip: "192.0.2.1" };
  const staging = { provider: providerUrnOf("staging") };
  const pending_operations = [
    ...[creating("lost", serviceSentAt(2_000)), creating("lost"), creating("lost", { inputs })],
    creating("lost", { ...staging, ...serviceSentAt(3_000) }),
  ];
  const lost = { id: urnOf("lost"), ip: null, before: [] };
  expect(evidenceIn({ pending_operations })).toEqual([
    { ...lost, serviceSentAt: 2_000 },
    { ...lost, serviceSentAt: 1_000 },
    { ...lost, ip: "192.0.2.1", serviceSentAt: undefined },
  ]);
  const its = { origin: { ...origin, provider: "staging" } };
  expect(evidenceIn({ pending_operations }, its)).toEqual([{ ...lost, serviceSentAt: 3_000 }]);
});

test("a pending resource of the state is evidence, at this base URL, whatever its key", () => {
  const pending = { before: ["wh_1"], attemptedAt: 5 };
  const outputs = { ...wanted, ...origin, pending };
  const of = (more: object) =>
    evidenceIn({ resources: [resource("a", { id: "pending:1", outputs: { ...outputs, ...more } })] });
  expect(of({ account: "rotated" })).toEqual([
    { id: "pending:1", ip: null, serviceSentAt: 5, before: ["wh_1"] },
  ]);
  expect(of({ pending: { ...pending, attemptedAt: null } })).toMatchObject([{ serviceSentAt: undefined }]);
  expect(of({ baseUrl: "https://other.example.com" })).toEqual([]);
});

test("a resource of the stack has its endpoint, whatever its provider, and what is only read has none; by name, it must be whole", () => {
  const other = { baseUrl: "https://other.example.com", account: "def456" };
  const state = new StackState({
    resources: [
      ...[resource("a"), resource("pending", { id: "pending:1" })],
      resource("staged", { provider: providerUrnOf("staging") }),
      resource("native", { type: NATIVE_TYPE_TOKEN }),
      resource("old", { delete: true }),
      resource("read", { external: true }),
      resource("elsewhere", { outputs: { ...wanted, ...other } }),
      resource("secret", { inputs: {}, outputs: { ...other, url: { ciphertext: "x" } } }),
    ],
  });
  const has = (id: string, more: object = wanted) => state.has({ id, ...more }, origin);
  const names = ["a", "staged", "native", "old", "secret", "elsewhere", "read", "unknown"];
  expect(names.filter((name) => has(`wh_${name}`))).toEqual(names.slice(0, 6));
  // Ids may count for each account: there, url and type tell.
  expect(has("wh_elsewhere", { ...wanted, type: "development" })).toBe(false);
  expect(has("wh_elsewhere", {})).toBe(true);
  const named = ["a", "staged", "old", "pending"].filter((name) => state.hasEndpointNamed(name, origin));
  expect(named).toEqual(["a"]);
});
