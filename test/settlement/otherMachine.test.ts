import { mkdirSync } from "node:fs";
import type { PendingError } from "../../src/endpoint/errors";
import { codeOf, failure, inputs, otherInputs, type PluginOptions, stateOf, VerbsWorld } from "./verbsWorld";

let world: VerbsWorld;
let elsewhere: PluginOptions;
beforeEach(async () => {
  world = await VerbsWorld.start();
  const PULUMI_HOME = `${world.folder}/elsewhere`;
  mkdirSync(PULUMI_HOME);
  elsewhere = { environment: { PULUMI_HOME } };
  world.ended("succeeded", { from: -60_000, until: -30_000 });
});
afterEach(() => world.close());

/** An endpoint that a killed run on another machine made, whose operation the state holds. */
function interrupted({ provider = "default", thenMs = 60_000, args = inputs } = {}): string {
  const { id } = world.service.add({ url: args.url, type: args.type });
  world.interrupt("jobs", args, { provider });
  world.clock.skip(thenMs);
  return id;
}
/** Registers on this other machine. */
const register = (options?: PluginOptions, args = inputs) =>
  world.register({ ...elsewhere, ...options }, args);

describe("an interrupted operation in the state of another machine", () => {
  test("gives the endpoint that the killed run made to the next run", async () => {
    const lost = interrupted();
    expect((await register()).id).toBe(lost);
    expect(world.ids()).toEqual([lost]);
  });

  test("does so in a run whose folder PULUMI_OPTION_CWD names, relative to another one", async () => {
    world.printState = 'test -z "$PULUMI_OPTION_CWD" && cat state.json';
    const lost = interrupted();
    const environment = { ...elsewhere.environment, PULUMI_OPTION_CWD: "infra" };
    expect((await register({ environment })).id).toBe(lost);
  });

  test("gives nothing away that was made before the last up that succeeded had ended", async () => {
    const others = world.service.add({ ...inputs, createdAt: world.clock.text(-40_000) });
    world.interrupt("jobs", inputs);
    world.clock.skip(60_000);
    expect((await register()).id).not.toBe(others.id);
    expect(world.warnings.join()).toContain(others.id);
  });

  test("gives nothing away that was made after the killed run's last write, its timeout and the patience", async () => {
    world.interrupt("jobs", inputs);
    world.clock.skip(60_000);
    const others = world.service.add(inputs);
    expect((await register()).id).not.toBe(others.id);
    expect(world.warnings.join()).toContain(others.id);
  });

  test.each([
    ["an up that failed", "failed", "update"],
    ["a refresh", "succeeded", "refresh"],
    ["a destroy", "succeeded", "destroy"],
  ] as const)("is in doubt after %s, which hides when the run was killed", async (_, result, kind) => {
    const lost = interrupted();
    world.ended(result, { kind });
    world.clock.skip(60_000);
    const { message } = await failure(register());
    expect(message).toMatch(/REGISTRATION_IN_DOUBT/);
    expect(message).toContain(lost);
  });

  test.each([[[]], [["target"]]])(
    "is in doubt after a later up with the flags %j, which wrote the state",
    async (flags) => {
      interrupted();
      world.ended("succeeded", { flags });
      world.clock.skip(60_000);
      expect(await codeOf(register())).toBe("REGISTRATION_IN_DOUBT");
      expect(world.ids()).toHaveLength(1);
    },
  );

  test("is in doubt if the history cannot be read", async () => {
    interrupted();
    world.printHistory = "exit 1";
    expect(await codeOf(register())).toBe("REGISTRATION_IN_DOUBT");
  });

  test.each([
    [
      "ends with an error",
      () => ({ printState: "exit 3" }),
      /`pulumi stack export --stack dev` ended with exit status 3/,
    ],
    ["prints something else", () => ({ printState: "echo s3cret" }), /ended with exit status 0/],
  ])("is not seen if the command %s, and the run says so", async (_, broken, reason) => {
    const lost = interrupted();
    Object.assign(world, broken());
    const plugin = world.plugin(elsewhere);
    await plugin.check({}, { ...inputs });
    await plugin.create(inputs);
    const said = world.warnings.filter((each) => /state of this stack cannot be read/.test(each));
    expect(said).toEqual([expect.stringMatching(reason)]);
    expect(world.warnings.join()).toContain(lost);
    expect(world.warnings.join()).not.toContain("s3cret");
  });

  test("is in doubt if the state was written after this run began, because then nothing tells the window", async () => {
    interrupted();
    world.written = world.clock.text(3_600_000);
    world.save();
    expect(await codeOf(register())).toBe("REGISTRATION_IN_DOUBT");
  });

  test("is in doubt if the state keeps its url as a secret, which may be any url", async () => {
    interrupted();
    const [operation] = world.operations;
    Object.assign(operation?.resource ?? {}, { inputs: { ...inputs, url: { ciphertext: "v1:x" } } });
    expect(await codeOf(register())).toBe("REGISTRATION_IN_DOUBT");
  });

  test("is in doubt for a resource with another ip", async () => {
    interrupted({ args: { ...inputs, ip: "192.0.2.1" } });
    expect(await codeOf(register())).toBe("REGISTRATION_IN_DOUBT");
  });

  test("of another provider gives nothing away", async () => {
    const lost = interrupted({ provider: "eu" });
    for (const provider of [undefined, "us"]) {
      const made = await register(provider === undefined ? {} : { provider });
      expect(made.id).not.toBe(lost);
      world.record("another", made.id, { provider: provider ?? "default", outputs: { ...stateOf(made) } });
    }
    expect((await register({ provider: "eu" })).id).toBe(lost);
  });

  test("gives nothing away that another stack has registered from this machine", async () => {
    world.interrupt("jobs", inputs);
    const { id } = await register({
      environment: { ...elsewhere.environment, PULUMI_BACKEND_URL: "file:///other" },
    });
    world.clock.skip(60_000);
    expect((await register()).id).not.toBe(id);
  });

  test("is healed, and ignored, if the state has the resource as it was declared", async () => {
    const others = interrupted();
    const settled = world.service.add(inputs);
    world.record("jobs", settled.id, { inputs: { ...inputs } });
    expect((await register()).id).not.toBe(others);
    expect(world.warnings.join()).toContain(others);
  });

  test("is not healed by a resource of that name with another url", async () => {
    const lost = interrupted();
    world.record("jobs", "another", { inputs: { ...inputs, url: "https://hooks.example.com/old" } });
    expect((await register()).id).toBe(lost);
  });

  test("that begins while the run is under way is this run's own", async () => {
    const run = world.plugin(elsewhere);
    await run.check({}, { ...inputs });
    const others = world.service.add(inputs);
    world.interrupt("a", inputs);
    world.interrupt("b", inputs);
    world.clock.skip(60_000);
    const made = await Promise.all([run.create(inputs), run.create(inputs)]);
    expect(made.map(({ id }) => id)).not.toContain(others.id);
  });

  test("that was to adopt an endpoint has registered nothing", async () => {
    const others = interrupted({ args: { ...inputs, adoptId: "wh_1" } });
    expect((await register()).id).not.toBe(others);
  });

  test.each([
    ["has deleted the old one first", { pendingReplacement: true }],
    ["moves to another provider", { provider: "before" }],
  ])("that replaces an adopted endpoint, and %s, has registered another one", async (_, recorded) => {
    const adoptId = world.service.add(otherInputs).id;
    world.record("jobs", adoptId, { inputs: { ...otherInputs, adoptId }, ...recorded });
    const lost = interrupted({ args: { ...inputs, adoptId } });
    expect((await register()).id).toBe(lost);
  });

  test("and an entry of this machine are traces of one registration, and count once", async () => {
    const { id } = await world.register();
    world.edit((entry) => ({ ...entry, id: null, createdAt: null }));
    world.interrupt("jobs", inputs);
    world.clock.skip(1_000);
    world.service.add(inputs);
    world.clock.skip(60_000);
    const { message } = await failure(world.register());
    expect(message).toMatch(/REGISTRATION_IN_DOUBT/);
    expect(message).toMatch(/2 endpoints fit 1 pending registration/);
    expect(message).toContain(id);
  });
});

