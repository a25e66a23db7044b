import { type Emulator, startEmulator } from "../../src/emulator";
import type { EndpointState } from "../../src/endpoint/types";
import {
  codeOf,
  failure,
  inputs,
  otherInputs,
  type PluginOptions,
  rootUrn,
  stateOf,
  VerbsWorld,
} from "./verbsWorld";

/** What outsiders found in the settlement, each as they reproduced it. */
const DAY = 24 * 60 * 60_000;
const a = { apiKey: "key-a" };
const b = { apiKey: "key-b" };

let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start({ accounts: { "key-a": "a", "key-b": "b" } });
});
afterEach(() => world.close());

/** Leaves a registration pending that was made. */
async function pendIn(options: PluginOptions = {}): Promise<{ id: string; state: EndpointState }> {
  world.service.fault({ operation: "register", kind: "reset-after" });
  return pended(options);
}

/** Leaves a registration pending in the state that was never made. */
async function pendInVain(): Promise<{ id: string; state: EndpointState }> {
  world.service.fault({ operation: "register", kind: "hang-before" });
  const { id, state } = await pended({});
  world.record("jobs", id, { outputs: { ...state } });
  world.ended("failed");
  return { id, state };
}

async function pended(options: PluginOptions): Promise<{ id: string; state: EndpointState }> {
  const times = Number.POSITIVE_INFINITY;
  world.service.fault({ operation: "list", kind: "status", status: 500, after: 1, times });
  const { id, properties } = (await failure(world.register(options))) as Error & {
    id: string;
    properties: EndpointState;
  };
  world.service.clearFaults();
  return { id, state: properties };
}

test("what a run that failed had registered is in doubt, because it may have been recorded and moved to another stack", async () => {
  const moved = await world.register();
  world.ended("failed", { until: 1_000 });
  world.clock.skip(60_000);
  const error = await failure(world.register());
  expect(error.message).toMatch(/the run that registered it failed.*REGISTRATION_IN_DOUBT/);
  expect(error.message).toContain(moved.id);
});

test("what was taken over, recorded and then given up does not stop a new declaration", async () => {
  const lost = await world.lose();
  world.ended("failed", { from: -70_000, until: -50_000 });
  world.clock.skip(60_000);
  expect((await world.register()).id).toBe(lost);
  world.ended("succeeded", { until: 1_000 });
  world.clock.skip(60_000);
  expect((await world.register()).id).not.toBe(lost);
});

describe("what somebody registers long after a lost registration", () => {
  test("is refused with ifExists: fail", async () => {
    const { id, state } = await pendInVain();
    world.clock.skip(DAY);
    world.service.add(inputs);
    const up = world.plugin();
    const declared = { ...inputs, ifExists: "fail" } as const;
    await up.diff(id, state, declared);
    expect(await codeOf(up.create(declared))).toBe("ENDPOINT_EXISTS");
  });

  test("is named", async () => {
    const { id, state } = await pendInVain();
    world.clock.skip(DAY);
    const other = world.service.add(inputs);
    const up = world.plugin();
    await up.diff(id, state, inputs);
    await up.create(inputs);
    expect(world.warnings.join()).toContain(other.id);
  });
});

test("without the CLI on PATH, a healthy second run warns of nothing", async () => {
  const environment = { PATH: "/nonexistent" };
  const made = await world.plugin({ environment }).create(inputs);
  expect(world.warnings.splice(0)).toEqual([expect.stringMatching(/state of this stack cannot be read/)]);
  world.clock.skip(60_000);
  const run = world.plugin({ environment });
  await run.check({ ...inputs }, { ...inputs });
  await run.diff(made.id, stateOf(made), inputs);
  expect(world.warnings).toEqual([]);
});

describe("what another machine registers ten minutes into a run", () => {
  test("is refused with ifExists: fail", async () => {
    const run = world.plugin();
    await run.check({}, { ...inputs });
    world.clock.skip(600_000);
    world.service.add(inputs);
    expect(await codeOf(run.create({ ...inputs, ifExists: "fail" }))).toBe("ENDPOINT_EXISTS");
  });

  test("is not taken for a registration that fails, at a service whose times have no zone", async () => {
    const run = world.plugin();
    await run.check({}, { ...inputs });
    world.clock.skip(600_000);
    const theirs = world.service.add({ ...inputs, createdAt: "2026-01-01 00:10:00" });
    world.service.fault({ operation: "register", kind: "status", status: 500 });
    expect((await run.create(inputs).catch((error: { id: string }) => error)).id).not.toBe(theirs.id);
  });
});

