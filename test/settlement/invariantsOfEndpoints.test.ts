import { randomUUID } from "node:crypto";
import { codeOf, inputs, otherInputs, stateOf, VerbsWorld } from "./verbsWorld";

const accounts = { "key-a": "a", "key-b": "b" };

let world: VerbsWorld;
/** The next ids of the service, where a test sets them. */
let nextIds: string[];
beforeEach(async () => {
  nextIds = [];
  world = await VerbsWorld.start({ accounts, newId: () => nextIds.shift() ?? randomUUID() });
});
afterEach(() => world.close());

const a = { apiKey: "key-a", provider: "a" };
const b = { apiKey: "key-b", provider: "b" };
describe("invariant 1, a fit is bounded on both sides:", () => {
  test("create takes nothing that was made after the window", async () => {
    await world.loseInVain({}, { thenMs: 30_000 });
    const others = world.stranger();
    expect((await world.register()).id).not.toBe(others);
    expect(world.warnings.join()).toContain(others);
  });

  test("create of a resource whose registration is pending takes nothing that was made after the window", async () => {
    const { id, state } = await world.pend({ happens: false });
    world.clock.skip(30_000);
    const others = world.stranger();
    const run = world.plugin();
    await run.diff(id, state, inputs);
    expect((await run.create(inputs)).id).not.toBe(others);
  });

  test("read drops a pending resource rather than take what was made after the window", async () => {
    const { id, state } = await world.pend({ happens: false });
    world.clock.skip(30_000);
    const others = world.stranger();
    expect(await world.plugin({ rootUrn: undefined }).read(id, state)).toEqual({});
    expect(world.ids("default")).toEqual([others]);
  });

  test("delete deletes nothing that was made after the window", async () => {
    const { id, state } = await world.pend({ happens: false });
    world.clock.skip(30_000);
    const others = world.stranger();
    await world.plugin().delete(id, state);
    expect(world.ids("default")).toEqual([others]);
  });

  test("create, read and delete take what was made within it", async () => {
    const { id, state } = await world.pend({ happens: true });
    const [made] = world.ids("default");
    expect((await world.plugin({ rootUrn: undefined }).read(id, state)).id).toBe(made);
    const run = world.plugin();
    await run.diff(id, state, inputs);
    expect((await run.create(inputs)).id).toBe(made);
    // As on another machine, whose book does not know it.
    world.edit((entry) => ({ ...entry, id: null, closed: true, pendingId: "pending:another" }));
    await world.plugin().delete(id, state);
    expect(world.ids("default")).toEqual([]);
  });
});

