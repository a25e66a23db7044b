import { LAG_MS } from "../../src/provider/facts/time";
import type { EndpointState } from "../../src/provider/state";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { type Made, type Properties, providerUrnOf, urnOf, type Verbs } from "./engineModel";
import type { Habits } from "./fakeService";
import { urlOf, World } from "./world";

const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };
const argumentsOf = (name: string) =>
  ({ url: urlOf(name), type: "production", __provider: PROVIDER_CODE }) as const;

let world: World;
/** What the stack has, by name. */
let had: Record<string, Made>;

/** Makes endpoints of a stack, and records them. */
async function begin(names: readonly string[], habits: Habits = {}): Promise<void> {
  world = new World(habits);
  world.stack.isProgramRunning = true;
  had = {};
  for (const name of names) had[name] = await world.plugin().create(argumentsOf(name));
  record();
  await world.time.pass(2 * LAG_MS);
}

function record(more: Record<string, Properties> = {}): void {
  world.stack.resources = Object.entries(had).map(([name, { id, outs }]) => ({
    ...{ urn: urnOf(name), type: TYPE_TOKEN, provider: providerUrnOf("") },
    ...{ id, inputs: argumentsOf(name), outputs: outs, ...more[name] },
  }));
}

/** Leads the next run to another account, which has one endpoint of its own. */
function other(config: Readonly<Record<string, string>> = {}): Verbs {
  world.service.accounts.set("another-k3y", "another");
  if (!world.service.endpoints.some(({ account }) => account === "another"))
    world.service.add({ url: urlOf("theirs") }, "another");
  return world.plugin({ "webhooks:apiKey": "another-k3y", ...config });
}
/** Gives the account a new key. */
function rotated(): Verbs {
  world.rotateKey("");
  return world.plugin();
}
const remove = (name: string) => world.service.remove(had[name]?.id ?? "");
const stateOf = (name: string) => had[name]?.outs as unknown as EndpointState & Properties;
const idOf = (name: string) => had[name]?.id ?? "";
const diff = (verbs: Verbs, name: string) => verbs.diff(idOf(name), stateOf(name), argumentsOf(name));
const reasons = async (verbs: Verbs, name: string) => {
  const { failures } = await verbs.check({}, { ...argumentsOf(name), __urn: urnOf(name), __after: 0 });
  return failures.map(({ reason }) => reason).join("\n");
};
const STOP =
  /account of today's key \(fingerprint [0-9a-f]{6}\) has none of the endpoints .*restore it.*WebhooksProvider with a new name.*\(OTHER_ACCOUNT\)/s;

afterEach(() => expect(JSON.stringify(world.shown)).not.toMatch(/k3y/));

test.each([false, true])(
  "with the key of another account every verb stops, and names each URN to forget (ids count for each account: %s)",
  async (countsIds) => {
    await begin(["a", "b"], { countsIds });
    const before = world.service.endpoints.length;
    const calls: ((verbs: Verbs) => Promise<unknown>)[] = [
      (verbs) => diff(verbs, "a"),
      (verbs) => verbs.read(idOf("a"), stateOf("a")),
      (verbs) => verbs.delete(idOf("a"), stateOf("a")),
      (verbs) => verbs.create(argumentsOf("new")),
      (verbs) => verbs.create({ ...argumentsOf("new"), adoptId: "wh_1" }),
    ];
    for (const call of calls) {
      const error = await call(other()).catch((reason: unknown) => reason);
      expect(Object(error).message).toMatch(STOP);
      expect(Object(error).message).toContain(
        `pulumi state delete --yes ${urnOf("a")} && pulumi state delete --yes ${urnOf("b")}`,
      );
    }
    expect(await reasons(other(), "new")).toMatch(STOP);
    // Restored, the key finds all.
    for (const name of ["a", "b"])
      expect(await diff(world.plugin(), name)).toEqual({ changes: false, replaces: [] });
    expect(await reasons(world.plugin(), "new")).toBe("");
    expect(world.service.endpoints).toHaveLength(before + 1);
    expect(world.service.changes.filter((each) => each === "delete")).toEqual([]);
  },
);

test("after a rotation, what is missing is ordinary drift, because the account has something else of the stack", async () => {
  await begin(["a", "b", "c", "d"]);
  for (const name of ["a", "b", "c"]) remove(name);
  const verbs = rotated();
  expect((await diff(verbs, "a")).replaces).toEqual(["account"]);
  expect(await verbs.read(idOf("b"), stateOf("b"))).toEqual({});
  await verbs.delete(idOf("c"), stateOf("c"));
  expect(await reasons(verbs, "new")).toBe("");
  expect(await diff(verbs, "d")).toEqual({ changes: false, replaces: [] });
});

test("without a state, a command goes by what it has read, and otherwise stops and names --run-program", async () => {
  await begin(["a", "b"]);
  remove("a");
  world.stack.isProgramRunning = false;
  await expect(rotated().read(idOf("a"), stateOf("a"))).rejects.toThrow(
    /--run-program.*doctor` prints.*OTHER_ACCOUNT/s,
  );
  await expect(world.plugin().delete(idOf("a"), stateOf("a"))).rejects.toThrow(
    /--run-program.*OTHER_ACCOUNT/s,
  );
  const verbs = world.plugin();
  const reads = ["a", "b"].map((name) => verbs.read(idOf(name), stateOf(name)));
  expect(await Promise.all(reads)).toEqual([{}, expect.objectContaining({ id: idOf("b") })]);
});

test("a url that the state encrypts proves nothing, and one that a verb was given does", async () => {
  await begin(["a", "b"]);
  const secret = { inputs: { ...argumentsOf("b"), url: SECRET }, outputs: { ...stateOf("b"), url: SECRET } };
  record({ b: secret });
  remove("a");
  expect(await reasons(rotated(), "new")).toMatch(STOP);
  const verbs = world.plugin();
  await diff(verbs, "b");
  expect(await reasons(verbs, "new")).toBe("");
});

test("the service's own spelling proves the account, and so does a get where the list is partial", async () => {
  await begin(["a", "b"], { spell: (url) => url.replace(/b$/, "b/") });
  remove("a");
  expect((await diff(rotated(), "a")).replaces).toEqual(["account"]);
  await begin(["a", "b"], { listed: 0 });
  remove("a");
  expect((await diff(rotated(), "a")).replaces).toEqual(["account"]);
});

test("a move to a provider of a new name is no mistake, and what it leaves behind counts as gone, with a warning", async () => {
  await begin(["a"]);
  const moved = other({ "webhooks:providerName": "moved" });
  expect((await diff(moved, "a")).replaces).toEqual(["account"]);
  expect(await reasons(moved, "new")).toBe("");
  await expect(other().delete(idOf("a"), stateOf("a"))).rejects.toThrow(STOP);
  record({ a: { delete: true } });
  expect(await reasons(other(), "new")).toBe("");
  await other().delete(idOf("a"), stateOf("a"));
  expect(world.warnings).toEqual([expect.stringMatching(/which was replaced.*counts as deleted/)]);
  expect(world.service.endpoints.map(({ id }) => id)).toContain(idOf("a"));
});

test("where nothing was recorded with another key, nothing stops", async () => {
  await begin([]);
  expect(await reasons(other(), "new")).toBe("");
  await begin(["a"]);
  remove("a");
  await world.plugin().delete(idOf("a"), stateOf("a"));
});