test.each([
  ["of a second provider", { ...b, provider: "second" }],
  ["of another stack", { ...b, environment: { PULUMI_BACKEND_URL: "file:///other" } }],
])("a lost registration %s in another account explains no endpoint in this one", async (_, other) => {
  await world.lose(other, { thenMs: 0 });
  await world.loseInVain(a, { thenMs: 2_000 });
  for (let times = 0; times < 2; times++) world.service.add(inputs, "a");
  world.clock.skip(60_000);
  expect(await codeOf(world.register(a))).toBe("REGISTRATION_IN_DOUBT");
});

test("an answered registration with another ip stays in the book while its endpoint is there", async () => {
  const withIp = await world.register({}, { ...inputs, ip: "192.0.2.1" });
  world.clock.skip(60_000);
  await world.register();
  expect(world.book().find(({ id }) => id === withIp.id)?.closed).toBe(false);
});

test("adoptId of what another account had here is not found, and nothing is registered", async () => {
  const had = await world.register({ ...b, environment: { PULUMI_BACKEND_URL: "file:///other" } });
  expect(await codeOf(world.register(a, { ...inputs, adoptId: had.id }))).toBe("ADOPT_NOT_FOUND");
  expect(world.ids("a")).toEqual([]);
});

test("an entry of an adopted endpoint needs no history, and is closed by the next run", async () => {
  world.printHistory = "exit 1";
  const { id } = world.service.add(inputs);
  await world.register({}, { ...inputs, adoptId: id });
  world.clock.skip(60_000);
  await world.plugin().check({}, { ...otherInputs });
  expect(world.book()).toMatchObject([{ id, closed: true }]);
});

describe("in a backend with organizations, what a stack of the same name lost", () => {
  const cloud = { environment: { PULUMI_BACKEND_URL: "https://api.pulumi.com" } };

  test("is not taken over with a pending registration", async () => {
    const foreign = await world.lose(cloud);
    const { id, state } = await pendInVain();
    world.clock.skip(60_000);
    const up = world.plugin(cloud);
    await up.diff(id, state, inputs);
    const error = await failure(up.create(inputs));
    expect(error.message).toMatch(/in another organization.*REGISTRATION_IN_DOUBT/);
    expect(error.message).toContain(foreign);
  });

  test("is not deleted with a pending registration", async () => {
    const foreign = await world.lose(cloud);
    const { id, state } = await pendInVain();
    world.clock.skip(60_000);
    await world.plugin(cloud).delete(id, state);
    expect(world.ids()).toEqual([foreign]);
    expect(world.warnings.join()).toContain(foreign);
  });
});

test("what was lost before an `up` without it is waited for when it is declared again at once", async () => {
  await world.loseInVain({}, { thenMs: 3_000 });
  world.ended("succeeded", { from: -1_500, until: -200 });
  const made = world.plugin().create(inputs);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const late = world.service.add(inputs);
  expect(await made.catch(({ message }: Error) => message)).toMatch(
    new RegExp(`${late.id}.*REGISTRATION_IN_DOUBT`),
  );
});

test("where nothing tells when the run began, what another machine's killed run sent is not dated", async () => {
  world.interrupt("jobs", inputs);
  world.clock.skip(600_000);
  const theirs = world.service.add(inputs);
  world.clock.skip(12_000);
  // The run that asks has recorded another resource since.
  world.written = world.clock.text(-1_000);
  const error = await failure(world.register({ startedAt: undefined }));
  expect(error.message).toMatch(new RegExp(`${theirs.id}.*REGISTRATION_IN_DOUBT`));
});

test("a renamed resource adopts its own endpoint also after a refresh in the same run", async () => {
  const made = await world.register();
  world.record("jobs", made.id, { inputs: { ...inputs }, outputs: { ...stateOf(made) } });
  world.ended("succeeded");
  const up = world.plugin();
  await up.read(made.id, stateOf(made));
  await up.diff(made.id, stateOf(made), inputs);
  expect((await up.create({ ...inputs, adoptId: made.id })).id).toBe(made.id);
});

