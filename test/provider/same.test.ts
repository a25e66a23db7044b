import { type Declared, Killed } from "./engineModel";
import type { Habits } from "./fakeService";
import { declared, GRACE_MS, World } from "./world";

const withoutSlash = (url: string) => url.replace(/\/(\?|$)/, "$1");
const inLowerCase = (url: string) => url.toLowerCase();
const masked = (url: string) => url.replace(/token=[^&]*/, "token=****");
/** Services that store a url in a spelling of their own, and a path that each changes. */
const SERVICES: [string, (url: string) => string, string][] = [
  ["without its final slash", withoutSlash, "hooks/"],
  ["without the slash before its query", withoutSlash, "hooks/?x=1"],
  ["in lower case", inLowerCase, "Hooks"],
  ["with its token masked", masked, "hooks?token=abc&x=1"],
];

let world: World;
const begin = (habits: Habits = {}) => {
  world = new World(habits);
};
const ids = () => world.service.endpoints.map(({ id }) => id);
const settled = (program: readonly Declared[]) => expect(world.differences(program)).toEqual([]);
/** Runs an `up` whose first registration is made and gets no response, because the run is killed, or only that is lost. */
async function lostUp(program: readonly Declared[], isKilled: boolean): Promise<void> {
  world.service.watch = ({ operation }, moment) => {
    if (operation === "register" && moment === "done" && isKilled) world.kill();
  };
  if (!isKilled) world.service.fault({ operation: "register", kind: "lost-after" });
  await world.up(program).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
  world.service.watch = () => {};
  await world.time.pass(2_000);
}

describe.each(SERVICES)("at a service that stores a url %s", (_, spell, path) => {
  beforeEach(() => begin({ spell }));

  test.each([true, false])(
    "a rotated key replaces nothing, and a refresh, an up and a destroy keep to the one endpoint (ignoreChanges: %s)",
    async (ignoresUrl) => {
      const program = [{ ...declared("a", path), ignoresUrl }];
      expect(await world.up(program)).toEqual([]);
      const made = ids();
      for (let turn = 0; turn < 2; turn++) {
        world.rotateKey("");
        await world.time.pass(60_000);
        expect(await world.up(program)).toEqual([]);
        expect(ids()).toEqual(made);
        settled(program);
      }
      world.rotateKey("");
      expect(await world.refresh()).toEqual([]);
      expect(world.stack.resources.map(({ id }) => id)).toEqual(made);
      world.rotateKey("");
      expect(await world.destroy()).toEqual([]);
      settled([]);
    },
  );

  test("a service that has moved is recorded, and its endpoint is neither registered again nor refused", async () => {
    const program = [declared("a", path)];
    await world.up(program);
    const [{ id, outputs, inputs } = { id: "", outputs: {}, inputs: {} }] = world.stack.resources;
    const moved = { ...outputs, baseUrl: "https://old.example.com" };
    expect(await world.plugin().diff(id, moved, inputs)).toMatchObject({ replaces: [] });
    expect(await world.plugin().read(id, moved)).toMatchObject({ id });
    await world.plugin().delete(id, moved);
    expect(ids()).toEqual([]);
  });

  test.each([
    ["a killed run", true],
    ["a lost response", false],
  ])(
    "%s leaves one endpoint, which the next run takes over or names, and no second one in silence",
    async (_, isKilled) => {
      for (const args of [{}, { ifExists: "adopt" as const }]) {
        begin({ spell });
        const program = [declared("a", path, args)];
        await lostUp(program, isKilled);
        const [id = ""] = ids();
        for (const command of ["preview", "up", "up"] as const) {
          const problems = await world.run(command, program);
          if (problems.length > 0)
            expect(problems).toEqual([
              expect.stringMatching(new RegExp(`${id} .*REGISTRATION_IN_DOUBT`, "s")),
            ]);
          else if (command === "up") settled(program);
          expect(ids()).toEqual([id]);
        }
        // One of the ways on.
        world.service.remove(id);
        await world.time.pass(60_000);
        expect(await world.up(program, { refresh: true })).toEqual([]);
        settled(program);
      }
    },
  );

  test.each([true, false])(
    "it is named, although a resource that has an endpoint declares exactly the stored url (killed: %s)",
    async (isKilled) => {
      const [exact, spelled] = [declared("b", spell(path)), declared("a", path)];
      expect(await world.up([exact])).toEqual([]);
      await world.time.pass(60_000);
      await lostUp([exact, spelled], isKilled);
      const made = ids();
      const [, id = ""] = made;
      const problems = await world.up([exact, spelled]);
      expect(problems).toEqual([expect.stringMatching(new RegExp(`${id} .*REGISTRATION_IN_DOUBT`, "s"))]);
      expect(ids()).toEqual(made);
    },
  );

  test("a stop about it names ways on that go on", async () => {
    const program = [declared("a", path)];
    await lostUp(program, true);
    const [id = ""] = ids();
    const adopting = [declared("a", path, { adoptId: id })];
    const registering = [declared("a", path, { ifExists: "register" })];
    const problems = await world.up(adopting);
    if (problems.length === 0) return settled(adopting);
    expect(problems).toEqual([expect.stringMatching(/ADOPT_MISMATCH/)]);
    expect(await world.up(registering)).toEqual([]);
    expect(ids()).toHaveLength(2);
    expect(await world.up(registering)).toEqual([]);
    expect(ids()).toHaveLength(2);
  });

  test("another resource's endpoint, and one that was there before, put nothing in doubt", async () => {
    const others = [declared("b", withoutSlash(path)), declared("c", path, { type: "development" })];
    const before = world.service.add({ url: `https://hooks.example.com/${path}` });
    await world.time.pass(60_000);
    const registering = others.map((each) => ({
      ...each,
      args: { ...each.args, ifExists: "register" as const },
    }));
    expect(await world.up(registering)).toEqual([]);
    const program = [...registering, declared("a", path, { ifExists: "register" })];
    world.service.fault({ operation: "register", kind: "lost-before" });
    expect(await world.up(program)).toHaveLength(1);
    await world.time.pass(60_000);
    expect(await world.up(program)).toEqual([]);
    expect(world.differences(program, [before])).toEqual([]);
  });
});

