import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { failure, inputs, otherInputs, stateOf, VerbsWorld } from "./verbsWorld";

/** What outsiders found about endpoints that two resources have, or seem to have, each as they reproduced it. */
const DAY = 24 * 60 * 60_000;
const a = { apiKey: "key-a" };

let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start({ accounts: { "key-a": "a", "key-b": "b" } });
});
afterEach(() => world.close());

describe("an endpoint that another resource has is not deleted", () => {
  const isRecorded = (name: string, { id, outs }: { id: string; outs?: unknown }, provider?: string) =>
    world.record(name, id, {
      inputs: { ...inputs },
      outputs: { ...stateOf({ outs }) },
      ...(provider && { provider }),
    });

  test("if that one is recorded at another name of the service, though nothing tells when it was made", async () => {
    const made = await world.register();
    const moved = { ...made, outs: { ...stateOf(made), baseUrl: "https://other-name.example.com" } };
    isRecorded("moved", moved, "other");
    world.clock.skip(DAY);
    const adopted = await world.plugin().create({ ...inputs, adoptId: made.id });
    isRecorded("adopted", adopted);
    world.clock.skip(DAY);
    await world.plugin().delete(adopted.id, stateOf(adopted));
    expect(world.ids()).toEqual([made.id]);
  });

  test("if it got that during the run, after the run had read the state", async () => {
    const made = await world.register({ provider: "one" });
    isRecorded("old", made, "one");
    world.clock.skip(DAY);
    const leaving = world.plugin({ provider: "one", run: "up" });
    await leaving.check({}, { ...otherInputs }); // reads the state
    isRecorded("imported", made, "two");
    await leaving.delete(made.id, stateOf(made));
    expect(world.ids()).toEqual([made.id]);
  });

  test("if it got that during the run, after the provider that leaves it had deleted another one", async () => {
    const made = await world.register({ provider: "one" });
    const replaced = await world.register({ provider: "one" }, otherInputs);
    isRecorded("old", made, "one");
    const leaving = world.plugin({ provider: "one", run: "up" });
    await leaving.diff(replaced.id, stateOf(replaced), { ...otherInputs, ip: "192.0.2.1" });
    await leaving.delete(replaced.id, stateOf(replaced)); // deleteBeforeReplace
    isRecorded("imported", made, "two");
    await leaving.delete(made.id, stateOf(made));
    expect(world.ids()).toEqual([made.id]);
  });

  test("if the state cannot be read a second time", async () => {
    const made = await world.register({ provider: "one" });
    isRecorded("one", made, "one");
    isRecorded("two", made, "two");
    world.clock.skip(DAY);
    world.printState = "if [ -e once ]; then exit 1; fi; touch once; cat state.json";
    await world.plugin({ provider: "one" }).delete(made.id, stateOf(made));
    expect(world.ids()).toEqual([made.id]);
  });

  test("if the key of the provider that leaves it is refused, and nothing tells when it was made", async () => {
    const made = await world.register({ ...a, provider: "one" });
    isRecorded("one", made, "one");
    isRecorded(
      "two",
      { ...made, outs: { ...stateOf(made), baseUrl: "https://other-name.example.com" } },
      "two",
    );
    world.clock.skip(DAY);
    for (const operation of ["get", "list"] as const)
      world.service.fault({ operation, kind: "status", status: 401, times: Number.POSITIVE_INFINITY });
    await world.plugin({ ...a, provider: "one" }).delete(made.id, stateOf(made));
    expect(world.warnings.at(-1)).toContain("another resource of this program has it");
  });
});