test("once a hook has settled a lost registration, an equal resource is registered", async () => {
  const up = world.plugin();
  world.service.fault({ operation: "register", kind: "hang-before" });
  await failure(up.create(inputs));
  const { id } = world.service.add(inputs);
  expect((await up.create(inputs)).id).toBe(id);
  expect((await up.create(inputs)).id).not.toBe(id);
});

test("a stale entry of an earlier stack of the name does not hide what a killed run on another machine sent", async () => {
  await world.loseInVain();
  world.created = world.clock.text();
  world.clock.skip(60_000);
  world.interrupt("jobs", inputs);
  const lost = world.service.add(inputs);
  world.clock.skip(60_000);
  expect((await world.register()).id).toBe(lost.id);
});

test("a pending resource that moves to another provider keeps its endpoint: the process that it leaves deletes nothing", async () => {
  const { id, state } = await pendIn({ provider: "one" });
  const before = world.ids();
  world.record("jobs", id, { provider: "one", inputs: { ...inputs }, outputs: { ...state } });
  world.ended("failed");
  world.clock.skip(60_000);
  const run = "127.0.0.1:99";
  const left = world.plugin({ run, provider: "one" });
  // It reads the state before the take-over, for a resource that stays.
  await left.check({ ...otherInputs }, { ...otherInputs });
  const entered = world.plugin({ run, provider: "two" });
  await entered.diff(id, state, inputs);
  expect([(await entered.create(inputs)).id]).toEqual(before);
  await left.delete(id, state);
  expect(world.ids()).toEqual(before);
});

describe("a pending resource that was moved to another stack", () => {
  const there = { rootUrn: rootUrn.replaceAll("dev", "s2") };

  test.each([
    ["first", true],
    ["last", false],
  ])("keeps its endpoint there, if that stack runs %s", async (_, isFirst) => {
    const { id, state } = await pendIn();
    const [made = ""] = world.ids();
    world.ended("failed", { from: -60_000 });
    world.clock.skip(60_000);
    const takeOver = async () => {
      const moved = world.plugin(there);
      await moved.diff(id, state, inputs);
      return moved.create(inputs);
    };
    if (isFirst) expect((await takeOver()).id).toBe(made);
    const here = await world.register().catch(({ message }: Error) => ({ id: message }));
    expect(here.id).not.toBe(made);
    expect(`${here.id} ${world.warnings.join()}`).toContain(made);
    if (!isFirst) expect((await takeOver()).id).toBe(made);
  });
});

test("what another stack on this machine has registered a moment ago is refused with ifExists: fail", async () => {
  const run = world.plugin();
  await run.check({}, { ...inputs });
  await world.register({ environment: { PULUMI_BACKEND_URL: "file:///other" } });
  world.clock.skip(3_000);
  expect(await codeOf(run.create({ ...inputs, ifExists: "fail" }))).toBe("ENDPOINT_EXISTS");
});

test("in a backend with organizations, an interrupted operation does not show whose an older entry is", async () => {
  const cloud = { environment: { PULUMI_BACKEND_URL: "https://api.pulumi.com" } };
  const foreign = await world.lose(cloud);
  world.clock.skip(600_000);
  world.interrupt("jobs", inputs);
  world.service.add(inputs);
  world.clock.skip(60_000);
  const outcome = await world.register(cloud).catch(({ message }: Error) => ({ id: message }));
  expect(outcome.id).not.toBe(foreign);
});

