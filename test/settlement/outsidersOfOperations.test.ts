import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, inputs, outcome, stateOf, VerbsWorld } from "./verbsWorld";

/** What outsiders found about interrupted operations that a later run has settled, and about empty states, each as they reproduced it. */
let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
});
afterEach(() => world.close());

describe("after a killed up and a destroy, which leaves an empty state", () => {
  async function destroyed() {
    const lost = await world.lose();
    world.interrupt("jobs", inputs);
    world.ended("succeeded", { kind: "destroy" });
    // The state is empty now.
    writeFileSync(
      join(world.folder, "empty.json"),
      JSON.stringify({ version: 3, deployment: { manifest: { time: world.written } } }),
    );
    world.clock.skip(60_000);
    return lost;
  }
  test("the preview of the next up fails with nothing", async () => {
    const lost = await destroyed();
    world.printState = "cat empty.json";
    const { failures } = await world.plugin({ rootUrn: undefined }).check({}, { ...inputs });
    expect(failures).toEqual([]);
    const known = await world.plugin().check({}, { ...inputs });
    expect([known.failures, lost]).toEqual([[], lost]);
  });
  test("the next up takes over what the killed one made", async () => {
    const lost = await destroyed();
    world.created = world.clock.text();
    expect(await outcome(world.register())).toBe(lost);
  });
  test("the next up on another machine makes no second one", async () => {
    const lost = await destroyed();
    world.created = world.clock.text();
    const PULUMI_HOME = `${world.folder}/elsewhere`;
    mkdirSync(PULUMI_HOME);
    expect(await outcome(world.register({ environment: { PULUMI_HOME } }))).toMatch(/REGISTRATION_IN_DOUBT/);
    expect(world.ids()).toEqual([lost]);
  });
});

describe("an operation that an up has healed", () => {
  test.each([
    ["before", -30 * 86_400_000],
    ["after", -60_000],
  ])(
    "does not stop a later replacement because of what somebody made long %s the kill",
    async (_when, offset) => {
      // Killed 2 days ago, healed an hour later, then ip changed once.
      world.created = world.clock.text(-10 * 86_400_000);
      const e2 = world.service.add({ ...inputs, createdAt: world.clock.text(-86_400_000) });
      world.operations.push({
        type: "creating",
        resource: {
          urn: `urn:pulumi:dev::test::pulumi-nodejs:dynamic/webhooks:WebhookEndpoint::jobs`,
          type: "pulumi-nodejs:dynamic/webhooks:WebhookEndpoint",
          provider: "urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::default::0a1b",
          inputs: { ...inputs },
        },
      });
      const outs = {
        ...inputs,
        ip: "203.0.113.1",
        createdAt: null,
        updatedAt: null,
        baseUrl: world.service.url,
        account: undefined,
      };
      world.record("jobs", e2.id, { inputs: { ...inputs, ip: "203.0.113.1" }, outputs: outs });
      world.ended("succeeded", { from: -86_400_000 - 10_000, until: -86_400_000 });
      const theirs = world.service.add({ ...inputs, createdAt: world.clock.text(offset) });
      const up = world.plugin();
      const declared = { ...inputs, ip: "203.0.113.2" };
      await up.check({ ...inputs, ip: "203.0.113.1" }, { ...declared });
      await up.diff(e2.id, outs as never, declared);
      expect(await outcome(up.create(declared))).not.toMatch(/REGISTRATION_IN_DOUBT/);
      expect(world.warnings.join()).toContain(theirs.id);
    },
  );
});

describe("an equal resource, after a person has adopted what an interrupted operation made", () => {
  test("takes nothing of somebody's", async () => {
    const m2 = world.machine("two");
    world.ended("succeeded", { from: -600_000, until: -590_000 });
    const ours = world.service.add({ ...inputs });
    const theirs = world.service.add({ ...inputs });
    world.interrupt("jobs", inputs);
    world.clock.skip(120_000);
    expect(await codeOf(world.register(m2))).toBe("REGISTRATION_IN_DOUBT");
    const up = world.plugin(m2);
    await up.check({}, { ...inputs, adoptId: ours.id });
    await up.check({}, { ...inputs });
    expect((await up.create({ ...inputs, adoptId: ours.id })).id).toBe(ours.id);
    expect(await outcome(up.create(inputs))).not.toBe(theirs.id);
  });
});

