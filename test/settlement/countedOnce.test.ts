import { writeFileSync } from "node:fs";
import { startEmulator } from "../../src/emulator";
import { entryAt, inputs, otherInputs, outcome, type PluginOptions, stateOf, VerbsWorld } from "./verbsWorld";

/** A registration counts once, whatever traces of it there are, and nothing else's trace stands for it. */
let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
  world.ended("succeeded", { from: -600_000, until: -590_000 });
});
afterEach(() => world.close());

const secret = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: "x",
} as unknown as string;

/** A run was killed after its answer was in the book. */
async function killed() {
  const ours = await world.register();
  world.interrupt("jobs", inputs);
  return ours;
}

/** Has a run of a machine register or adopt an endpoint, and record it. */
async function recorded(name: string, args: typeof inputs, machine?: PluginOptions) {
  const up = world.plugin(machine);
  await up.check({}, { ...args });
  const made = await up.create(args);
  const created = world.clock.text();
  world.record(name, made.id, { inputs: { ...args }, outputs: { ...stateOf(made) }, created });
  return made;
}

describe("the operation of a registration that this run has taken over does not count again:", () => {
  test.each(["", "two"])(
    "an equal resource does not take somebody's endpoint (taken over by provider %j)",
    async (provider) => {
      const ours = await killed();
      world.clock.skip(5_000);
      const theirs = world.service.add({ ...inputs });
      world.clock.skip(60_000);
      const run = "127.0.0.1:99";
      const second = world.plugin({ run });
      const first = provider === "" ? second : world.plugin({ run, provider });
      await first.check({}, { ...inputs });
      await second.check({}, { ...inputs });
      expect((await first.create(inputs)).id).toBe(ours.id);
      expect(await outcome(second.create(inputs))).not.toBe(theirs.id);
    },
  );

  test("an equal resource does not take what somebody has made since the take-over, also on another machine", async () => {
    const ours = await world.register(world.machine("one"));
    world.interrupt("jobs", inputs);
    world.clock.skip(5_000);
    const up = world.plugin(world.machine("two"));
    await up.check({}, { ...inputs });
    await up.check({}, { ...inputs });
    expect((await up.create(inputs)).id).toBe(ours.id);
    const theirs = world.stranger();
    expect(await outcome(up.create(inputs))).not.toBe(theirs);
  });

  test("at a service that lists in parts, an equal resource is not stopped", async () => {
    const ours = await killed();
    world.clock.skip(60_000);
    world.listPart();
    const up = world.plugin();
    await up.check({}, { ...inputs });
    await up.check({}, { ...inputs });
    expect((await up.create(inputs)).id).toBe(ours.id);
    expect(await outcome(up.create(inputs))).not.toMatch(/STILL_PENDING/);
  });
});

