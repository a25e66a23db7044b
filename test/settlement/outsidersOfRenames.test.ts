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

/** The older stack was killed once, and nobody has cleared the interrupted operation of what it has registered since. */
test.each([
  ["of the same url", inputs.url],
  [
    "whose url is a secret",
    { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" },
  ],
])(
  "nor does an interrupted operation %s show that the renamed stack's endpoint is its own",
  async (_, url) => {
    world.created = world.clock.text(-7_200_000);
    const mine = { url, type: inputs.type } as never;
    world.interrupt("mine", mine);
    world.record("mine", "wh_mine", { inputs: mine, created: world.clock.text(-7_100_000) });
    world.written = world.clock.text(-7_000_000);
    world.ended("succeeded", { from: -7_050_000, until: -7_000_000 });
    const { failures } = await world.plugin().check({}, { ...inputs, ifExists: "register" });
    expect(failures).toEqual([]);
    const own = await world.register({}, { ...inputs, ifExists: "register" });
    expect(own.id).not.toBe(theirs);
    expect(world.warnings).toEqual([]);
  },
);

test("what an older stack's killed run did not make is not the endpoint that the renamed stack registered right after", async () => {
  world.created = world.clock.text(-7_200_000);
  world.interrupt("mine", inputs);
  world.written = world.clock.text(-65_000);
  world.save();
  world.clock.skip(60_000);
  const own = await world.register();
  expect(own.id).not.toBe(theirs);
  expect(world.warnings).toEqual([expect.stringContaining(theirs)]);
});

test("an entry of a run that could not read when its stack began is not an older stack's either", async () => {
  world.edit(({ stackBegan: _, ...entry }) => entry);
  world.created = world.clock.text(-7_200_000);
  await registersBesideIt();
});

test("a stack that state move has begun, and that got the name by a swap, does not take the renamed stack's endpoint", async () => {
  world.created = "";
  await registersBesideIt();
});

test("a stack that state move has begun takes over what its killed run registered", async () => {
  world.created = "";
  world.edit(({ stackBegan: _, ...entry }) => entry);
  expect((await world.register()).id).toBe(theirs);
});