describe("of two services that both count their endpoints, the endpoint that a resource left", () => {
  const newId = () => "1";
  let other: Emulator;
  beforeEach(async () => {
    await world.close();
    world = await VerbsWorld.start({ newId });
    other = await startEmulator({ newId, now: world.clock.date });
  });
  afterEach(() => other.close());

  /** Moves a resource to the other service, in a run that cannot delete what it leaves. */
  async function leave(): Promise<{ id: string; state: ReturnType<typeof stateOf> }> {
    const left = await world.register();
    world.clock.skip(DAY);
    const moved = await world.plugin({ run: "up", baseUrl: other.url, provider: "other" }).create(inputs);
    world.record("jobs", left.id, { delete: true, inputs: { ...inputs }, outputs: { ...stateOf(left) } });
    world.record("jobs", moved.id, {
      provider: "other",
      inputs: { ...inputs },
      outputs: { ...stateOf(moved) },
    });
    world.service.fault({ operation: "delete", kind: "status", status: 400 });
    await failure(world.plugin({ run: "up" }).delete(left.id, stateOf(left)));
    world.ended("failed");
    world.clock.skip(60_000);
    return { id: left.id, state: stateOf(left) };
  }

  test("is deleted by the next run, if it could not be deleted in the first one", async () => {
    const { id, state } = await leave();
    await world.plugin().delete(id, state);
    expect([world.ids(), other.endpoints().length, world.warnings]).toEqual([[], 1, []]);
  });

  test("is kept on a machine that registered neither, and the warning says that it may be another one", async () => {
    const { id, state } = await leave();
    await world.plugin({ environment: { PULUMI_HOME: world.folder } }).delete(id, state);
    expect(world.ids()).toEqual([id]);
    expect(world.warnings.at(-1)).toMatch(/one with the same id, url and type.*delete it at the service/);
  });
});

test("if two resources with one endpoint go before the state shows it, a warning names the way to delete that", async () => {
  const made = await world.register({ provider: "one" });
  for (const provider of ["one", "two"])
    world.record(provider, made.id, { provider, inputs: { ...inputs }, outputs: { ...stateOf(made) } });
  for (const provider of ["one", "two"])
    await world.plugin({ run: "up", provider }).delete(made.id, stateOf(made));
  expect(world.ids()).toEqual([made.id]);
  expect(world.warnings.at(-1)).toMatch(/If that one goes too, .*`npx pulumi-webhook-endpoints delete wh_/);
});

test("the deletions at the end of a run read the state once", async () => {
  const made = [];
  for (const name of ["a", "b", "c", "d", "e"])
    made.push(await world.register({}, { ...inputs, url: `https://hooks.example.com/${name}` }));
  world.printState = "echo read >> reads; cat state.json";
  const up = world.plugin();
  await up.check({}, { ...otherInputs });
  rmSync(join(world.folder, "reads"));
  for (const each of made) await up.delete(each.id, stateOf(each));
  expect(world.ids()).toEqual([]);
  expect(readFileSync(join(world.folder, "reads"), "utf8")).toBe("read\n");
});

test("if two resources of one provider have one endpoint, and both go, the last one deletes it", async () => {
  const made = await world.register();
  for (const name of ["one", "two"])
    world.record(name, made.id, { inputs: { ...inputs }, outputs: { ...stateOf(made) } });
  const up = world.plugin();
  await up.delete(made.id, stateOf(made));
  expect(world.ids()).toEqual([made.id]);
  await up.delete(made.id, stateOf(made));
  expect(world.ids()).toEqual([]);
});

test("where a list shows rows without a url and GET shows the whole endpoint, destroy deletes it", async () => {
  const made = await world.register();
  world.record("jobs", made.id, { inputs: { ...inputs }, outputs: { ...stateOf(made) } });
  world.ended("succeeded");
  world.clock.skip(60_000);
  world.service.fault({
    operation: "list",
    kind: "status",
    status: 200,
    body: JSON.stringify([{ id: made.id, type: inputs.type }]),
    times: Number.POSITIVE_INFINITY,
  });
  await world.plugin({ rootUrn: undefined }).delete(made.id, stateOf(made));
  expect([world.ids(), world.warnings]).toEqual([[], []]);
});

test("an endpoint that a killed run recorded and destroy --target deleted is not taken over from a list that shows it still", async () => {
  const { id, outs } = await world.register(a);
  const shown = JSON.stringify(world.service.endpoints("a"));
  world.clock.skip(60_000);
  // A destroy does not know its stack (engine rule 33).
  await world.plugin({ ...a, rootUrn: undefined }).delete(id, stateOf({ outs }));
  world.service.fault({ operation: "list", kind: "status", status: 200, body: shown, times: 100 });
  expect((await world.register(a)).id).not.toBe(id);
  expect(world.warnings).toEqual([expect.stringContaining(id)]);
});