describe.each(["register", "warn"] as const)(
  "what another machine's killed run registered for an equal resource is taken over, with ifExists: %s,",
  (ifExists) => {
    const declared = { ...inputs, ifExists };

    /** Machine one has recorded "a", in a run that failed. Machine two was killed while it registered "b". */
    async function killedBeside(args: typeof declared & { readonly adoptId?: string }) {
      const [one, two] = [world.machine("one"), world.machine("two")];
      world.clock.skip(1_000);
      const a = await recorded("a", args, one);
      world.clock.skip(5_000);
      world.ended("failed");
      world.clock.skip(60_000);
      const b = await world.register(two, declared);
      world.interrupt("b", declared);
      world.clock.skip(120_000);
      world.warnings.length = 0;
      const again = world.plugin(one);
      await again.check({ ...args }, { ...args });
      await again.diff(a.id, stateOf(a), args);
      await again.check({}, { ...declared });
      return { b, made: await outcome(again.create(declared)) };
    }

    test("also if this machine has registered and recorded one before", async () => {
      const { b, made } = await killedBeside(declared);
      expect({ made, warnings: world.warnings }).toEqual({ made: b.id, warnings: [] });
    });

    test("or is in doubt, and named, if this machine has adopted one before", async () => {
      const { id } = world.service.add({ ...inputs });
      const { b, made } = await killedBeside({ ...declared, adoptId: id });
      expect(`${made} ${world.warnings.join()}`).toContain(b.id);
    });

    test("also if a run of this machine was killed the day before, before it sent anything", async () => {
      const [one, two] = [world.machine("one"), world.machine("two")];
      const changed = { ...declared, ip: "203.0.113.7" };
      const first = await world.register(one, declared);
      world.service.remove(first.id);
      unsend(`${world.folder}/one`);
      world.interrupt("jobs", declared);
      world.clock.skip(120_000);
      // The next up there registers it. Its operation stays in the state, as Pulumi leaves it.
      const made = await recorded("jobs", declared, one);
      world.clock.skip(2_000);
      world.ended("succeeded", { from: -8_000 });
      world.clock.skip(86_400_000);
      const replacing = async (machine: typeof one) => {
        const plugin = world.plugin(machine);
        await plugin.check({ ...declared }, { ...changed });
        await plugin.diff(made.id, stateOf(made), changed);
        return plugin.create(changed);
      };
      const lost = await replacing(two);
      world.interrupt("jobs", changed);
      world.operations.reverse();
      world.clock.skip(120_000);
      world.warnings.length = 0;
      expect({ made: (await replacing(one)).id, warnings: world.warnings }).toEqual({
        made: lost.id,
        warnings: [],
      });
    });

    test("or is in doubt once nothing dates it, also if an open entry of this machine is older than the last up", async () => {
      const [one, two] = [world.machine("one"), world.machine("two")];
      const first = await world.register(one, declared);
      world.service.remove(first.id);
      world.clock.skip(60_000);
      world.ended("succeeded");
      world.clock.skip(86_400_000);
      const lost = await world.register(two, declared);
      world.interrupt("jobs", declared);
      world.clock.skip(60_000);
      world.ended("succeeded", { kind: "refresh" });
      world.clock.skip(60_000);
      world.warnings.length = 0;
      const made = await outcome(world.register(one, declared));
      expect(`${made} ${world.warnings.join()}`).toContain(lost.id);
    });
  },
);

test.each(["first", "last"])(
  "an interrupted operation with a secret url that has an entry of its own, %s in the state, does not explain somebody's endpoint",
  async (place) => {
    const up = world.plugin();
    await up.check({}, { ...inputs });
    world.service.add({ ...inputs });
    await up.create(inputs);
    await up.create(otherInputs);
    world.edit((entry) => ({ ...entry, id: null, createdAt: null }));
    if (place === "first") world.interrupt("secret", { ...otherInputs, url: secret });
    world.interrupt("jobs", inputs);
    if (place === "last") world.interrupt("secret", { ...otherInputs, url: secret });
    world.clock.skip(120_000);
    expect(await outcome(world.register())).toMatch(/REGISTRATION_IN_DOUBT/);
  },
);

test("what a killed run sent to another base URL gives no right to what somebody made at this one", async () => {
  const staging = await startEmulator({ now: world.clock.date, apiKey: world.service.apiKey });
  await world.lose({ baseUrl: staging.url }, { thenMs: 5_000 });
  await staging.close();
  const theirs = world.service.add(inputs);
  world.clock.skip(60_000);
  expect(await outcome(world.register())).not.toBe(theirs.id);
});

test.each(["whole", "partial"])(
  "the operation of a run that was killed before it sent anything counts as nothing, also after another run has failed (%s list)",
  async (list) => {
    const first = await world.register();
    world.service.remove(first.id);
    unsend(world.home);
    world.interrupt("jobs", inputs);
    world.clock.skip(2_000);
    world.ended("failed", { from: -4_000 });
    world.clock.skip(60_000);
    world.ended("failed", { from: -4_000 });
    world.clock.skip(3_000);
    const theirs = list === "whole" ? world.service.add({ ...inputs }) : undefined;
    world.clock.skip(60_000);
    if (list === "partial") world.listPart();
    const made = await outcome(world.register());
    expect(made).toMatch(/^wh_/);
    expect(made).not.toBe(theirs?.id);
  },
);

