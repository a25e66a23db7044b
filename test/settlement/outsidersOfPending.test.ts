import type { PendingError } from "../../src/endpoint/errors";
import type { EndpointInputs } from "../../src/endpoint/types";
import { codeOf, inputs, outcome, type PluginOptions, stateOf, VerbsWorld } from "./verbsWorld";

/** What outsiders found about pending registrations that a person settled, or a run that then failed, each as they reproduced it. */
let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
});
afterEach(() => world.close());
const otherStack: PluginOptions = { environment: { PULUMI_BACKEND_URL: "file:///other" } };
const ALWAYS = Number.POSITIVE_INFINITY;

/** A run that ends without knowing whether the service made an endpoint. */
async function pend(
  isMade: boolean,
  args = inputs,
  options: PluginOptions = {},
  thenMs = 60_000,
): Promise<PendingError> {
  const pending = await world.leavePending(isMade ? "reset-after" : "hang-before", options, args);
  world.record("jobs", pending.id, { inputs: { ...args }, outputs: { ...pending.properties } });
  world.ended("failed");
  world.clock.skip(thenMs);
  world.warnings.length = 0;
  return pending;
}

describe("another stack's endpoint, made in the window of a registration of ours that never happened", () => {
  async function up(declared: EndpointInputs) {
    const { id, properties } = await pend(false, declared, {}, 0);
    const theirs = await world.register(otherStack);
    world.clock.skip(60_000);
    world.warnings.length = 0;
    const up = world.plugin();
    await up.check({ ...declared }, { ...declared });
    await up.diff(id, properties, declared);
    const made = await outcome(up.create(declared));
    await up.delete(id, properties).catch(() => undefined);
    return { theirs, made };
  }
  test("is refused with ifExists: fail", async () => {
    const { made } = await up({ ...inputs, ifExists: "fail" });
    expect(made).toMatch(/ENDPOINT_EXISTS/);
  });
  test("is named", async () => {
    const { theirs } = await up(inputs);
    expect(world.ids()).toHaveLength(2);
    expect(world.warnings.join()).toContain(theirs.id);
  });
});

describe("after a person has adopted one of two that fit a pending registration", () => {
  test.each(["renamed", "changed ip", "other provider"])("%s: the other one is not deleted", async (how) => {
    const { id, properties } = await pend(true, inputs, {}, 0);
    const [ours = ""] = world.ids();
    const theirs = world.service.add({ ...inputs });
    world.clock.skip(60_000);
    // doubt
    const first = world.plugin();
    await first.diff(id, properties, inputs);
    expect(await codeOf(first.create(inputs))).toBe("REGISTRATION_IN_DOUBT");
    const declared = { ...inputs, adoptId: ours, ...(how === "changed ip" && { ip: "203.0.113.7" }) };
    const run = "127.0.0.1:77";
    const up = world.plugin({ run, provider: how === "other provider" ? "two" : "" });
    const left = how === "other provider" ? world.plugin({ run }) : up;
    if (how !== "renamed") await up.diff(id, properties, declared);
    else await up.check({}, { ...declared });
    expect((await up.create(declared)).id).toBe(ours);
    await left.delete(id, properties);
    expect(world.ids().sort()).toEqual([ours, theirs.id].sort());
  });
});

test("after a person has adopted one of two that fit a pending registration, and the run fails, the next one does not delete the other", async () => {
  const { id, properties } = await pend(true, inputs, {}, 0);
  const [ours = ""] = world.ids();
  const theirs = world.service.add({ ...inputs });
  world.clock.skip(60_000);
  const declared = { ...inputs, adoptId: ours };
  const up = world.plugin();
  await up.diff(id, properties, declared);
  const made = await up.create(declared);
  expect(made.id).toBe(ours);
  // Another resource fails: the state has the new resource, and the pending one with "delete".
  world.resources = [];
  world.record("jobs", id, { delete: true, inputs: { ...inputs }, outputs: { ...properties } });
  world.record("jobs", ours, { inputs: { ...declared }, outputs: { ...stateOf(made) } });
  world.ended("failed");
  world.clock.skip(60_000);
  const next = world.plugin();
  await next.check({ ...declared }, { ...declared });
  await next.diff(ours, stateOf(made), declared);
  await next.delete(id, properties);
  expect(world.ids().sort()).toEqual([ours, theirs.id].sort());
});

