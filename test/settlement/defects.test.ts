import { writeFileSync } from "node:fs";
import type { EndpointState } from "../../src/endpoint/types";
import { codeOf, failure, inputs, otherInputs, type PluginOptions, stateOf, VerbsWorld } from "./verbsWorld";

/** What outsiders reproduced with a service of their own: each once took somebody's endpoint, or made a duplicate in silence. */
let world: VerbsWorld;
let nextIds: string[];
beforeEach(async () => {
  nextIds = [];
  let made = 0;
  const accounts = { "key-a": "a", "key-b": "b" };
  world = await VerbsWorld.start({ accounts, newId: () => nextIds.shift() ?? `wh_${++made}` });
  world.ended("succeeded", { from: -60_000, until: -30_000 });
});
afterEach(() => world.close());

const elsewhere = (): PluginOptions => ({ environment: { PULUMI_HOME: world.folder } });
const otherStack: PluginOptions = { environment: { PULUMI_BACKEND_URL: "file:///other" } };
const stranger = () => world.service.add(inputs).id;

describe("defect 1: another machine registers the same url and type 23 s after ours, which never arrived:", () => {
  const vain = async (): Promise<{ id: string; state: EndpointState }> => {
    world.service.fault({ operation: "register", kind: "hang-before" });
    const error = await failure(world.register());
    return { id: String(Reflect.get(error, "id")), state: Reflect.get(error, "properties") };
  };

  test.each<[string, () => Promise<PluginOptions>]>([
    [
      "an interrupted operation in the state",
      async () => {
        world.interrupt("jobs", inputs);
        return elsewhere();
      },
    ],
    [
      "the book",
      async () => {
        await world.loseInVain({}, { thenMs: 0 });
        return {};
      },
    ],
  ])("with %s as evidence, create takes nothing", async (_, happen) => {
    const options = await happen();
    world.clock.skip(63_000);
    const others = stranger();
    expect((await world.register(options)).id).not.toBe(others);
    expect(world.warnings.join()).toContain(others);
  });

  test("with a pending resource as evidence, create and read take nothing, and delete deletes nothing", async () => {
    const { id, state } = await vain();
    world.record("jobs", id, { outputs: { ...state } });
    world.clock.skip(23_000);
    const others = stranger();
    expect(await world.plugin({ rootUrn: undefined }).read(id, state)).toEqual({});
    const up = world.plugin();
    await up.diff(id, state, inputs);
    expect((await up.create(inputs)).id).not.toBe(others);
    await world.plugin().delete(id, state);
    expect(world.ids()).toContain(others);
  });
});