describe("a service whose clock jumps between its replicas", () => {
  const changes: [string, Declared][] = [
    ["url", declared("a", "new")],
    ["type", declared("a", "a", { type: "development" })],
    ["ip", declared("a", "a", { ip: "192.0.2.1" })],
  ];

  test.each(changes.flatMap(([what, to]) => [-4_000, 4_000].map((aheadMs) => [what, aheadMs, to] as const)))(
    "does not hide a killed replacement of its %s when it jumps by %d ms",
    async (_, aheadMs, to) => {
      for (const isKilled of [true, false]) {
        begin();
        expect(await world.up([declared("a")])).toEqual([]);
        world.service.habits = { aheadMs };
        await lostUp([to], isKilled);
        world.service.habits = {};
        expect(await world.up([to])).toEqual([]);
        await world.time.pass(GRACE_MS);
        settled([to]);
      }
    },
  );

  test("does not take an endpoint for another one that has its id", async () => {
    for (const replicasAheadMs of [
      [0, 4_000],
      [4_000, 0, 0],
      [0, -4_000],
    ]) {
      begin({ replicasAheadMs });
      const program = [declared("a"), declared("b")];
      expect(await world.up(program)).toEqual([]);
      for (const _ of [1, 2]) {
        await world.time.pass(3_000);
        expect(await world.up(program, { refresh: true })).toEqual([]);
      }
      settled(program);
      expect(world.service.changes).toEqual(["register", "register"]);
      expect(await world.destroy()).toEqual([]);
      settled([]);
      expect(world.warnings).toEqual([]);
    }
  });
});
