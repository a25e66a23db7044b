import { TYPE_TOKEN } from "../../src/shared/permanent";
import { Killed, providerUrnOf, urnOf } from "./engineModel";
import type { Shows } from "./pulumiModel";
import { declared, World } from "./world";

let world: World;
beforeEach(() => {
  world = new World();
});

const jobs = [declared("jobs")];
const renamed = [declared("renamed", "jobs")];
const stop = expect.stringMatching(/wh_1 .*another backend.*PULUMI_BACKEND_URL.*ENDPOINT_EXISTS/s);

/** Runs an `up` that is killed when so many registrations are made and get no response. */
async function killedUp(program: typeof jobs, registrations = 1): Promise<void> {
  let left = registrations;
  world.service.watch = ({ operation }, moment) => {
    if (operation === "register" && moment === "done" && --left === 0) world.kill();
  };
  await expect(world.up(program)).rejects.toThrow(Killed);
  world.service.watch = () => {};
  await world.time.pass(2_000);
}

/** Moves the stack to another, empty backend, while `pulumi stack export` still reads the old one. */
function moveBackend(): void {
  const { deployment } = world.stack;
  world.pulumi.exported = () => deployment;
  Object.assign(world.stack, { resources: [], pendingCreates: [] });
  world.service.requests.length = 0;
}

describe("when `pulumi stack export` reads a stack of the same names in another backend", () => {
  test("an endpoint that a resource there has is named, and not registered again", async () => {
    await world.up(jobs);
    moveBackend();
    const adopting = [declared("jobs", "jobs", { ifExists: "adopt" })];
    for (const program of [jobs, renamed, adopting]) expect(await world.up(program)).toEqual([stop]);
    const taken = expect.stringMatching(/another backend.*PULUMI_BACKEND_URL.*ADOPT_TAKEN/);
    expect(await world.up([declared("jobs", "jobs", { adoptId: "wh_1" })])).toEqual([taken]);
    expect(world.service.changes).toEqual([]);
  });

  test("an interrupted creation there is no evidence", async () => {
    await killedUp(jobs);
    moveBackend();
    expect(await world.up(jobs)).toEqual([stop]);
    expect(world.service.changes).toEqual([]);
  });

  test("adoptId has its effect, though a resource of this name has an endpoint there", async () => {
    const found = world.service.add({ url: "https://hooks.example.com/jobs" });
    const there = { urn: urnOf("jobs"), type: TYPE_TOKEN, id: "wh_9", provider: providerUrnOf("") };
    world.pulumi.exported = () => ({ resources: [there] });
    const adopting = [declared("jobs", "jobs", { adoptId: found.id })];
    expect(await world.up(adopting)).toEqual([]);
    expect(world.differences(adopting)).toEqual([]);
  });

  test("a second export that fails is named as what it is", async () => {
    await killedUp(jobs);
    const { exported } = world.pulumi;
    world.pulumi.exported = (name) => {
      if (world.pulumi.exports.length > before) throw new Error("the backend is away");
      return exported(name);
    };
    const before = world.pulumi.exports.length;
    expect(await world.up(jobs)).toEqual([
      expect.stringMatching(/wh_1 .*could not be read again: the backend is away\..*ENDPOINT_EXISTS/s),
    ]);
    world.pulumi.exported = exported;
    expect(await world.up(jobs)).toEqual([]);
    expect(world.differences(jobs)).toEqual([]);
  });

  test("what a person says goes on without the state", async () => {
    await world.up(jobs);
    moveBackend();
    const another = [declared("jobs", "jobs", { ifExists: "register" })];
    expect(await world.up(another)).toEqual([]);
    expect(world.service.changes).toEqual(["register"]);
  });
});

describe("when an export does not show what is under way", () => {
  /** Whether the list of stacks shows the run. */
  const inCloud = async (shows: Shows, updateInProgress: boolean, act: () => Promise<void>) => {
    world = new World({}, shows);
    const { listed } = world.pulumi;
    if (!updateInProgress)
      world.pulumi.listed = () => listed().map((each) => ({ ...each, updateInProgress: false }));
    await act();
  };

  test.each([
    ["before", true],
    ["before", false],
    ["no operations", true],
    ["no operations", false],
  ] as const)("but %s, a rename works if Pulumi Cloud lists the run: %s", (shows, isListed) =>
    inCloud(shows, isListed, async () => {
      await world.up(jobs);
      expect(await world.up(renamed)).toEqual(isListed ? [] : [stop]);
      if (isListed) expect(world.differences(renamed)).toEqual([]);
      else expect(world.service.changes).toEqual(["register"]);
    }),
  );

  test.each([true, false])(
    "but the state before, a kill heals if Pulumi Cloud lists the run: %s",
    (isListed) =>
      inCloud("before", isListed, async () => {
        await killedUp(jobs);
        expect(await world.up(jobs)).toEqual(isListed ? [] : [stop]);
        if (isListed) expect(world.differences(jobs)).toEqual([]);
        expect(world.service.changes).toEqual(["register"]);
      }),
  );

  test("and never will, an up after a kill stops, and one with ifExists adopts what is there", () =>
    inCloud("no operations", true, async () => {
      const many = ["a", "b", "c", "d"].map((name) => declared(name));
      await killedUp(many, 3);
      const problems = await world.up(many, { parallel: 1 });
      expect(problems).toEqual([expect.stringMatching(/wh_\d+ .*ENDPOINT_EXISTS/s)]);
      world.environment = { WEBHOOKS_IF_EXISTS: "adopt" };
      expect(await world.up(many)).toEqual([]);
      expect(world.differences(many)).toEqual([]);
    }));
});

test("an ordinary up reads the state once, and one after a kill of many twice", async () => {
  const many = ["a", "b", "c", "d", "e"].map((name) => declared(name));
  await world.up(many.slice(0, 1));
  expect(world.pulumi.exports).toHaveLength(1);
  await killedUp(many, 4);
  world.pulumi.exports.length = 0;
  expect(await world.up(many)).toEqual([]);
  expect(world.pulumi.exports).toHaveLength(2);
  expect(world.differences(many)).toEqual([]);
});
