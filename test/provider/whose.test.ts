import { TYPE_TOKEN } from "../../src/shared/permanent";
import { type Declared, HAND_WRITTEN, Killed, urnOf } from "./engineModel";
import type { Habits } from "./fakeService";
import { declared, GRACE_MS, urlOf, World } from "./world";

let world: World;
const begin = (habits: Habits = {}) => {
  world = new World(habits);
};
beforeEach(() => begin());

const ids = () => world.service.endpoints.map(({ id }) => id);
const recorded = () => world.stack.resources.map(({ id }) => id);
const settled = (program: readonly Declared[], others = world.unowned().filter(({ by }) => !by)) =>
  expect(world.differences(program, others)).toEqual([]);
/** Expects that a plain `up` puts everything right, and asks nobody. */
async function heals(program: readonly Declared[]): Promise<void> {
  expect(await world.up(program)).toEqual([]);
  settled(program);
}
/** Runs an `up` that is killed when a registration, or another request, gets so far. */
async function killedUp(
  program: readonly Declared[],
  at: "arrived" | "done",
  operation: "register" | "get" = "register",
): Promise<void> {
  world.service.watch = (request, moment) => {
    if (request.operation === operation && moment === at) world.kill();
  };
  await expect(world.up(program)).rejects.toThrow(Killed);
  world.service.watch = () => {};
  await world.time.pass(2_000);
}
/** Adopts an endpoint, whose `adoptId` then stays in the program. */
async function adopted(): Promise<string> {
  const { id } = world.service.add({ url: urlOf("a") });
  await world.time.pass(60_000);
  await heals([declared("a", "a", { adoptId: id })]);
  return id;
}

describe("an adoptId that stays in the program", () => {
  const changes: [string, Declared][] = [
    ["url", declared("a", "a2")],
    ["type", declared("a", "a", { type: "development" })],
    ["ip", declared("a", "a", { ip: "192.0.2.1" })],
  ];
  const cuts: [string, () => Promise<Declared>, (program: Declared) => Promise<unknown>][] = [];
  for (const [what, to] of changes) {
    const kept = async () => ({ ...to, args: { ...to.args, adoptId: await adopted() } });
    cuts.push([`of its ${what} that is killed once it is registered`, kept, (it) => killedUp([it], "done")]);
    cuts.push([
      `of its ${what} that is killed and takes effect late`,
      kept,
      (it) => {
        world.service.fault({ operation: "register", kind: "late-commit", delayMs: 16_000 });
        return killedUp([it], "arrived");
      },
    ]);
    cuts.push([
      `of its ${what} that gets no response and takes effect late`,
      kept,
      async (it) => {
        world.service.fault({ operation: "register", kind: "late-commit", delayMs: 12_000 });
        expect(await world.up([it])).toEqual([expect.stringMatching(/REGISTRATION_PENDING/)]);
      },
    ]);
  }

  test.each(cuts)("does not keep the next up from healing a replacement %s", async (_, declare, cut) => {
    for (const isRemoved of [false, true]) {
      begin();
      const replaced = await declare();
      await cut(replaced);
      const { adoptId: _adoptId, ...args } = replaced.args;
      await heals([isRemoved ? { ...replaced, args } : replaced]);
      await world.time.pass(GRACE_MS);
      settled([replaced]);
      expect(await world.up([replaced], { refresh: true })).toEqual([]);
      settled([replaced]);
    }
  });

  test("has no effect when a hook has a registration without a response tried again", async () => {
    const adoptId = await adopted();
    const replaced = [declared("a", "a", { adoptId })];
    world.service.fault({ operation: "register", kind: "late-commit", delayMs: 12_000 });
    const problems = await world.up(replaced, { replace: ["a"], retries: 3 });
    expect(problems).toEqual([expect.stringMatching(/REGISTRATION_PENDING/)]);
    expect(world.service.changes.filter((each) => each === "register")).toHaveLength(1);
    await heals(replaced);
  });

  test("has no effect on a resource that --replace replaces", async () => {
    const adoptId = await adopted();
    const kept = [declared("a", "a", { adoptId })];
    expect(await world.up(kept, { replace: ["a"] })).toEqual([]);
    settled(kept);
    expect(ids()).not.toContain(adoptId);
    await heals(kept);
  });

  test("adopts in the next up, which waits for nothing, if the run that was to adopt is killed", async () => {
    const { id } = world.service.add({ url: urlOf("a") });
    const adopting = [declared("a", "a", { adoptId: id })];
    await killedUp(adopting, "arrived", "get");
    const started = world.time.now();
    await heals(adopting);
    expect(world.time.now() - started).toBeLessThan(1_000);
    expect(ids()).toEqual([id]);
  });
});