describe("of two services that both count their endpoints, the endpoint that a resource leaves", () => {
  const newId = () => "1";
  const isRecordedWith = (outputs: EndpointState, { id }: { id: string }) =>
    world.record("jobs", id, { outputs: { ...outputs } });
  let other: Emulator;
  beforeEach(async () => {
    await world.close();
    world = await VerbsWorld.start({ newId });
    other = await startEmulator({ newId, now: world.clock.date });
  });
  afterEach(() => other.close());

  test("is deleted, though the new one has the same id, url and type", async () => {
    const left = await world.register();
    isRecordedWith(stateOf(left), left);
    world.clock.skip(DAY);
    const moved = await world.plugin({ run: "up", baseUrl: other.url, provider: "other" }).create(inputs);
    expect(moved.id).toBe(left.id);
    isRecordedWith(stateOf(moved), moved);
    await world.plugin({ run: "up" }).delete(left.id, stateOf(left));
    expect([world.ids(), other.endpoints()]).toEqual([[], [expect.objectContaining({ id: moved.id })]]);
  });

  test("is kept, if the second base URL is another name of the first service, which has used the id again", async () => {
    const left = await world.register();
    isRecordedWith(stateOf(left), left);
    world.clock.skip(DAY);
    const moved = await world.plugin({ run: "up", baseUrl: other.url, provider: "other" }).create(inputs);
    isRecordedWith(stateOf(moved), moved);
    world.service.remove(left.id);
    world.service.add(inputs);
    await world.plugin({ run: "up" }).delete(left.id, stateOf(left));
    expect(world.ids()).toEqual([moved.id]);
    expect(world.warnings.at(-1)).toContain("another resource of this program has it");
  });
});

describe("after the refresh of `up --refresh`, an endpoint of this program", () => {
  /** Makes an endpoint, and refreshes it in the next run. */
  async function refreshed() {
    const made = await world.register();
    const state = stateOf(made);
    world.record("jobs", made.id, { inputs: { ...inputs }, outputs: { ...state } });
    world.ended("succeeded");
    world.clock.skip(60_000);
    const up = world.plugin();
    await up.read(made.id, state);
    await up.diff(made.id, state, inputs);
    return { id: made.id, up };
  }

  test("is refused as a duplicate with ifExists: fail", async () => {
    const { up } = await refreshed();
    expect(await codeOf(up.create({ ...inputs, ifExists: "fail" }))).toBe("ENDPOINT_EXISTS");
  });

  test("is named as a duplicate", async () => {
    const { id, up } = await refreshed();
    await up.create(inputs);
    expect(world.warnings.join()).toContain(
      `this url (https://hooks.example.com/…) and type (production): ${id}.`,
    );
  });

  test("does not stop its own replacement with ifExists: fail", async () => {
    const { up } = await refreshed();
    const args = { ...inputs, ifExists: "fail", __resourceName: "jobs" } as const;
    expect((await up.check({}, args)).failures).toEqual([]);
    const { __resourceName: _, ...news } = args;
    expect((await up.create(news)).id).toBeDefined();
  });
});

test("what a deleted pending registration had made is not named as a duplicate", async () => {
  const { id, state } = await pendIn();
  world.record("jobs", id, { outputs: { ...state } });
  world.clock.skip(60_000);
  const up = world.plugin();
  await up.delete(id, state);
  await up.create(inputs);
  expect([world.warnings, world.ids()]).toEqual([[], [expect.any(String)]]);
});

describe("at a service that keeps one endpoint for each url, and answers a registration with that", () => {
  /** Makes the service answer the next registration so. */
  const answerWith = (id: string) => {
    const body = JSON.stringify({ id, ...inputs });
    world.service.fault({ operation: "register", kind: "status", status: 200, body });
  };

  test("somebody's endpoint is not taken", async () => {
    const { id } = world.service.add({ ...inputs, createdAt: "2025-11-30T12:34:56Z" });
    answerWith(id);
    const error = await failure(world.register());
    expect(error.message).toMatch(new RegExp(`${id}, which was there before.*adoptId.*ENDPOINT_EXISTS`));
    expect([world.ids().includes(id), world.book()]).toEqual([true, []]);
  });

  test("a replacement keeps the resource's own endpoint", async () => {
    const own = await world.register();
    world.record("jobs", own.id, { outputs: { ...stateOf(own) } });
    answerWith(own.id);
    const up = world.plugin();
    const changed = { ...inputs, ip: "203.0.113.7" };
    expect((await up.diff(own.id, stateOf(own), changed)).replaces).toEqual(["ip"]);
    expect((await up.create(changed)).id).toBe(own.id);
    await up.delete(own.id, stateOf(own));
    expect(world.ids()).toEqual([own.id]);
  });
});
