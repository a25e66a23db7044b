import type { Deployment, Resource } from "../../src/provider/facts/exportedState";
import { StackState } from "../../src/provider/facts/stackState";
import { keyOf } from "../../src/provider/facts/urlAndType";
import { NATIVE_TYPE_TOKEN, TYPE_TOKEN } from "../../src/shared/permanent";
import { nameOf } from "../../src/shared/urn";
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
  new StackState(deployment).evidence({ wanted, urns: [urnOf("lost")], origin, ...more });

const b = { url: "https://hooks.example.com/b", type: "production" };
const secretUrl = { inputs: { ...wanted, url: { ciphertext: "x" } } };
const earliestSentAt = (after: number) => ({ inputs: { ...wanted, __after: after } });
const ofFirstRelease = { inputs: wanted };
// What is in the state beside an interrupted creation of the resource "lost", and how that one differs from a usual one.
test.each<[string, Partial<Resource>, Resource[], number]>([
  ["one", {}, [], 1],
  ["one whose resource was recorded since", {}, [resource("lost", earliestSentAt(2_000))], 0],
  ["one whose resource was recorded as it was sent", {}, [resource("lost")], 0],
  ["one that was to replace an older resource", {}, [resource("lost", earliestSentAt(500))], 1],
  ["one whose resource the first release recorded", {}, [resource("lost", ofFirstRelease)], 1],
  ["one that adopts", { inputs: { ...wanted, adoptId: "wh_1" } }, [], 0],
  ["one of another type of resource", { type: "aws:s3:Bucket" }, [], 0],
  ["one of another provider", { provider: providerUrnOf("staging") }, [], 0],
  ["one of the default provider with a version", { provider: providerUrnOf("default_3_255_0") }, [], 1],
  [
    "one with a kept adoptId, whose resource has an endpoint",
    { inputs: { ...wanted, adoptId: "wh_1", __after: 2_000 } },
    [resource("lost")],
    1,
  ],
  [
    "one with a kept adoptId, whose resource is pending",
    { inputs: { ...wanted, adoptId: "wh_1" } },
    [resource("lost", { id: "pending:1", inputs: { ...b, adoptId: "wh_1" }, outputs: b })],
    1,
  ],
  [
    "one with a new adoptId, whose resource is pending",
    { inputs: { ...wanted, adoptId: "wh_1" } },
    [resource("lost", { id: "pending:1", inputs: b, outputs: b })],
    0,
  ],
  [
    "one with a new adoptId, whose resource waits for its replacement",
    { inputs: { ...wanted, adoptId: "wh_1" } },
    [resource("lost", { pendingReplacement: true })],
    0,
  ],
  [
    "one that was to replace one of another url, dated later by another clock",
    {},
    [resource("lost", { inputs: { ...b, __after: 9_000 }, outputs: b })],
    1,
  ],
  [
    "one that was to replace one of another ip, dated later",
    {},
    [resource("lost", { inputs: { ...wanted, ip: "192.0.2.1", __after: 9_000 } })],
    1,
  ],
  ["one of another url", { inputs: { ...wanted, url: "https://b.example.com" } }, [], 0],
  ["one whose url the state encrypts, by the URN", secretUrl, [], 1],
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
    ...[creating("lost", earliestSentAt(2_000)), creating("lost"), creating("lost", { inputs })],
    creating("lost", { ...staging, ...earliestSentAt(3_000) }),
  ];
  const lost = { id: `${urnOf("lost")} ${keyOf(wanted)}`, ip: null, idsBefore: new Set() };
  expect(evidenceIn({ pending_operations })).toEqual([
    { ...lost, earliestSentAt: 2_000 },
    { ...lost, earliestSentAt: 1_000 },
    { ...lost, ip: "192.0.2.1", earliestSentAt: undefined },
  ]);
  const its = { origin: { ...origin, provider: "staging" } };
  expect(evidenceIn({ pending_operations }, its)).toEqual([{ ...lost, earliestSentAt: 3_000 }]);
});

