import { DEFAULT_API_KEY, type Emulator, startEmulator } from "../../src/emulator";
import type { EndpointState } from "../../src/endpoint/types";
import { codeOf, failure, inputs, otherInputs, type PluginOptions, stateOf, VerbsWorld } from "./verbsWorld";

/** What outsiders found where ids are counted for each service or account, each as they reproduced it. */
const a = { apiKey: "key-a" };
const b = { apiKey: "key-b" };

let world: VerbsWorld;
let other: Emulator;
let two: PluginOptions;
beforeEach(async () => {
  world = await VerbsWorld.start({ accounts: { "key-a": "a", "key-b": "b" }, newId: counter() });
  other = await startEmulator({ newId: counter(), now: world.clock.date });
  two = { baseUrl: other.url, apiKey: DEFAULT_API_KEY, provider: "two" };
});
afterEach(async () => {
  await world.close();
  await other.close();
});

/** Counts the ids of each account. */
function counter(): (account: string) => string {
  const last = new Map<string, number>();
  return (account) => {
    last.set(account, (last.get(account) ?? 0) + 1);
    return String(last.get(account));
  };
}

/** Registers and records an endpoint, in a run that succeeds. */
async function recorded(name: string, options: PluginOptions, args = inputs) {
  const { id, outs } = await world.register({ ...a, ...options }, args);
  const state = stateOf({ outs });
  world.record(name, id, {
    ...(options.provider && { provider: options.provider }),
    inputs: { ...args },
    outputs: { ...state },
  });
  world.ended("succeeded");
  world.clock.skip(60_000);
  return { id, state };
}

/** Leaves a registration pending that was made. */
async function pendIn(
  service: Emulator,
  options: PluginOptions,
): Promise<{ id: string; state: EndpointState }> {
  service.fault({ operation: "register", kind: "reset-after" });
  service.fault({
    operation: "list",
    kind: "status",
    status: 500,
    after: 1,
    times: Number.POSITIVE_INFINITY,
  });
  const { id, properties } = (await failure(world.register(options))) as Error & {
    id: string;
    properties: EndpointState;
  };
  service.clearFaults();
  world.record("pending", id, {
    ...(options.provider && { provider: options.provider }),
    inputs: { ...inputs },
    outputs: { ...properties },
  });
  world.ended("failed");
  world.clock.skip(60_000);
  return { id, state: properties };
}

describe("a resource that moves in from where another endpoint has its id", () => {
  test.each([
    ["service", () => two],
    ["account", () => ({ ...b, provider: "two" })],
  ])("does not hide what a lost registration made, in the other %s", async (_, optionsOf) => {
    const options = optionsOf();
    const service = "baseUrl" in options ? other : world.service;
    const moving = await recorded("moving", {}, otherInputs);
    const { id, state } = await pendIn(service, options);
    const up = world.plugin(options);
    await up.diff(moving.id, moving.state, otherInputs);
    await up.diff(id, state, inputs);
    expect((await up.create(inputs)).id).toBe(moving.id);
    expect(service.endpoints(service === other ? undefined : "b")).toHaveLength(1);
  });

  test("does not hide somebody's endpoint from ifExists: fail", async () => {
    const moving = await recorded("moving", {}, otherInputs);
    other.add(inputs);
    const up = world.plugin(two);
    await up.diff(moving.id, moving.state, otherInputs);
    expect(await codeOf(up.create({ ...inputs, ifExists: "fail" }))).toBe("ENDPOINT_EXISTS");
  });

  test("does not lay claim to somebody's endpoint at a service that keeps one for each url", async () => {
    const moving = await recorded("moving", {}, otherInputs);
    const { id } = other.add(inputs);
    const up = world.plugin(two);
    await up.diff(moving.id, moving.state, otherInputs);
    const body = JSON.stringify({ id, ...inputs });
    other.fault({ operation: "register", kind: "status", status: 200, body });
    expect(await codeOf(up.create(inputs))).toBe("ENDPOINT_EXISTS");
  });
});