test.each([0, 1])(
  "adoptId adopts, although a resource of the same name in another component has an endpoint (declared at %d)",
  async (at) => {
    const one: Declared = { ...declared("hook", "one"), parent: "my:one:C" };
    await heals([one]);
    const { id } = world.service.add({ url: urlOf("two") });
    const two: Declared = { ...declared("hook", "two", { adoptId: id }), parent: "my:two:C" };
    await heals([one].toSpliced(at, 0, two));
    expect(ids().sort()).toEqual(recorded().sort());
    expect(ids()).toHaveLength(2);
  },
);

test.each<[string, number, Partial<Declared["args"]>]>([
  ["adoptId", 422, {}],
  ["adoptId", 409, {}],
  ['ifExists: "adopt"', 422, { ifExists: "adopt" }],
])("%s adopts after a replacement that deletes first was refused with %d", async (_, status, more) => {
  await heals([declared("a", "1")]);
  const replaced = { ...declared("a", "2", more), deleteBeforeReplace: true };
  world.service.fault({ operation: "register", kind: "status", status });
  expect(await world.up([replaced])).toEqual([expect.stringMatching(/REJECTED/)]);
  const { id } = world.service.add({ url: urlOf("2") });
  const adoptId = more.ifExists ? {} : { adoptId: id };
  const adopting = { ...replaced, args: { ...replaced.args, ...adoptId } };
  await heals([adopting]);
  expect(ids()).toEqual([id]);
  await heals([adopting]);
});

describe("at a service that uses ids again", () => {
  beforeEach(() => begin({ reusesIds: true }));
  const others = () => world.service.endpoints.filter(({ url }) => url === urlOf("stranger"));

  test("a replacement that deletes first gets one endpoint, and registers no other one afterwards", async () => {
    await heals([declared("a")]);
    const changes = [declared("a", "2"), declared("a", "2", { ip: "192.0.2.1" }), declared("a", "3")];
    for (const change of changes)
      for (const program of [change, change].map((each) => ({ ...each, deleteBeforeReplace: true }))) {
        await heals([program]);
        expect(ids()).toHaveLength(1);
      }
  });

  test.each(["destroy", "up", "up --refresh", "a replacement"] as const)(
    "%s neither takes nor deletes what somebody else registered with the id",
    async (command) => {
      for (const known of [false, true]) {
        begin({ reusesIds: true });
        await heals([declared("a")]);
        if (known) expect(await world.refresh()).toEqual([]);
        await world.time.pass(60_000);
        const [id = ""] = ids();
        world.service.remove(id);
        const stranger = world.service.add({ url: urlOf("stranger") });
        expect(stranger.id).toBe(id);
        await world.time.pass(60_000);
        const program = command === "a replacement" ? [declared("a", "new")] : [declared("a")];
        const run = {
          destroy: () => world.destroy(),
          up: () => world.up([]),
          "up --refresh": () => world.up(program, { refresh: true }),
          "a replacement": () => world.up(program),
        };
        expect(await run[command]()).toEqual([]);
        expect(others()).toEqual([stranger]);
        settled(command === "destroy" || command === "up" ? [] : program, [stranger]);
      }
    },
  );

  test("a destroy does not delete what somebody else registered with the id within the second in which the first one was made", async () => {
    world.service.fault({ operation: "register", kind: "lost-after" });
    await world.up([declared("a")]);
    await heals([declared("a")]);
    world.service.remove(ids()[0] ?? "");
    const stranger = world.service.add({ url: urlOf("stranger") });
    expect(ids()).toEqual([stranger.id]);
    expect(await world.destroy()).toEqual([]);
    settled([], [stranger]);
  });

  test.each([[""], [", also with a rotated key"]])(
    "what somebody else registered later with the id, the same url and the same type is another's once the time is known%s",
    async (rotated) => {
      await heals([declared("a")]);
      expect(await world.refresh()).toEqual([]);
      world.service.remove(ids()[0] ?? "");
      await world.time.pass(60_000);
      const theirs = world.service.add({ url: urlOf("a") });
      if (rotated !== "") world.rotateKey("");
      expect(await world.destroy()).toEqual([]);
      settled([], [theirs]);
    },
  );

  test("an up that registers what a refresh has just dropped under its old id is not stopped", async () => {
    await heals([declared("a"), declared("b")]);
    await world.time.pass(60_000);
    world.service.remove(ids()[1] ?? "");
    expect(await world.up([declared("a"), declared("b")], { refresh: true })).toEqual([]);
    settled([declared("a"), declared("b")]);
  });

  describe.each([
    ["fail", {}],
    ["register", { ifExists: "register" }],
  ] as const)("with ifExists: %s, once somebody has deleted the endpoint with the highest id", (_, more) => {
    const replaced = [declared("a"), declared("b", "new", more)];
    let id = "";
    beforeEach(async () => {
      await heals([declared("a"), declared("b")]);
      await world.time.pass(60_000);
      [, id = ""] = ids();
      world.service.remove(id);
    });
    afterEach(() => expect(ids()).toContain(id));

    test("a replacement that gets its id is not stopped, and is not deleted with it", () => heals(replaced));

    test.each(["is killed", "gets no response"])(
      "a replacement that gets its id and %s is taken over",
      async (what) => {
        if (what === "is killed") await killedUp(replaced, "done");
        else {
          world.service.fault({ operation: "register", kind: "late-response", delayMs: 60_000 });
          await world.up(replaced);
        }
        await heals(replaced);
      },
    );

    test("what another resource adopts under its id is deleted with that one, although its own resource is kept", async () => {
      const theirs = world.service.add({ url: urlOf("theirs") });
      expect(theirs.id).toBe(id);
      await world.time.pass(60_000);
      const program = [declared("a"), declared("b")];
      expect(await world.up([...program, declared("c", "theirs", { ifExists: "adopt" })])).toEqual([]);
      expect(await world.up(program)).toEqual([]);
      expect(ids()).not.toContain(id);
      expect(await world.up(program, { refresh: true })).toEqual([]);
      settled(program);
    });

    test("what another resource registers under its id is that resource's, and its own is registered again by a refresh", async () => {
      const program = [declared("a"), declared("b"), declared("c", "c", more)];
      expect(await world.up(program)).toEqual([]);
      expect(ids()).toHaveLength(2);
      expect(await world.up(program, { refresh: true })).toEqual([]);
      await heals(program);
    });
  });
});