describe("defect 2: two providers of one account with equal url and type in one program:", () => {
  test("one lost registration never gives both resources one id", async () => {
    world.service.fault({ operation: "register", kind: "hang-after" });
    const made = await Promise.all(
      ["", "second"].map((provider) => world.register({ run: "one", provider }).catch(() => undefined)),
    );
    const ids = made.flatMap((each) => each?.id ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(0);
  });

  test("after a kill of both while the list lags, each gets its own endpoint", async () => {
    await Promise.all(["", "second"].map((provider) => world.register({ run: "killed", provider })));
    world.edit((entry) => ({ ...entry, id: null, sent: entry.sent && { ...entry.sent, before: [] } }));
    world.clock.skip(60_000);
    const made = await Promise.all(
      ["", "second"].map((provider) => world.register({ run: "next", provider })),
    );
    expect(made.map(({ id }) => id).sort()).toEqual(world.ids().sort());
    expect(world.ids()).toHaveLength(2);
  });

  test("removing one of two resources that hold one adopted endpoint leaves it", async () => {
    const made = await world.register({ run: "0" }, { ...inputs, adoptId: stranger() });
    for (const provider of ["default", "second"])
      world.record(provider, made.id, { provider, outputs: { ...stateOf(made) } });
    await world.plugin().delete(made.id, stateOf(made));
    expect(world.ids()).toEqual([made.id]);
  });
});

describe("defect 3: ids that count per account:", () => {
  test("after a change to another account's key, its endpoint with our id is neither read nor kept nor deleted", async () => {
    nextIds = ["1", "1"];
    const made = await world.register({ apiKey: "key-a" });
    world.record("jobs", made.id, { outputs: { ...stateOf(made) } });
    world.service.add(otherInputs, "b");
    const changed = { apiKey: "key-b" };
    expect(await world.plugin(changed).read(made.id, stateOf(made))).toEqual({});
    expect((await world.plugin(changed).diff(made.id, stateOf(made), inputs)).replaces).toEqual(["account"]);
    await world.plugin(changed).delete(made.id, stateOf(made));
    expect(world.ids("b")).toEqual(["1"]);
  });

  test("another stack's entry with the same id, in another account or long closed, does not keep ours from being recognized", async () => {
    nextIds = ["1", "1"];
    const theirs = await world.register({ ...otherStack, apiKey: "key-b" });
    world.edit((entry) => ({ ...entry, closed: true }));
    world.clock.skip(60_000);
    const lost = await world.lose({ apiKey: "key-a" });
    expect(lost).toBe(theirs.id);
    expect((await world.register({ apiKey: "key-a" })).id).toBe(lost);
  });
});

test("defect 4: a retained endpoint that another stack has adopted since is not taken back when its url is declared again", async () => {
  const made = await world.register();
  world.clock.skip(60_000);
  world.ended("succeeded", { from: -90_000, until: -30_000 });
  await world.register(otherStack, { ...inputs, adoptId: made.id });
  expect((await world.register()).id).not.toBe(made.id);
  expect(world.warnings.join()).toContain(made.id);
});

describe("defect 5: a replacement that was killed after its request:", () => {
  const replace = async () => {
    const old = await world.register();
    world.record("jobs", old.id, { outputs: { ...stateOf(old) } });
    const lost = await world.lose();
    world.warnings.length = 0;
    return { old, lost };
  };

  test("a plain up names what it left, and keeps the old endpoint", async () => {
    const { old, lost } = await replace();
    const up = world.plugin();
    await up.check({ ...inputs }, { ...inputs });
    expect((await up.diff(old.id, stateOf(old), inputs)).replaces).toEqual([]);
    expect(world.warnings.join()).toContain(lost);
    expect(world.warnings.join()).toContain("recover");
  });

  test("repeated, it takes over what it left", async () => {
    const { lost } = await replace();
    const up = world.plugin();
    await up.check({}, { ...inputs, __resourceName: "jobs" });
    expect((await up.create(inputs)).id).toBe(lost);
  });

  test("an up that changed the url names what it left", async () => {
    const { old, lost } = await replace();
    const up = world.plugin();
    await up.check({ ...inputs }, { ...otherInputs });
    await up.diff(old.id, stateOf(old), otherInputs);
    await up.create(otherInputs);
    expect(world.warnings.join()).toContain(lost);
  });
});

describe("defect 6: a duplicate because evidence is lost does not come:", () => {
  test.each<[string, () => PluginOptions]>([
    [
      "the API key was rotated",
      () => {
        world.service.rotateKey("emulator-api-key", "rotated");
        return { apiKey: "rotated" };
      },
    ],
    [
      "20 refreshes have run",
      () => {
        for (let runs = 0; runs < 20; runs++)
          world.ended("succeeded", { kind: "refresh", from: -1, until: 0 });
        return {};
      },
    ],
    [
      "an up with --target has run",
      () => {
        world.ended("succeeded", { flags: ["target"] });
        return {};
      },
    ],
    [
      "the clock was put back an hour",
      () => ({
        clock: {
          ...world.clock,
          now: world.clock.now,
          after: world.clock.after,
          date: () => world.clock.date() - 3_600_000,
        },
      }),
    ],
  ])("what a killed run made is taken over after %s", async (_, happen) => {
    const lost = await world.lose();
    expect((await world.register(happen())).id).toBe(lost);
    expect(world.ids()).toEqual([lost]);
  });

  test("the state as the only evidence stops after an up with --target", async () => {
    stranger();
    world.interrupt("jobs", inputs);
    world.clock.skip(5_000);
    world.ended("succeeded", { flags: ["target"], from: -3_000 });
    world.clock.skip(60_000);
    expect(await codeOf(world.register(elsewhere()))).toBe("REGISTRATION_IN_DOUBT");
  });
});

test("defect 7: a book that cannot be written says in one line that protection is off", async () => {
  writeFileSync(`${world.home}/webhook-endpoints`, "");
  const run = world.plugin();
  await run.create(inputs);
  await run.create(otherInputs);
  expect(world.warnings.filter((warning) => /cannot use .* does not know/.test(warning))).toHaveLength(1);
});