test("the endpoint of a request that was sent again after 503 is found on another machine by the time of the first", async () => {
  const { service, clock } = world;
  const headers = { "retry-after": "12" };
  service.fault({ operation: "register", kind: "status", status: 503, headers, effect: true });
  service.fault({ operation: "register", kind: "status", status: 500 });
  service.fault({ operation: "list", kind: "status", status: 200, body: "[]", times: 100 });
  const { id, properties } = (await failure(register())) as PendingError;
  const [made] = world.ids();
  expect(world.ids()).toHaveLength(1);
  service.clearFaults();
  clock.skip(60_000);
  const PULUMI_HOME = `${world.folder}/third`;
  mkdirSync(PULUMI_HOME);
  const read = await world.plugin({ environment: { PULUMI_HOME } }).read(id, properties);
  expect(read.id).toBe(made);
});

describe("the preview", () => {
  const preview = async (args = inputs) =>
    (await world.plugin(elsewhere).check({}, { ...args, __resourceName: "jobs" } as never)).failures
      ?.map(({ reason }) => reason)
      .join();

  test("fails with what create would stop with", async () => {
    interrupted();
    world.printHistory = "exit 1";
    expect(await preview()).toMatch(/REGISTRATION_IN_DOUBT/);
    expect(await preview({ ...inputs, ifExists: "register" })).toBe("");
  });

  test("says nothing of a duplicate that create would take over, and waits for nothing", async () => {
    interrupted({ thenMs: 1 });
    const startedAt = world.clock.now();
    expect(await preview()).toBe("");
    expect(world.warnings.join()).not.toMatch(/already has/);
    expect(world.clock.now() - startedAt).toBeLessThan(15_000);
  });

  test("warns of an equal endpoint that nothing shows to be ours", async () => {
    world.service.add(inputs);
    expect(await preview()).toBe("");
    expect(world.warnings.join()).toMatch(/already has an endpoint/);
  });
});
