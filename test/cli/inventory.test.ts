import * as fc from "fast-check";
import { type Entry, inventoryOf } from "../../src/cli/inventory/inventory";
import { dataOf } from "../../src/cli/inventory/printEntries";
import type { KnownStack } from "../../src/cli/inventory/stacks";
import type { Deployment } from "../../src/provider/facts/exportedState";
import { StackState } from "../../src/provider/facts/stackState";
import { NATIVE_TYPE_TOKEN } from "../../src/shared/permanent";
import { interrupted, pendingResource, recorded, SECRET_URL } from "./backend";

const NOW = Date.parse("2026-11-21T09:30:00Z");
/** So that a registration may still be made a minute after it was sent. */
const TIMEOUT_MS = 30_000;
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
  const work = { kind: "none", mayRun: false, who: "" } as const;
  return {
    ...{ name, isOwn: true, isSelected: true, deployment: kept, state: new StackState(kept) },
    ...{ isEmpty: false, outputs: [], work },
  };
}

/** Returns the endpoint as an inventory has it. @param gap why not every stack was read */
function entryIn(deployments: readonly Deployment[], gap?: string): Entry {
  const known = deployments.map((deployment, at) => stackOf(deployment, `stack${at}`));
  const list = { endpoints: [endpoint], unrecognized: [], complete: true, serverTime: NOW };
  const stacks = { known, unreadable: [], whyNone: undefined, gap, viewer: undefined };
  const [entry] = inventoryOf(list, stacks, TIMEOUT_MS).entries;
  if (entry === undefined) throw new Error("the inventory is empty");
  return entry;
}
const ownerIn = (...given: Parameters<typeof entryIn>) => entryIn(...given).owner;

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
  const entry = entryIn([{}, state]);
  const { owner } = entry;
  expect(owner.kind).toBe(kind);
  expect(owner.whyNotOrphan === undefined).toBe(kind === "nobody");
  expect(dataOf(entry)).toMatchObject({ owner: kind === "nobody" ? null : { kind } });
  expect(owner.shown).toContain(kind === "nobody" ? "no stack" : "jobs in shop/dev");
});

test("only where every stack of the backend was read is an endpoint nobody's", () => {
  expect(ownerIn([{}], "denied")).toMatchObject({
    kind: "unknown",
    shown: "denied",
    whyNotOrphan: "denied",
  });
  expect(dataOf(entryIn([{}], "denied"))).toMatchObject({ owner: { kind: "unknown", why: "denied" } });
  expect(ownerIn([{ resources: [resource()] }], "denied").kind).toBe("managed");
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
      const { kind } = ownerIn(states);
      const isHeld = states.some(({ resources }) => resources.some(({ id }) => id === "wh_1"));
      expect(kind === "managed").toBe(isHeld);
      // Fewer states never make an endpoint less somebody's.
      if (kind === "nobody") for (const each of states) expect(ownerIn([each]).kind).toBe("nobody");
    }),
  );
});