test("a healed operation with a secret url does not make ifExists: warn stop at another url", async () => {
  const secret = (ciphertext: string) => ({
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    ciphertext,
  });
  const e1 = await world.register();
  world.edit((entry) => ({ ...entry, closed: true }));
  const inputsOf = (text: string) => ({ ...inputs, url: secret(text) });
  world.record("jobs", e1.id, { inputs: inputsOf("v1:a"), outputs: { ...stateOf(e1), url: secret("v1:b") } });
  world.interrupt("jobs", inputsOf("v1:c") as never);
  world.clock.skip(60_000);
  world.ended("succeeded");
  world.clock.skip(86_400_000);
  const other = { ...inputs, url: "https://somewhere-else.example.com/" };
  const theirs = world.service.add({ ...other, createdAt: world.clock.text(-3_600_000) });
  const up = world.plugin();
  expect((await up.check({}, { ...other })).failures).toEqual([]);
  expect(await outcome(up.create(other))).not.toMatch(/REGISTRATION_IN_DOUBT/);
  expect(world.warnings.join()).toContain(theirs.id);
});

test.each(["none", "of a secret url", "of the same url and type"])(
  "what a run that failed had registered, and a person moved to another stack, is in doubt (healed operation: %s)",
  async (which) => {
    const secret = (ciphertext: string) => ({
      "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
      ciphertext,
    });
    if (which !== "none") {
      const args = which === "of a secret url" ? { ...inputs, url: "https://x.example.com/" } : inputs;
      const healed = await world.register({}, args);
      const shown = (text: string) =>
        which === "of a secret url" ? { ...args, url: secret(text) } : { ...args };
      world.record("healed", healed.id, {
        created: world.clock.text(),
        inputs: shown("a"),
        outputs: { ...stateOf(healed), ...shown("b") },
      });
      world.interrupt("healed", shown("c") as never);
      world.ended("succeeded");
      world.clock.skip(3_600_000);
    }
    const up = world.plugin();
    await up.check({}, { ...inputs });
    const moved = await up.create(inputs);
    world.ended("failed", { until: 1_000 });
    world.clock.skip(60_000);
    const made = await outcome(world.register());
    expect(made).toMatch(/REGISTRATION_IN_DOUBT/);
    expect(made).toContain(moved.id);
  },
);

describe("a resource that so far only read an endpoint (.get), and is declared with `new` under the same name", () => {
  async function reading() {
    const theirs = world.service.add({ ...inputs, createdAt: world.clock.text(-86_400_000) });
    const read = await world.plugin().read(theirs.id, {});
    world.record("jobs", theirs.id, {
      external: true,
      inputs: { ...inputs },
      outputs: { ...(read.props as object) },
    });
    world.ended("succeeded");
    world.clock.skip(60_000);
    return { theirs, up: world.plugin() };
  }
  test("ifExists: fail refuses", async () => {
    const { up } = await reading();
    const declared = { ...inputs, ifExists: "fail" } as const;
    const { failures = [] } = await up.check({}, { ...declared, __resourceName: "jobs" });
    const made = failures.length > 0 ? failures[0]?.reason : await outcome(up.create(declared));
    expect(made).toMatch(/ENDPOINT_EXISTS/);
  });
  test("ifExists: warn names it", async () => {
    const { up, theirs } = await reading();
    await up.check({}, { ...inputs, __resourceName: "jobs" });
    await up.create(inputs);
    expect(world.ids()).toHaveLength(2);
    expect(world.warnings.join()).toContain(theirs.id);
  });
  test("at a service that keeps one endpoint for each url, it is not taken", async () => {
    const { up, theirs } = await reading();
    await up.check({}, { ...inputs, __resourceName: "jobs" });
    world.service.fault({
      operation: "register",
      kind: "status",
      status: 200,
      body: JSON.stringify({ id: theirs.id, ...inputs }),
    });
    expect(await outcome(up.create(inputs))).toMatch(/ENDPOINT_EXISTS/);
  });
});
