import { utimesSync } from "node:fs";
import { keyHash } from "../../src/settlement/identity";
import { Locks } from "../../src/settlement/lock";
import { codeOf, failure, inputs, otherInputs, stateOf, VerbsWorld } from "./verbsWorld";

let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
});
afterEach(() => world.close());

describe("invariant 3, one at a time on a machine:", () => {
  const held = async (work: Promise<unknown>) => {
    let isOver = false;
    void work.catch(() => {}).finally(() => (isOver = true));
    await new Promise((resolve) => setTimeout(resolve, 300));
    return !isOver;
  };
  const lock = () =>
    new Locks(world.home).take(keyHash(inputs), { clock: world.clock, signal: undefined, onWait: () => {} });

  test.each(["registers", "adopts", "settles for read", "settles for delete", "deletes"])(
    "what %s waits while another process has the lock of that url and type",
    async (what) => {
      const pending = what.startsWith("settles") ? await world.pend({ happens: true }) : undefined;
      const made = what === "deletes" ? await world.register() : undefined;
      const adopted = what === "adopts" ? world.stranger() : undefined;
      const release = await lock();
      const run = world.plugin();
      const work = async (): Promise<unknown> => {
        if (made) return run.delete(made.id, stateOf(made));
        if (pending && what === "settles for read") return run.read(pending.id, pending.state);
        if (pending) return run.delete(pending.id, pending.state);
        return run.create(adopted === undefined ? inputs : { ...inputs, adoptId: adopted });
      };
      const working = work();
      expect(await held(working)).toBe(true);
      if (release !== "aborted") release();
      await working;
    },
  );

  test("what has another url does not wait", async () => {
    const release = await lock();
    await world.plugin().create(otherInputs);
    if (release !== "aborted") release();
  });

  test("two providers of one run that lose both answers give each its own endpoint in the next run", async () => {
    for (const provider of ["", "second"]) await world.lose({ run: "killed", provider }, { thenMs: 0 });
    // The list lagged: none was there before the other.
    world.edit((entry) => ({ ...entry, sent: entry.sent && { ...entry.sent, before: [] } }));
    world.clock.skip(60_000);
    const made = [
      await world.register({ run: "next" }),
      await world.register({ run: "next", provider: "second" }),
    ];
    expect(made.map(({ id }) => id).sort()).toEqual(world.ids().sort());
    expect(world.ids()).toHaveLength(2);
  });

  test("two providers of one run that look at once never take one endpoint twice", async () => {
    const lost = await world.lose({ run: "killed" });
    const made = await Promise.all([
      world.register({ run: "next" }),
      world.register({ run: "next", provider: "second" }),
    ]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(2);
    expect(made.map(({ id }) => id)).toContain(lost);
  });

  test("delete spares what another provider of the run has adopted", async () => {
    const made = await world.register();
    world.record("jobs", made.id, { outputs: { ...stateOf(made) } });
    await world.register({ run: "moving", provider: "second" }, { ...inputs, adoptId: made.id });
    await world.plugin({ run: "moving" }).delete(made.id, stateOf(made));
    expect(world.ids()).toEqual([made.id]);
    expect(world.warnings.join()).toMatch(/is not deleted: another resource of this program has it/);
  });

  test("delete spares what two resources of the state have, because two providers adopted it in an earlier run", async () => {
    const made = await world.register();
    for (const [name, provider] of [
      ["jobs", "default"],
      ["copy", "second"],
    ] as const)
      world.record(name, made.id, { provider, outputs: { ...stateOf(made) } });
    await world.plugin().delete(made.id, stateOf(made));
    expect(world.ids()).toEqual([made.id]);
  });

  test("adopting one of two endpoints that a killed run made leaves the other one to the next resource", async () => {
    const adoptId = await world.lose({ run: "killed" }, { thenMs: 0 });
    const lost = await world.lose({ run: "killed", provider: "second" });
    world.edit((entry) => ({ ...entry, sent: entry.sent && { ...entry.sent, before: [] } }));
    await world.register({ run: "next" }, { ...inputs, adoptId });
    expect((await world.register({ run: "next", provider: "second" })).id).toBe(lost);
  });

  test("adopting across two providers of one run fails for the second", async () => {
    const id = world.stranger();
    await world.register({ run: "one" }, { ...inputs, adoptId: id });
    expect(await codeOf(world.register({ run: "one", provider: "second" }, { ...inputs, adoptId: id }))).toBe(
      "ADOPT_TAKEN",
    );
  });

  test("adopting what another stack has made is possible", async () => {
    const theirs = await world.register({ environment: { PULUMI_BACKEND_URL: "file:///other" } });
    expect((await world.register({}, { ...inputs, adoptId: theirs.id })).id).toBe(theirs.id);
  });
});

describe("invariant 4, proof beats inference:", () => {
  test("an answered id is taken, though an older endpoint fits the window too", async () => {
    world.stranger();
    const { id } = await world.register();
    world.edit((entry) => ({ ...entry, sent: entry.sent && { ...entry.sent, before: [] } }));
    expect((await world.register()).id).toBe(id);
  });

  test("an operation that a living entry of the run covers is under way, and not interrupted", async () => {
    const first = await world.register({ run: "one" });
    world.interrupt("jobs", inputs);
    const others = world.stranger();
    world.clock.skip(60_000);
    const second = await world.register({ run: "one" });
    expect([first.id, others]).not.toContain(second.id);
  });
});

describe("invariant 5, evidence takes, doubt stops, no evidence warns:", () => {
  test("this run's own lost answer is not settled by an endpoint that somebody else may have made: it stays pending", async () => {
    const lost = world.service.fault({ operation: "register", kind: "hang-after" });
    const creating = failure(world.register());
    while (lost.hits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    world.stranger();
    expect((await creating).message).toMatch(/REGISTRATION_PENDING/);
    expect(world.ids()).toHaveLength(2);
  });

  test("this run's own lost answer is settled by the only endpoint that fits", async () => {
    world.service.fault({ operation: "register", kind: "hang-after" });
    const { id } = await world.register();
    expect(world.ids()).toEqual([id]);
  });

  test("a stop registers nothing, changes nothing, and names ids, times and the ways on", async () => {
    const lost = await world.lose({}, { thenMs: 0 });
    const other = world.stranger();
    world.clock.skip(60_000);
    const before = world.book();
    world.service.clearRequests();
    const { message } = await failure(world.register());
    expect(message).toMatch(/REGISTRATION_IN_DOUBT/);
    for (const part of [lost, other, /\(created 20\d\d-/, "adoptId", 'ifExists: "register"', "recover"])
      expect(message).toMatch(part);
    expect(world.service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(world.book().filter(({ sent }) => sent !== null)).toEqual(before);
    expect(message).not.toContain("t0ken");
  });

  test("what nothing shows to be ours is not taken, and a warning names it", async () => {
    const others = world.stranger();
    expect((await world.register()).id).not.toBe(others);
    expect(world.warnings.join()).toContain(others);
  });

  test("delete in doubt deletes nothing, names the endpoints, and succeeds", async () => {
    const { id, state } = await world.pend({ happens: true });
    const other = world.stranger();
    await world.plugin().delete(id, state);
    expect(world.ids()).toHaveLength(2);
    expect(world.warnings.join()).toContain(other);
  });

  test("read in doubt stops", async () => {
    const { id, state } = await world.pend({ happens: true });
    world.stranger();
    expect(await codeOf(world.plugin({ rootUrn: undefined }).read(id, state))).toBe("REGISTRATION_IN_DOUBT");
  });
});

describe("invariant 7, nothing of ours is forgotten silently:", () => {
  test("the first up that calls any verb names what no resource wants, once", async () => {
    const lost = await world.lose();
    const made = await world.register({}, otherInputs);
    world.record("other", made.id, { outputs: { ...stateOf(made) } });
    world.warnings.length = 0;
    const run = world.plugin();
    await run.check({}, { ...otherInputs });
    await run.diff(made.id, stateOf(made), otherInputs);
    expect(world.warnings.filter((warning) => warning.includes(lost))).toHaveLength(1);
  });

  test("a delete alone names it, too", async () => {
    const lost = await world.lose();
    const made = await world.register({}, otherInputs);
    world.warnings.length = 0;
    await world.plugin().delete(made.id, stateOf(made));
    expect(world.warnings.join()).toContain(lost);
  });
});

describe("invariant 8, only proof closes an entry:", () => {
  const isOpen = () => world.book().some(({ sent, closed }) => sent !== null && !closed);

  test("a run that neither sees its endpoint nor settles it leaves it open, whatever the time", async () => {
    await world.lose();
    world.clock.skip(30 * 24 * 3_600_000);
    await world.plugin().check({}, { ...otherInputs });
    expect(isOpen()).toBe(true);
  });

  test.each<[string, (id: string) => unknown]>([
    [
      "its id is in the state",
      (id) => world.record("jobs", id, { outputs: { url: inputs.url, type: inputs.type } }),
    ],
    ["the run that sent it succeeded", () => world.ended("succeeded", { from: -90_000 })],
  ])("it is closed once %s", async (_, happen) => {
    const { id } = await world.register();
    world.clock.skip(60_000);
    happen(id);
    await world.plugin().check({}, { ...otherInputs });
    expect(isOpen()).toBe(false);
  });

  test("an id that the service of its own account does not know any more closes it", async () => {
    const { id } = await world.register();
    world.service.remove(id);
    world.clock.skip(60_000);
    await world.register();
    expect(world.book().find((entry) => entry.id === id)?.closed).toBe(true);
  });

  test("settling one of two equal registrations leaves the other one open", async () => {
    await world.lose({ run: "killed" }, { thenMs: 0 });
    await world.lose({ run: "killed", provider: "second" });
    world.edit((entry) => ({ ...entry, sent: entry.sent && { ...entry.sent, before: [] } }));
    await world.register({ run: "next" });
    expect(world.book().filter(({ id, closed }) => id === null && !closed)).toHaveLength(1);
  });

  test("closed entries stay while an open one of another stack with the same url and type overlaps, and go a day after", async () => {
    const { id } = await world.register();
    world.record("jobs", id, { outputs: { url: inputs.url, type: inputs.type } });
    const other = { environment: { PULUMI_BACKEND_URL: "file:///other" } };
    await world.register(other);
    await world.plugin().check({}, { ...otherInputs });
    const aWeekAgo = new Date(Date.now() - 7 * 86_400_000);
    for (const file of world.bookFiles()) utimesSync(file, aWeekAgo, aWeekAgo);
    const ours = () => world.book().find((entry) => entry.id === id);
    await world.plugin().check({}, { ...otherInputs });
    expect(ours()?.closed).toBe(true);
    world.edit((entry) => ({ ...entry, closed: true }));
    for (const file of world.bookFiles()) utimesSync(file, aWeekAgo, aWeekAgo);
    await world.plugin().check({}, { ...otherInputs });
    expect(ours()).toBeUndefined();
  });
});
