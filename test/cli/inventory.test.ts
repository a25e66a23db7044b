import * as fc from "fast-check";
import { dataOfOwner, describeOwner, Owners, whyNotOrphan } from "../../src/cli/inventory/owner";
import type { KnownStack, Stacks } from "../../src/cli/inventory/stacks";
import { type Deployment, StackState } from "../../src/provider/stackState";
import { NATIVE_TYPE_TOKEN } from "../../src/shared/permanent";
import { interrupted, pendingResource, recorded, SECRET_URL } from "./backend";

const NOW = Date.parse("2026-11-21T09:30:00Z");
const PATIENCE_MS = 60_000;
const url = "https://hooks.example.com/jobs";
const endpoint = {
  id: "wh_1",
  url,
  type: "development",
  createdAt: new Date(NOW).toISOString(),
  updatedAt: null,
} as const;

function stackOf(deployment: Deployment, name = "dev"): KnownStack {
  const kept = { resources: [], pending_operations: [], ...deployment };
  return { name, isOwn: true, isSelected: true, deployment: kept, state: new StackState(kept), outputs: [] };
}

function ownersOf(deployments: readonly Deployment[], more: Partial<Stacks> = {}): Owners {
  const known = deployments.map((deployment, at) => stackOf(deployment, `stack${at}`));
  return new Owners(
    { known, unreadable: [], absence: undefined, all: true, ...more },
    { patienceMs: PATIENCE_MS },
  );
}

const resource = (given: Partial<Parameters<typeof recorded>[1]> = {}) =>
  recorded("jobs", { id: "wh_1", url, ...given });
const operation = (given: Partial<Parameters<typeof interrupted>[1]> = {}) =>
  interrupted("jobs", { url, at: NOW, ...given });
const pending = (given: Partial<Parameters<typeof pendingResource>[1]> = {}) =>
  pendingResource("jobs", { url, at: NOW, ...given });

const has = (more: Parameters<typeof resource>[0] = {}): Deployment => ({ resources: [resource(more)] });
const unfinished = (more: Parameters<typeof operation>[0] = {}): Deployment => ({
  pending_operations: [operation(more)],
});
const unanswered = (more: Parameters<typeof pending>[0] = {}): Deployment => ({ resources: [pending(more)] });
const other = "https://other.example.com";

test.each<[kind: string, what: string, state: Deployment]>([
  ["managed", "a resource with its id", has()],
  ["managed", "a resource recorded at another base URL", has({ outputs: { baseUrl: other } })],
  ["managed", "a resource recorded with another key", has({ outputs: { account: "ffffff" } })],
  ["managed", "a resource with its id and another url", has({ url: other })],
  ["managed", "a resource that the next up deletes", has({ more: { delete: true } })],
  ["managed", "a resource that the program only reads", has({ more: { external: true } })],
  ["managed", "a resource of the native plugin", has({ more: { type: NATIVE_TYPE_TOKEN } })],
  ["managed", "an interrupted deletion of it", unfinished({ kind: "deleting", id: "wh_1" })],
  ["pending", "an interrupted creation sent before it was made", unfinished({ at: NOW - 30_000 })],
  ["pending", "an undated interrupted creation", { pending_operations: [interrupted("jobs", { url })] }],
  ["pending", "one in another spelling", unfinished({ url: "https://HOOKS.example.com:443/jobs" })],
  ["pending", "an interrupted creation whose url is a secret", unfinished({ url: SECRET_URL })],
  ["pending", "an interrupted adoption of it", unfinished({ url: SECRET_URL, inputs: { adoptId: "wh_1" } })],
  ["pending", "a pending resource of its url", unanswered()],
  ["nobody", "a pending resource that was sent later", unanswered({ at: NOW + 30_000 })],
  ["nobody", "a pending resource that found it there", unanswered({ before: ["wh_1"] })],
  ["nobody", "an interrupted creation of another url", unfinished({ url: other })],
  ["nobody", "an interrupted creation of the other type", unfinished({ type: "production" })],
  ["nobody", "an interrupted creation long before", unfinished({ at: NOW - 120_000 })],
  [
    "nobody",
    "an interrupted creation that a later run has healed",
    { ...has({ id: "wh_2", inputs: { __after: NOW } }), ...unfinished() },
  ],
  ["nobody", "an interrupted adoption of another one", unfinished({ inputs: { adoptId: "wh_2" } })],
  ["nobody", "a resource with another id", has({ id: "wh_2" })],
  ["nobody", "nothing", {}],
])("an endpoint is %s where a state has %s", (kind, _what, state) => {
  const owner = ownersOf([{}, state]).of(endpoint);
  expect(owner.kind).toBe(kind);
  expect(whyNotOrphan(owner) === undefined).toBe(kind === "nobody");
  expect(dataOfOwner(owner) === null).toBe(kind === "nobody");
  if (kind !== "nobody") expect(describeOwner(owner)).toContain("jobs in shop/dev");
});

test("only where every stack of the backend was read is an endpoint nobody's", () => {
  const unread: Partial<Stacks>[] = [
    { unreadable: [{ what: "the stack prod", why: "no passphrase" }] },
    { absence: "no stack is selected" },
    { all: false },
  ];
  const told = unread.map((more) => describeOwner(ownersOf([{}], more).of(endpoint)));
  expect(told).toEqual([
    "the stack prod cannot be read: no passphrase",
    "no stack is selected",
    "no stack of this project",
  ]);
  for (const more of unread) {
    expect(ownersOf([{}], more).of(endpoint).kind).toBe("unknown");
    expect(ownersOf([{ resources: [resource()] }], more).of(endpoint).kind).toBe("managed");
  }
});

test("several stacks that have one endpoint are all named", () => {
  const other = recorded("mails", { id: "wh_1", url, stack: "shop/prod" });
  const owner = ownersOf([{ resources: [resource()] }, { resources: [other] }]).of(endpoint);
  expect(describeOwner(owner)).toBe("jobs in shop/dev and mails in shop/prod");
  expect(dataOfOwner(owner)).toEqual({
    kind: "managed",
    resources: [
      { stack: "stack0", urn: resource().urn },
      { stack: "stack1", urn: other.urn },
    ],
  });
});

test("an endpoint whose id any state has is never an orphan, whatever else the states have", () => {
  const name = fc.constantFrom("jobs", "mails");
  const someUrl = fc.constantFrom<string | object>(url, "https://other.example.com", SECRET_URL);
  const someResource = fc.record({ name, url: someUrl, id: fc.constantFrom("wh_1", "wh_2") });
  const state = fc.record({
    resources: fc.array(
      someResource.map(({ name, ...given }) => recorded(name, given)),
      { maxLength: 3 },
    ),
    pending_operations: fc.array(
      someResource.map(({ name, url }) => interrupted(name, { url, at: NOW })),
      { maxLength: 2 },
    ),
  });
  void fc.assert(
    fc.property(fc.array(state, { maxLength: 3 }), (states) => {
      const { kind } = ownersOf(states).of(endpoint);
      const isHeld = states.some(({ resources }) => resources.some(({ id }) => id === "wh_1"));
      expect(kind === "managed").toBe(isHeld);
      // Fewer states never make an endpoint less somebody's.
      if (kind === "nobody")
        for (const each of states) expect(ownersOf([each]).of(endpoint).kind).toBe("nobody");
    }),
  );
});
