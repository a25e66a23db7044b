import { TYPE_TOKEN } from "../../src/shared/permanent";
import { codeOf, inputs, otherInputs, type PluginOptions, stateOf, VerbsWorld } from "./verbsWorld";

/** What outsiders found about warnings and refusals of duplicates, each as they reproduced it. */
let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
});
afterEach(() => world.close());

describe("while the service's list lags, what was registered a moment ago", () => {
  const beside: [string, PluginOptions][] = [
    ["by another provider of the run", { run: "up", provider: "two" }],
    ["by another stack on this machine", { environment: { PULUMI_BACKEND_URL: "file:///other" } }],
  ];
  const declared = { ...inputs, ifExists: "fail" } as const;
  const listsNothing = () =>
    world.service.fault({ operation: "list", kind: "status", status: 200, body: "[]", times: 100 });

  test.each(beside)("%s is refused with ifExists: fail", async (_, options) => {
    const up = world.plugin({ run: "up" });
    await up.check({}, { ...otherInputs });
    listsNothing();
    await world.register(options);
    expect(await codeOf(up.create(declared))).toBe("ENDPOINT_EXISTS");
    expect((await up.check({}, { ...declared })).failures).toHaveLength(1);
  });

  test("by another stack on this machine, right before this run, is refused too", async () => {
    const [, options] = beside[1] ?? [];
    await world.register(options);
    world.clock.skip(3_000);
    listsNothing();
    expect(await codeOf(world.plugin().create(declared))).toBe("ENDPOINT_EXISTS");
    expect((await world.plugin().check({}, { ...declared })).failures).toHaveLength(1);
    const { id } = await world.register();
    expect(world.warnings).toEqual([expect.stringContaining(world.ids().find((each) => each !== id) ?? "")]);
  });

  test.each(beside)("%s and is deleted since is not named", async (_, options) => {
    const up = world.plugin({ run: "up" });
    await up.check({}, { ...otherInputs });
    listsNothing();
    const { id, outs } = await world.register(options);
    await world.plugin({ ...options, run: "destroy" }).delete(id, stateOf({ outs }));
    expect((await up.create(declared)).id).not.toBe(id);
  });
});

describe("of two resources with one name below different parents", () => {
  const urnBelow = (parent: string) => `urn:pulumi:dev::test::${parent}$${TYPE_TOKEN}::hook`;
  const hook = { ...inputs, ifExists: "fail", __resourceName: "hook" } as const;

  async function recordedBelow(parent: string, args = inputs): Promise<void> {
    const made = await world.register({}, args);
    world.record("hook", made.id, {
      urn: urnBelow(parent),
      inputs: { ...args },
      outputs: { ...stateOf(made) },
    });
    world.ended("succeeded");
    world.clock.skip(60_000);
  }

  test("one that `--replace` replaces is no duplicate of itself", async () => {
    await recordedBelow("a:A");
    await recordedBelow("b:B", otherInputs);
    expect((await world.plugin().check({}, hook)).failures).toEqual([]);
  });

  test("a new one of another provider is refused with ifExists: fail", async () => {
    await recordedBelow("a:A");
    const { failures } = await world.plugin({ provider: "two" }).check({}, hook);
    expect(failures?.[0]?.reason).toContain("ENDPOINT_EXISTS");
  });
});

describe("where a partial list lacks somebody's endpoint, with which the service answers a registration", () => {
  async function answered(createdAt?: string) {
    const { id } = world.service.add({ ...inputs, ...(createdAt && { createdAt }) });
    const body = JSON.stringify({ data: [], has_more: true });
    world.service.fault({ operation: "list", kind: "status", status: 200, body, times: 100 });
    const answer = JSON.stringify({ id, ...inputs });
    world.service.fault({ operation: "register", kind: "status", status: 200, body: answer });
    return { id, made: world.register().catch(({ message }: Error) => ({ id: message })) };
  }

  test("it is not taken, as the time at which it was made tells", async () => {
    const { id, made } = await answered("2025-11-30T12:34:56Z");
    expect((await made).id).toMatch(new RegExp(`${id}, which was there before.*adoptId.*ENDPOINT_EXISTS`));
    expect([world.ids(), world.book()]).toEqual([[id], []]);
  });

  test("what was made just now is taken", async () => {
    const { id, made } = await answered();
    expect((await made).id).toBe(id);
  });

  test("it is taken if the service does not tell when it was made", async () => {
    world.service.fault({ operation: "get", kind: "status", status: 500, times: 100 });
    const { id, made } = await answered("2025-11-30T12:34:56Z");
    expect((await made).id).toBe(id);
  });
});

test("at a service that keeps one endpoint for each url, a resource that `--replace` replaces keeps its own", async () => {
  const made = await world.register();
  world.record("jobs", made.id, { inputs: { ...inputs }, outputs: { ...stateOf(made) } });
  world.ended("succeeded");
  world.clock.skip(60_000);
  const up = world.plugin();
  await up.check({}, { ...inputs, __resourceName: "jobs" });
  const body = JSON.stringify({ id: made.id, ...inputs });
  world.service.fault({ operation: "register", kind: "status", status: 200, body });
  expect((await up.create(inputs)).id).toBe(made.id);
  await up.delete(made.id, stateOf(made));
  expect(world.ids()).toEqual([made.id]);
});