describe("at a service that lists in parts, a settled pending resource that a failed run could not delete does not stop the next run", () => {
  const partial = (data: object[]) =>
    world.service.fault({
      operation: "list",
      kind: "status",
      status: 200,
      body: JSON.stringify({ data, has_more: true }),
      times: ALWAYS,
    });
  async function rest(
    id: string,
    properties: PendingError["properties"],
    declared: EndpointInputs,
    options: PluginOptions,
  ) {
    const up = world.plugin(options);
    await up.check({ ...inputs }, { ...declared });
    await up.diff(id, properties, declared);
    const made = await up.create(declared);
    world.resources = [];
    world.record("jobs", id, { delete: true, inputs: { ...inputs }, outputs: { ...properties } });
    world.record("jobs", made.id, { inputs: { ...declared }, outputs: { ...stateOf(made) } });
    world.ended("failed");
    world.clock.skip(60_000);
    const next = world.plugin(options);
    await next.check({ ...declared }, { ...declared });
    await next.diff(made.id, stateOf(made), declared);
    return outcome(next.delete(id, properties).then(() => ({ id: "deleted" })));
  }
  test("adopted, as the message says", async () => {
    const { id, properties } = await pend(true);
    partial([]);
    expect(await rest(id, properties, { ...inputs, adoptId: world.ids()[0] ?? "" }, {})).toBe("deleted");
  });
  test("another one registered, as the message says", async () => {
    const { id, properties } = await pend(true);
    partial([]);
    expect(await rest(id, properties, { ...inputs, ifExists: "register" }, {})).toBe("deleted");
  });
  test("taken over on another machine", async () => {
    const { id, properties } = await pend(true, inputs, world.machine("one"));
    partial(world.service.endpoints().map((each) => ({ ...each })));
    expect(await rest(id, properties, inputs, world.machine("two"))).toBe("deleted");
  });
});

describe("after a run on another machine that was killed when it had just taken over a pending registration", () => {
  test.each(["destroy", "refresh"])("%s loses nothing in silence", async (how) => {
    const pending = await pend(true, inputs, world.machine("one"));
    const [made = ""] = world.ids();
    const up = world.plugin(world.machine("two"));
    await up.check({ ...inputs }, { ...inputs });
    await up.diff(pending.id, pending.properties, inputs);
    expect((await up.create(inputs)).id).toBe(made);
    // killed: the state still has the pending resource
    world.clock.skip(60_000);
    world.warnings.length = 0;
    const next = world.plugin({ ...world.machine("two"), rootUrn: undefined });
    if (how === "destroy") {
      await next.delete(pending.id, pending.properties);
      expect(`${world.ids().join()} ${world.warnings.join()}`).toMatch(
        world.ids().length === 0 ? /^ $/ : new RegExp(`${made}.* .*${made}`),
      );
    } else {
      expect((await next.read(pending.id, pending.properties)).id).toBe(made);
    }
  });
});

describe("with deleteBeforeReplace, adoptId for a pending registration, as STILL_PENDING says", () => {
  async function adopts(ours: string, { id, properties }: Pick<PendingError, "id" | "properties">) {
    const declared = { ...inputs, adoptId: ours };
    const up = world.plugin();
    await up.check({ ...inputs }, { ...declared });
    await up.diff(id, properties, declared);
    await up.delete(id, properties);
    expect((await up.create(declared)).id).toBe(ours);
  }
  test("at a service that lists in parts", async () => {
    const { id, properties } = await pend(true);
    const [ours = ""] = world.ids();
    world.service.fault({
      operation: "list",
      kind: "status",
      status: 200,
      body: JSON.stringify({ data: [], has_more: true }),
      times: ALWAYS,
    });
    const first = world.plugin();
    await first.diff(id, properties, inputs);
    expect(await codeOf(first.create(inputs))).toBe("STILL_PENDING");
    await adopts(ours, { id, properties });
  });
  test("at a service that lists all", async () => {
    const { id, properties } = await pend(true);
    const [ours = ""] = world.ids();
    await adopts(ours, { id, properties });
  });
});

test("of two equal resources that share a pending registration, none is named as an endpoint that is not deleted", async () => {
  const { id, properties } = await pend(true);
  world.record("other", id, { inputs: { ...inputs }, outputs: { ...properties } });
  const up = world.plugin();
  await up.diff(id, properties, inputs);
  await up.create(inputs);
  await up.diff(id, properties, inputs);
  await up.create(inputs);
  await up.delete(id, properties);
  await up.delete(id, properties);
  expect(world.ids()).toHaveLength(2);
  expect(world.warnings.join()).not.toContain("pending:");
});
