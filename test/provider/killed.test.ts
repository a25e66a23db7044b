import { setTimeout as sleep } from "node:timers/promises";
import type { Declared, RunOptions } from "./engineModel";
import { LivingPlugin } from "./fuzz/livingPlugin";
import { Killed } from "./plugin";
import { World } from "./world";

const plugin = new LivingPlugin();
let world: World;

beforeEach(async () => {
  world = await World.start({ plugin: () => plugin.get() });
});
afterEach(() => world.close());
afterAll(() => plugin.stop());

const declared = (name: string): Declared => ({
  name,
  args: { url: `https://hooks.example.com/${name}`, type: "production" },
});
const before = [declared("kept")];
const program = [...before, declared("lost")];

/** An `up` that is killed when the endpoint "lost" is registered and not recorded. */
async function killedUp({
  alone = false,
  of = program,
  ...options
}: RunOptions & { alone?: boolean; of?: readonly Declared[] } = {}): Promise<void> {
  await startLater();
  const lost = world.emulator.fault({ operation: "register", kind: "hang-after" });
  const run = world.stack.up(of, options).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
  while (lost.hits === 0) await sleep(5);
  plugin.kill({ alone });
  await run;
}

/** An `up` stops and names an endpoint, and one more adopts it. */
async function expectDoubtAbout(id: string): Promise<void> {
  expect(await world.stack.up(program)).toEqual([
    expect.stringMatching(new RegExp(`${id}.*REGISTRATION_IN_DOUBT`)),
  ]);
  const lost = declared("lost");
  const adopting = [...before, { ...lost, args: { ...lost.args, adoptId: id } }];
  expect(await world.stack.up(adopting)).toEqual([]);
}

/** The real CLI takes longer to start than the history's times are exact to. */
const startLater = () => world.clock.sleep(2_000);

test("an up with --refresh takes over what a killed plugin registered", async () => {
  await world.stack.up(before);
  await killedUp({ alone: true });
  expect(await world.stack.up(program, { refresh: true })).toEqual([]);
  expect(world.differences(program, [])).toEqual([]);
});

test("a refresh right after the kill of a plugin does not hide what it registered", async () => {
  await world.close();
  // A refresh that starts within the history's precision: slowly enough to be sure of it.
  world = await World.start({ plugin: () => plugin.get(), speed: 4 });
  await world.stack.up(before);
  await killedUp({ alone: true });
  expect(await world.stack.refresh()).toEqual([]);
  expect(await world.stack.up(program)).toEqual([]);
  expect(world.differences(program, [])).toEqual([]);
});

test.each(["refresh", "destroy"] as const)(
  "after a kill and a %s, which hides when the run was killed, an up on another machine stops and names what to adopt",
  async (command) => {
    await world.stack.up(before);
    await killedUp();
    const [{ id } = { id: "" }] = world.strangers();
    expect(await world.stack[command]()).toEqual([]);
    await world.machine.elsewhere(() => expectDoubtAbout(id));
    expect(world.differences(program, [])).toEqual([]);
  },
);

test("after a kill and an up that failed, an up on another machine stops, because either may have been interrupted", async () => {
  await world.stack.up(before);
  await killedUp();
  const [{ id } = { id: "" }] = world.strangers();
  await world.clock.sleep(8_000);
  world.emulator.fault({ operation: "list", kind: "status", status: 400, times: 5 });
  await world.machine.elsewhere(async () => {
    expect(await world.stack.up(program)).not.toEqual([]);
    world.emulator.clearFaults();
    await expectDoubtAbout(id);
  });
  expect(world.differences(program, [])).toEqual([]);
});

test("after two runs that were ended by Ctrl-C twice, an up on another machine stops, because either may have registered it", async () => {
  await world.stack.up(before);
  await killedUp({ leavesHistory: true });
  const [{ id } = { id: "" }] = world.strangers();
  await world.clock.sleep(8_000);
  // It is killed when it has begun to create, and before it knows the endpoint of the first. Its checks list, too.
  const list = world.emulator.fault({ operation: "list", kind: "hang-before", after: 2 });
  const run = world.stack.up(program, { leavesHistory: true }).catch(() => {});
  while (list.hits === 0) await sleep(1);
  plugin.kill({ alone: false });
  await run;
  world.emulator.clearFaults();
  await world.machine.elsewhere(() => expectDoubtAbout(id));
  expect(world.differences(program, [])).toEqual([]);
});

test("after a kill between the two steps of a replacement that deletes first, an up on another machine takes over what it registered", async () => {
  const deletesFirst = [...before, { ...declared("lost"), deleteBeforeReplace: true }];
  await world.stack.up(deletesFirst);
  await killedUp({ of: deletesFirst, replace: ["lost"] });
  await world.clock.sleep(8_000);
  await world.machine.elsewhere(async () => expect(await world.stack.up(deletesFirst)).toEqual([]));
  expect(world.differences(deletesFirst, [])).toEqual([]);
});

test("after a kill in the middle of a move to another provider, an up on another machine takes over what it registered", async () => {
  await world.close();
  world = await World.start({ plugin: () => plugin.get(), providers: ["second"] });
  await world.stack.up(program);
  const moved = [...before, { ...declared("lost"), provider: "second" }];
  await killedUp({ of: moved });
  await world.clock.sleep(8_000);
  await world.machine.elsewhere(async () => expect(await world.stack.up(moved)).toEqual([]));
  expect(world.differences(moved, [])).toEqual([]);
});