test("a pending resource of the state is evidence, at this base URL, whatever its key", () => {
  const pending = { before: ["wh_1"], attemptedAt: 5 };
  const outputs = { ...wanted, ...origin, pending };
  const of = (more: object) =>
    evidenceIn({ resources: [resource("a", { id: "pending:1", outputs: { ...outputs, ...more } })] });
  expect(of({ account: "rotated" })).toEqual([
    { id: "pending:1", ip: null, earliestSentAt: 5, idsBefore: new Set(["wh_1"]) },
  ]);
  expect(of({ pending: { ...pending, attemptedAt: null } })).toMatchObject([{ earliestSentAt: undefined }]);
  expect(of({ baseUrl: "https://other.example.com" })).toEqual([]);
});

test("a resource of the stack has its endpoint, whatever its provider and type, and what is only read or deleted already has none", () => {
  const other = { baseUrl: "https://other.example.com", account: "def456" };
  const foreign = { type: "pulumi-nodejs:dynamic:Resource", outputs: {} };
  const sealed = { token: { ciphertext: "x" } };
  const state = new StackState({
    resources: [
      ...[resource("a"), resource("pending", { id: "pending:1" })],
      resource("staged", { provider: providerUrnOf("staging") }),
      resource("native", { type: NATIVE_TYPE_TOKEN }),
      resource("old", { delete: true }),
      resource("waiting", { pendingReplacement: true }),
      resource("read", { external: true }),
      resource("elsewhere", { outputs: { ...wanted, ...other } }),
      resource("secret", { inputs: {}, outputs: { ...other, url: { ciphertext: "x" } } }),
      resource("foreign", { ...foreign, inputs: { nested: { hook: "HTTPS://hooks.example.com/a" } } }),
      resource("sealed", { ...foreign, inputs: sealed }),
      resource("python", { ...foreign, type: "pulumi-python:dynamic:Resource", inputs: {}, outputs: sealed }),
      resource("bucket", { type: "aws:s3:Bucket", inputs: sealed, outputs: {} }),
      resource("unlike", { ...foreign, inputs: b }),
      resource("leaving", { ...foreign, inputs: wanted, delete: true }),
    ],
  });
  const kindOf = (id: string, more: object = wanted) =>
    state.holderOf({ id, ...more }, { origin, graceMs: 20_000 })?.kind;
  const names = (kind: string | undefined) =>
    Object.values(state.endpoints.concat(foreigners))
      .filter(({ id = "" }) => kindOf(id) === kind)
      .map(({ urn }) => nameOf(urn));
  const foreigners = [
    "waiting",
    "read",
    "foreign",
    "sealed",
    "python",
    "bucket",
    "unlike",
    "leaving",
    "unknown",
  ].map((name) => resource(name));
  expect(names("own")).toEqual(["a", "pending", "staged", "native", "old", "elsewhere", "secret"]);
  expect(names("otherType")).toEqual(["foreign"]);
  expect(names("perhapsOtherType")).toEqual(["sealed", "python"]);
  // Ids may count for each account: there, url and type tell.
  expect(kindOf("wh_elsewhere", { ...wanted, type: "development" })).toBeUndefined();
  expect(kindOf("wh_elsewhere", {})).toBe("own");
});

test("an adoptId is spent once the resource of its URN has an endpoint, or was declared with it before", () => {
  const adopting = { inputs: { ...wanted, adoptId: "wh_1" } };
  const state = new StackState({
    resources: [
      ...[
        resource("whole"),
        resource("old", { delete: true }),
        resource("waiting", { pendingReplacement: true }),
      ],
      ...[resource("pending", { id: "pending:1" }), resource("kept", { id: "pending:2", ...adopting })],
    ],
  });
  const isSpent = (name: string) => state.isSpent(urnOf(name), "wh_1");
  expect(["whole", "old", "waiting", "pending", "kept", "unknown"].filter(isSpent)).toEqual([
    "whole",
    "kept",
  ]);
});