test.each([0, 1])(
  "what a killed run registered is taken over, although another kill of the resource left an operation for another url (of %d)",
  async (at) => {
    const [first, second] = [declared("a", "1"), declared("a", "2")];
    await killedUp([first], "done");
    await world.time.pass(GRACE_MS);
    // What it made comes after the operation of the second one, so that this is still open.
    await killedUp([second], "done");
    const other = declared("b", "1");
    const program = at === 0 ? [other, second] : [second, other];
    world.service.habits = { lagMs: 4_000 };
    expect(await world.up(program)).toEqual([]);
    settled(program);
  },
);

describe("an endpoint that a dynamic resource written by hand has", () => {
  const old = (isSecret: boolean): Declared => ({ ...declared("old", "h"), type: HAND_WRITTEN, isSecret });
  const alias = /"old".*pulumi-nodejs:dynamic:Resource.*alias|alias.*"old"/s;

  describe.each([
    ["in plain text", false],
    ["encrypted", true],
  ])("whose url the state holds %s", (_, isSecret) => {
    let id: string;
    beforeEach(async () => {
      begin();
      expect(await world.up([old(isSecret)])).toEqual([]);
      [id = ""] = ids();
      await world.time.pass(60_000);
    });

    test.each<[string, (id: string) => Partial<Declared["args"]>]>([
      ["adoptId", (id) => ({ adoptId: id })],
      ['ifExists: "adopt"', () => ({ ifExists: "adopt" })],
    ])("is not adopted by %s: nothing is lost", async (how, args) => {
      for (const keepsOld of [true, false]) {
        const adopting = declared("jobs", "h", args(id));
        const problems = await world.up([...(keepsOld ? [old(isSecret)] : []), adopting]);
        if (how === "adoptId" || isSecret) {
          expect(problems).toEqual([expect.stringMatching(alias)]);
          expect(problems[0]).toMatch(/\((ADOPT_TAKEN|ENDPOINT_EXISTS)\)$/);
          expect(ids()).toEqual([id]);
          expect(recorded()).toEqual([id]);
        } else {
          // A stop that names it, or one of its own beside it, as in a rename without an alias.
          if (problems.length > 0) expect(problems).toEqual([expect.stringMatching(alias)]);
          expect(recorded().sort()).toEqual(ids().sort());
          expect(ids().length).toBeGreaterThan(0);
        }
      }
    });

    test("is kept by a resource with the alias", async () => {
      const aliased = [{ ...declared("old", "h"), aliases: [urnOf("old", HAND_WRITTEN)] }];
      await heals(aliased);
      expect(ids()).toEqual([id]);
      expect(world.stack.resources.map(({ type }) => type)).toEqual([TYPE_TOKEN]);
    });

    test("is never taken for what a killed run registered", async () => {
      begin();
      await killedUp([old(isSecret), declared("jobs", "h", { ifExists: "register" })], "done");
      const [theirs = "", made = ""] = ids();
      world.service.remove(made);
      const problems = await world.up([old(isSecret), declared("jobs", "h")]);
      expect(problems).toEqual([expect.stringMatching(alias)]);
      expect(recorded()).toEqual([theirs]);
    });

    test("is no evidence of a registration that was killed", async () => {
      const jobs = declared("jobs", "h", { ifExists: "register" });
      await killedUp([old(isSecret), jobs], "done");
      await heals([old(isSecret), jobs]);
      expect(ids()).toHaveLength(2);
    });
  });
});