describe("invariant 2, an endpoint is more than its id:", () => {
  test("what a killed run made is not recorded because a resource of another account has the same id", async () => {
    nextIds = ["1", "1"];
    const kept = await world.register(b, otherInputs);
    world.record("kept", kept.id, { provider: "b", outputs: { ...stateOf(kept) } });
    const lost = await world.register(a);
    expect(lost.id).toBe(kept.id);
    world.clock.skip(60_000);
    expect((await world.register(a)).id).toBe(lost.id);
    expect(world.ids("a")).toEqual([lost.id]);
  });

  test.each([
    [true, "is taken over, because the times differ"],
    [false, "is in doubt, because no time is known"],
  ])(
    "what a killed run made beside a resource of another account with the same id and url (time known: %s) %s",
    async (isTimed) => {
      nextIds = ["1", "1"];
      const kept = await world.register(b);
      const { createdAt } = world.service.endpoints("b")[0] ?? {};
      const outputs = { ...stateOf(kept), ...(isTimed && { createdAt }) };
      world.record("kept", kept.id, { provider: "b", outputs });
      world.clock.skip(60_000);
      const lost = await world.register(a);
      world.clock.skip(60_000);
      const made = world.register(a);
      if (isTimed) expect((await made).id).toBe(lost.id);
      else expect(await codeOf(made)).toBe("REGISTRATION_IN_DOUBT");
    },
  );

  test("what a killed run made is recorded if the state has it with a rotated key and a url that has drifted", async () => {
    const made = await world.register(a);
    const { createdAt } = world.service.endpoints("a")[0] ?? {};
    world.edit((entry) => ({ ...entry, createdAt }));
    const outputs = { ...stateOf(made), createdAt, account: "rotated", url: otherInputs.url };
    world.record("jobs", made.id, { provider: "a", outputs });
    world.clock.skip(60_000);
    expect((await world.register(a)).id).not.toBe(made.id);
    expect(world.book().find(({ id }) => id === made.id)?.closed).toBe(true);
  });

  test("what a killed run made is recorded if the state has it with a rotated key", async () => {
    const made = await world.register(a);
    world.record("jobs", made.id, { provider: "a", outputs: { ...stateOf(made), account: "rotated" } });
    world.clock.skip(60_000);
    expect((await world.register(a)).id).not.toBe(made.id);
  });

  test("what a killed run made is ours, though another stack had an endpoint with its id in another account", async () => {
    nextIds = ["1", "1"];
    await world.register({ ...b, environment: { PULUMI_BACKEND_URL: "file:///other" } });
    world.clock.skip(60_000);
    const lost = await world.lose(a);
    expect((await world.register(a)).id).toBe(lost);
  });

  test("what a killed run made is ours, though its id was that of another endpoint before, of which the book has an entry", async () => {
    nextIds = ["1", "1"];
    const old = await world.register();
    world.clock.skip(60_000);
    world.ended("succeeded", { from: -90_000, until: -30_000 });
    await world.plugin().check({}, { ...otherInputs });
    world.service.remove(old.id);
    const lost = await world.lose();
    expect((await world.register()).id).toBe(lost);
  });

  test.each([
    [true, "is taken over, because the times differ"],
    [false, "is in doubt, because no time is known"],
  ])(
    "what a killed run made with the id of another endpoint, which the state still has (time known: %s) %s",
    async (isTimed) => {
      nextIds = ["1", "1"];
      const old = await world.register({}, otherInputs);
      const { createdAt } = world.service.endpoints()[0] ?? {};
      world.record("old", old.id, { outputs: { ...stateOf(old), ...(isTimed && { createdAt }) } });
      world.service.remove(old.id);
      world.clock.skip(60_000);
      const lost = await world.lose();
      const made = world.register();
      if (isTimed) expect((await made).id).toBe(lost);
      else expect(await codeOf(made)).toBe("REGISTRATION_IN_DOUBT");
    },
  );

  test("read does not take an endpoint of another url and time for the one whose id it has", async () => {
    nextIds = ["1", "1"];
    const made = await world.register();
    const { props } = await world.plugin().read(made.id, stateOf(made));
    world.service.remove(made.id);
    world.clock.skip(60_000);
    world.stranger("default", otherInputs);
    expect(await world.plugin().read(made.id, props)).toEqual({});
  });

  test("delete spares an endpoint of another url that got the id of one that is gone, and names it", async () => {
    nextIds = ["7", "7"];
    const made = await world.register();
    world.service.remove(made.id);
    world.clock.skip(60_000);
    world.stranger("default", otherInputs);
    await world.plugin().delete("7", stateOf(made));
    expect(world.ids()).toEqual(["7"]);
    expect(world.warnings.join()).toContain("endpoint 7 is not deleted");
  });

  test("an endpoint with another url and the same time has drifted, and is still the same", async () => {
    const made = await world.register();
    world.service.edit(made.id, { url: otherInputs.url });
    const { id, props } = await world.plugin().read(made.id, stateOf(made));
    expect({ id, props }).toMatchObject({ id: made.id, props: { url: otherInputs.url } });
  });

  test("absence in another account closes nothing", async () => {
    const lost = await world.lose(a);
    await world.register({ ...b, provider: "a" });
    expect((await world.register(a)).id).toBe(lost);
  });

  test("a list that shows when an endpoint was made completes its entry", async () => {
    const { id } = await world.register();
    world.edit((entry) => ({ ...entry, createdAt: null }));
    await world.register();
    expect(world.book().find((entry) => entry.id === id && entry.createdAt !== null)).toBeDefined();
  });
});

describe("a pending resource whose endpoint a run has found, and whose state was not written,", () => {
  const refreshing = () => world.plugin({ rootUrn: undefined });

  test("is read again with the same endpoint by the next run, as the refresh after its preview", async () => {
    const { id, state } = await world.pend({ happens: true });
    const [made] = world.ids();
    expect((await refreshing().read(id, state)).id).toBe(made);
    expect((await refreshing().read(id, state)).id).toBe(made);
  });

  test("is not read a second time by the same run: an equal resource, which has the same provisional id, has none", async () => {
    const { id, state } = await world.pend({ happens: true });
    const [made] = world.ids();
    const run = refreshing();
    expect((await run.read(id, state)).id).toBe(made);
    expect(await run.read(id, state)).toEqual({});
  });

  test("is deleted with the endpoint", async () => {
    const { id, state } = await world.pend({ happens: true });
    await refreshing().read(id, state);
    await refreshing().delete(id, state);
    expect(world.ids()).toEqual([]);
  });

  test("is taken over by the next up", async () => {
    const { id, state } = await world.pend({ happens: true });
    const [made] = world.ids();
    await refreshing().read(id, state);
    const run = world.plugin();
    await run.diff(id, state, inputs);
    expect((await run.create(inputs)).id).toBe(made);
  });
});

describe("invariant 6, what is in a state, of any resource, is never taken:", () => {
  test("create takes nothing that another resource has, also one that the next up deletes", async () => {
    for (const more of [{}, { delete: true }]) {
      const lost = await world.lose();
      world.record("moved", lost, { outputs: { url: inputs.url }, ...more });
      expect((await world.register()).id).not.toBe(lost);
      world.edit((entry) => ({ ...entry, closed: true }));
    }
  });

  test("create takes nothing that another stack on this machine has adopted since", async () => {
    const lost = await world.lose();
    await world.register(
      { environment: { PULUMI_BACKEND_URL: "file:///other" } },
      { ...inputs, adoptId: lost },
    );
    expect((await world.register()).id).not.toBe(lost);
  });
});