test.each(["warn", "register"] as const)(
  "the entry of a pending resource stands for no operation of another machine (ifExists: %s)",
  async (ifExists) => {
    const declared = { ...inputs, ifExists };
    const [one, two] = [world.machine("one"), world.machine("two")];
    world.clock.skip(1_000);
    const pending = await world.leavePending("reset-after", one, declared);
    const [a] = world.ids();
    world.record("a", pending.id, { inputs: { ...declared }, outputs: { ...pending.properties } });
    world.ended("failed");
    world.clock.skip(60_000);
    const b = await world.register(two, declared);
    world.interrupt("b", declared);
    world.clock.skip(120_000);
    world.warnings.length = 0;
    const up = world.plugin(one);
    await up.check({ ...declared }, { ...declared });
    await up.diff(pending.id, pending.properties, declared);
    await up.check({}, { ...declared });
    const first = await outcome(up.create(declared));
    const second = await outcome(up.create(declared));
    expect({ made: [first, second].sort(), n: world.ids().length, w: world.warnings }).toEqual({
      made: [a, b.id].sort(),
      n: 2,
      w: [],
    });
  },
);

test("what a resource of another name has taken over, in a run that failed, explains nothing else", async () => {
  const ours = await killed();
  world.clock.skip(60_000);
  expect((await recorded("tasks", inputs)).id).toBe(ours.id);
  world.clock.skip(5_000);
  const theirs = world.service.add({ ...inputs });
  world.ended("failed");
  world.clock.skip(60_000);
  expect(await outcome(world.register())).not.toBe(theirs.id);
});

test("what a resource has adopted, two failed runs ago, gives no right to somebody's endpoint", async () => {
  const [one, two] = [world.machine("one"), world.machine("two")];
  const ours = await world.register(two);
  world.interrupt("jobs", inputs);
  world.clock.skip(60_000);
  await recorded("tasks", { ...inputs, adoptId: ours.id }, one);
  world.clock.skip(5_000);
  world.ended("failed");
  world.clock.skip(60_000);
  const theirs = world.service.add({ ...inputs });
  world.clock.skip(2_000);
  world.ended("failed");
  world.clock.skip(60_000);
  expect(await outcome(world.register(one))).not.toBe(theirs.id);
});

test.each(["warn", "register"] as const)(
  "an entry of another url that is over stands for no operation with a secret url (ifExists: %s)",
  async (ifExists) => {
    const [one, two] = [world.machine("one"), world.machine("two")];
    const v = { ...inputs, url: "https://hooks.example.com/t0ken/v" };
    const declared = { ...inputs, ifExists };
    world.clock.skip(1_000);
    const made = await recorded("v", v, one);
    world.ended("failed");
    world.clock.skip(60_000);
    const down = world.plugin(one);
    await down.delete(made.id, stateOf(made));
    world.resources = [];
    world.ended("failed");
    world.clock.skip(60_000);
    const lost = await world.register(two, declared);
    world.interrupt("jobs", { ...declared, url: secret });
    world.clock.skip(120_000);
    world.warnings.length = 0;
    expect(`${await outcome(world.register(one, declared))} ${world.warnings.join()}`).toContain(lost.id);
  },
);

/** Makes the entries of a machine those of a run that was killed before it sent anything. */
function unsend(home: string): void {
  for (const path of world.bookFiles(home)) {
    const entry = entryAt(path);
    const process = { ...entry.process, start: "dead" };
    writeFileSync(path, JSON.stringify({ ...entry, sent: null, id: null, createdAt: null, process }));
  }
}