test("what a killed run registered with another key is not registered again because another account has an equal endpoint with its id", async () => {
  const { id } = await recorded("equal", { provider: "one" });
  const killed = await world.register({ ...b, provider: "two" });
  expect(killed.id).toBe(id);
  world.clock.skip(60_000);
  expect(await codeOf(world.register({ ...b, provider: "two" }))).toBe("REGISTRATION_IN_DOUBT");
  expect([world.ids("a"), world.ids("b")]).toEqual([[id], [id]]);
});

describe("a resource of another account, whose id a pending registration has here,", () => {
  test.each([
    ["first", true],
    ["last", false],
  ])("leaves it the endpoint when a refresh reads it %s", async (_, isFirst) => {
    const stranger = await recorded("stranger", {}, otherInputs);
    const pending = await pendIn(world.service, b);
    const refresh = world.plugin({ ...b, rootUrn: undefined });
    const readStranger = async () => expect(await refresh.read(stranger.id, stranger.state)).toEqual({});
    if (isFirst) await readStranger();
    expect((await refresh.read(pending.id, pending.state)).id).toBe(stranger.id);
    if (!isFirst) await readStranger();
    expect(world.warnings.join()).toContain(
      `endpoint ${stranger.id} is not in the account of the current API key`,
    );
  });

  test("does not keep a destroy from deleting that", async () => {
    const stranger = await recorded("stranger", {}, otherInputs);
    const pending = await pendIn(world.service, b);
    const destroy = world.plugin({ ...b, rootUrn: undefined });
    await destroy.delete(stranger.id, stranger.state);
    await destroy.delete(pending.id, pending.state);
    expect([world.ids("a"), world.ids("b")]).toEqual([[stranger.id], []]);
  });
});

describe("a resource whose id another one has at another service", () => {
  test.each([
    ["first", true],
    ["last", false],
  ])("moves to that one's provider, if the state has it %s", async (_, isFirst) => {
    const moving = await recorded("moving", {});
    await recorded("other", two, otherInputs);
    if (!isFirst) world.resources.reverse();
    const { replaces } = await world.plugin(two).diff(moving.id, moving.state, inputs);
    expect(replaces).toEqual(["provider"]);
  });

  test.each([true, false])(
    "has not moved, if the base URL of its provider has changed by mistake (recorded its provider: %p)",
    async (records) => {
      await recorded("other", two, otherInputs);
      const { id, state: whole } = await recorded("jobs", { provider: "one" });
      const { provider, ...rest } = whole;
      const state = records ? whole : rest;
      const third = await startEmulator({ newId: counter(), now: world.clock.date });
      const up = world.plugin({ ...two, baseUrl: third.url, provider: "one" });
      const outcome = await up.diff(id, state, inputs).catch(({ message }: Error) => message);
      await third.close();
      expect(outcome).toContain("OTHER_BASE_URL");
    },
  );
});

describe("with a rotated API key", () => {
  beforeEach(async () => {
    await world.close();
    world = await VerbsWorld.start({ accounts: { "key-a": "a", "key-b": "a" } });
  });

  test("a replacement counts as that with ifExists: fail, and its old endpoint is deleted", async () => {
    const changed = { ...inputs, ip: "203.0.113.7", ifExists: "fail" } as const;
    const { id, state } = await recorded("jobs", a);
    const up = world.plugin(b);
    expect((await up.diff(id, state, changed)).replaces).toEqual(["ip"]);
    const { id: created } = await up.create(changed);
    await up.delete(id, state);
    expect(world.ids("a")).toEqual([created]);
  });

  test("an endpoint that stays is not deleted for a resource that has it too", async () => {
    const { id, state } = await recorded("jobs", a);
    const up = world.plugin({ ...b, rootUrn: undefined });
    await up.diff(id, state, inputs);
    await up.delete(id, state);
    expect(world.ids("a")).toEqual([id]);
  });

  test("a refresh gives an endpoint to one of two resources", async () => {
    const pending = await pendIn(world.service, a);
    const [made = ""] = world.ids("a");
    const state = { ...pending.state, pending: undefined } as unknown as EndpointState;
    const refresh = world.plugin({ ...b, rootUrn: undefined });
    expect((await refresh.read(pending.id, pending.state)).id).toBe(made);
    expect(await refresh.read(made, state)).toEqual({});
  });
});
