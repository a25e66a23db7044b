import { inputs, VerbsWorld } from "./verbsWorld";

/** What outsiders found about stacks that get the name of another one on the same machine, each as they reproduced it. */
let world: VerbsWorld;
let theirs: string;
beforeEach(async () => {
  world = await VerbsWorld.start();
  // The stack's only `up` succeeds, and nothing closes its entry. Then the stack is renamed, and takes its history with it.
  theirs = (await world.register()).id;
  world.clock.skip(60_000);
});
afterEach(() => world.close());

async function registersBesideIt(): Promise<void> {
  const { failures } = await world.plugin().check({}, { ...inputs });
  expect(failures).toEqual([]);
  expect(world.warnings).toEqual([expect.stringContaining(`already has an endpoint with this url`)]);
  const own = await world.register();
  expect(own.id).not.toBe(theirs);
  expect(world.ids()).toEqual([theirs, own.id]);
  for (const warning of world.warnings) expect(warning).toContain(theirs);
}

test("a stack that was older, and got the name by a swap, does not take the renamed stack's endpoint", async () => {
  world.created = world.clock.text(-7_200_000);
  await registersBesideIt();
});

test.each(["failed", "succeeded"] as const)(
  "a new stack of that name does not take it either, after an up that %s and a destroy",
  async (result) => {
    world.ended(result, { from: -30_000, until: -25_000 });
    world.ended("succeeded", { kind: "destroy", from: -20_000, until: -15_000 });
    world.created = world.clock.text(-5_000);
    await registersBesideIt();
  },
);

test("the endpoint of the renamed stack is not named as left over", async () => {
  world.created = world.clock.text(-7_200_000);
  const other = { ...inputs, url: "https://hooks.example.com/t0ken/unlike" };
  await world.plugin().check({}, other);
  await world.register({}, other);
  expect(world.warnings).toEqual([]);
});
