import { PROVIDER_CODE } from "../../src/shared/permanent";
import { nameOf } from "../../src/shared/urn";
import { type Declared, Killed } from "./engineModel";
import type { Fault, Registered } from "./fakeService";
import { declared, PATIENCE_MS, urlOf, World, type WorldOptions } from "./world";

let world: World;
const begin = (options: WorldOptions = {}) => {
  world = new World(options);
};
beforeEach(() => begin());

const lose = (more: Partial<Fault> = {}) =>
  world.service.fault({ operation: "register", kind: "hang-before", ...more });
/** What a lost registration makes, exactly when the test wants it. */
const appear = (path: string, more: Partial<Registered> = {}) =>
  world.service.add({ url: urlOf(path), ...more });
const idOf = (name: string) => world.stack.resources.find(({ urn }) => nameOf(urn) === name)?.id ?? "";
const settled = (program: readonly Declared[], others: readonly Registered[] = []) =>
  expect(world.differences(program, others)).toEqual([]);
/** Runs an `up` that is killed when so many registrations are made and not answered. */
async function killedUp(program: readonly Declared[], { after = 0, alone = false } = {}) {
  let left = after;
  world.service.watch = ({ operation }, moment) => {
    if (operation === "register" && moment === "done" && left-- === 0) world.kill({ alone });
  };
  await world.up(program).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
  world.service.watch = () => {};
  await world.time.pass(2_000);
}

describe("a registration that got no usable answer", () => {
  const program = [declared("late")];
  const late = { url: urlOf("late"), type: "production", __provider: PROVIDER_CODE };

  test("create finds what it made, beside what was there before, whatever the service's clock", async () => {
    begin({ habits: { aheadMs: -3_600_000 } });
    const before = appear("late");
    await world.time.pass(1_000);
    lose({ kind: "lost-after" });
    expect(await world.up([declared("late", "late", { ifExists: "register" })])).toEqual([]);
    settled(program, [before]);
    const message = expect.stringMatching(new RegExp(`^found ${idOf("late")} .*without a usable answer$`));
    expect(world.shown).toContainEqual({ severity: "info", message });
  });

  test.each(["up", "refresh", "destroy"] as const)(
    "%s keeps it pending while the list fails, waits for what completes late, and says so",
    async (command) => {
      lose({ kind: "late-commit", delayMs: 17_500 });
      const pending =
        /late: the registration of https:\/\/hooks\.example\.com\/… was sent.*REGISTRATION_PENDING/;
      expect(await world.up(program)).toEqual([expect.stringMatching(pending)]);
      const run = () => (command === "up" ? world.up(program) : world[command]());
      world.service.fault({ operation: "list", kind: "status", status: 400, times: 99 });
      expect(await run()).not.toEqual([]);
      expect(idOf("late")).toMatch(/^pending:/);
      expect(world.service.endpoints).toEqual([]);
      world.service.clearFaults();
      world.service.requests.length = 0;
      expect(await run()).toEqual([]);
      settled(command === "destroy" ? [] : program);
      expect(world.service.changes).toEqual(command === "destroy" ? ["delete"] : []);
      expect(world.shown.at(command === "up" ? -2 : -1)?.message).toMatch(
        /^waiting up to \d+ s in case .* completes late$/,
      );
    },
  );

  test("one that was never made is sent again once its window is over, and dropped by a refresh", async () => {
    for (const command of ["up", "refresh"] as const) {
      lose();
      await world.up(program);
      await world.time.pass(PATIENCE_MS);
      world.service.requests.length = 0;
      const started = world.time.now();
      expect(command === "up" ? await world.up(program) : await world.refresh()).toEqual([]);
      expect(world.time.now() - started).toBeLessThan(1_000);
      settled(command === "up" ? program : []);
      await world.destroy();
    }
  });

  test("one that waited for its turn is dated when it is sent", async () => {
    lose({ kind: "status", status: 429, headers: { "retry-after": "25" } });
    lose({ kind: "late-commit", delayMs: 15_000 });
    expect(await world.up(program)).toEqual([expect.stringMatching(/REGISTRATION_PENDING/)]);
    expect(await world.up(program)).toEqual([]);
    await world.time.pass(PATIENCE_MS);
    settled(program);
  });

  test("a cancelled run waits for nothing, and keeps it pending", async () => {
    lose({ kind: "lost-before" });
    const started = world.time.now();
    const running = world.up(program);
    await world.reached(() => world.service.requests.some(({ operation }) => operation === "register"));
    world.time.after(1_000, () => world.cancel());
    expect(await running).toEqual([expect.stringMatching(/REGISTRATION_PENDING/)]);
    expect(world.time.now() - started).toBeLessThan(3_000);
    expect(idOf("late")).toMatch(/^pending:/);
    const waiting = world.up(program);
    world.time.after(1_000, () => world.cancel());
    expect(await waiting).toEqual([expect.stringMatching(/the run was cancelled/)]);
    expect(idOf("late")).toMatch(/^pending:/);
    expect(await world.up(program)).toEqual([]);
    settled(program);
  });

  test("a hook that retries finds it, or keeps it pending, and never registers twice", async () => {
    lose({ kind: "late-commit", delayMs: 12_000 });
    world.service.fault({ operation: "list", kind: "status", status: 400, times: 20, after: 1 });
    expect(await world.up(program, { retries: 3 })).toEqual([expect.stringMatching(/REGISTRATION_PENDING/)]);
    expect(idOf("late")).toMatch(/^pending:/);
    world.service.clearFaults();
    expect(await world.up(program, { retries: 3 })).toEqual([]);
    settled(program);
    // Lists fail until the second retry.
    lose({ kind: "lost-after" });
    world.service.fault({ operation: "list", kind: "status", status: 400, times: 9, after: 1 });
    const more = [...program, declared("more")];
    expect(await world.up(more, { retries: 3 })).toEqual([]);
    settled(more);
  });

  test("an equal resource of the same run waits for it, and the next up settles both", async () => {
    const twins = [declared("a", "same"), declared("b", "same")];
    lose();
    expect(await world.up(twins)).toEqual(Array(2).fill(expect.stringMatching(/REGISTRATION_PENDING/)));
    // It stands for one endpoint, which one of them has after a refresh.
    appear("same", { by: world });
    const started = world.time.now();
    expect(await world.refresh()).toEqual([]);
    expect([world.stack.resources.length, world.time.now() - started < 1_000]).toEqual([1, true]);
    expect(await world.up(twins)).toEqual([]);
    settled(twins);
    const others = [...twins, declared("c", "other"), declared("d", "other", { ip: "192.0.2.1" })];
    lose();
    expect([...(await world.up(others))].sort()).toEqual([
      expect.stringMatching(/^c: .*REGISTRATION_PENDING/),
      expect.stringMatching(/^d: .*STILL_PENDING/s),
    ]);
    expect(await world.up(others)).toEqual([]);
    settled(others);
  });

  test.each([declared("a", "new"), declared("a", "old", { ip: "192.0.2.9" })])(
    "it is undone when its resource is declared otherwise by then: %j",
    async (change) => {
      const other = appear("unrelated");
      lose();
      await world.up([declared("a", "old", { ip: "192.0.2.1" })]);
      appear("old", { ip: "192.0.2.1" });
      expect(await world.up([{ ...change, args: { ...change.args, ifExists: "register" } }])).toEqual([]);
      settled([change], [other]);
    },
  );

  test("adoptId settles it at a service with partial lists, where each command names that way", async () => {
    begin({ habits: { listed: 2 } });
    const others = [appear("1"), appear("2")];
    lose();
    await world.up([declared("a")]);
    const made = appear("a");
    for (const run of [() => world.up([declared("a")]), () => world.refresh(), () => world.destroy()])
      expect(await run()).toEqual([expect.stringMatching(/only a part.*adoptId.*STILL_PENDING/s)]);
    const adopting = [declared("a", "a", { adoptId: made.id })];
    expect(await world.up(adopting)).toEqual([]);
    settled(adopting, others);
  });

  test.each<[string, string, number]>([
    ["an older endpoint", "a", -60_000],
    ["an endpoint with another url", "b", 0],
  ])("adopting %s does not settle it", async (_, path, later) => {
    const found = appear(path, { made: world.time.date() + later });
    lose();
    await world.up([declared("a", "a", { ifExists: "register" })]);
    appear("a");
    const program = [declared("a", path, { adoptId: found.id })];
    expect(await world.up(program)).toEqual([]);
    settled(program);
  });

  test("in doubt, up stops, refresh stops, and destroy spares what it names", async () => {
    lose();
    await world.up([declared("a")]);
    const both = [appear("a"), appear("a")];
    const fits = both.map(({ id }) => id).join(".*");
    const doubt = new RegExp(`${fits}.*2 endpoints fit one registration.*IN_DOUBT`, "s");
    expect(await world.up([declared("a")])).toEqual([expect.stringMatching(doubt)]);
    expect(await world.refresh()).toEqual([expect.stringMatching(doubt)]);
    expect(await world.destroy()).toEqual([]);
    settled([], both);
    expect(world.warnings).toEqual([expect.stringMatching(/these endpoints are left.*delete/)]);
  });

  test("a later refresh of the same run, and a destroy, count what a refresh has found as this resource's", async () => {
    for (const options of [{ refresh: true }, {}]) {
      lose();
      await world.up(program);
      appear("late", { by: world });
      expect(await world.up(program, options)).toEqual([]);
      expect(world.warnings).toEqual([]);
      settled(program);
      await world.destroy();
    }
  });

  test("its deletion spares what another resource of the program is to adopt", async () => {
    lose();
    await world.up(program);
    const made = appear("late", { by: world });
    const [{ id, outputs } = { id: "", outputs: {} }] = world.stack.resources;
    const verbs = world.plugin();
    await verbs.check({}, { ...late, adoptId: made.id, __resourceName: "new" });
    await verbs.delete(id, outputs);
    expect(world.service.endpoints).toEqual([made]);
  });

  test("a resource cannot change its provider while it is pending", async () => {
    begin({ providers: ["second"] });
    lose();
    await world.up(program);
    const moved = [{ ...declared("late"), provider: "second" }];
    expect(await world.up(moved)).toEqual([expect.stringMatching(/pulumi refresh.*STILL_PENDING/)]);
    expect(await world.refresh()).toEqual([]);
    expect(await world.up(moved)).toEqual([]);
    settled(moved);
  });

  test("one of another base URL is neither dropped nor registered at the new one", async () => {
    lose();
    await world.up(program);
    const [{ id, outputs } = { id: "", outputs: {} }] = world.stack.resources;
    const old = { ...outputs, baseUrl: "https://old.example.com" };
    const verbs = world.plugin();
    for (const verb of [verbs.diff(id, old, late), verbs.read(id, old), verbs.delete(id, old)])
      await expect(verb).rejects.toThrow(/https:\/\/old\.example\.com.*OTHER_BASE_URL/s);
  });
});

describe("what a killed run registered", () => {
  const before = [declared("kept")];
  const program = [...before, declared("lost")];

  test("a preview does not show it, and a plain up takes it over, and says so", async () => {
    await world.up(before);
    await killedUp(program);
    const [made] = world.strangers();
    const { resources, pendingCreates } = world.stack;
    world.service.requests.length = 0;
    expect(await world.preview(program)).toEqual([]);
    expect([world.stack.resources, world.stack.pendingCreates]).toEqual([resources, pendingCreates]);
    expect(await world.up(program)).toEqual([]);
    expect(world.service.changes).toEqual([]);
    settled(program);
    const message = `took over ${made?.id} (https://hooks.example.com/…) that an interrupted run had registered`;
    expect(world.shown.slice(-1)).toEqual([{ severity: "info", message }]);
  });

  test("a stranger's equal endpoint is never taken and never deleted, registered before, between and after", async () => {
    await world.up(before);
    const strangers = [appear("lost")];
    await world.time.pass(60_000);
    // A preview stops, and whoever goes on has decided.
    const decided = [...before, declared("lost", "lost", { ifExists: "register" })];
    expect(await world.preview(program)).toEqual([expect.stringMatching(/ENDPOINT_EXISTS/)]);
    await killedUp(decided);
    await world.time.pass(60_000);
    strangers.push(appear("lost"));
    await world.time.pass(60_000);
    expect(await world.up(decided)).toEqual([]);
    strangers.push(appear("lost"));
    expect(await world.up(program)).toEqual([]);
    settled(program, strangers);
    await world.destroy();
    settled([], strangers);
  });

  test("a stranger's within the window puts it in doubt", async () => {
    await world.up(before);
    await killedUp(program);
    const [made] = world.strangers();
    const stranger = appear("lost");
    const doubt = new RegExp(`lost: .*${made?.id}.*${stranger.id}.*REGISTRATION_IN_DOUBT`, "s");
    expect(await world.up(program)).toEqual([expect.stringMatching(doubt)]);
    const adopting = [...before, declared("lost", "lost", { adoptId: made?.id })];
    expect(await world.up(adopting)).toEqual([]);
    settled(program, [stranger]);
  });

  const later = { "retry-after": "25" };
  test.each<[string, boolean, Partial<Fault>[]]>([
    ["the plugin alone was killed", true, []],
    ["it waited longer than patience for its turn", false, [{ kind: "status", status: 429, headers: later }]],
  ])("if %s, the next up stops, and names the id", async (_, alone, faults) => {
    await world.up(before);
    for (const fault of faults) lose(fault);
    await killedUp(program, { alone });
    const [made] = world.strangers();
    const stop = new RegExp(`^lost: .*${made?.id}.*ENDPOINT_EXISTS`, "s");
    expect(await world.up(program)).toEqual([expect.stringMatching(stop)]);
    expect(await world.up([...before, declared("lost", "lost", { adoptId: made?.id })])).toEqual([]);
    settled(program);
  });

  test("without a readable state, what got no answer is settled, and what was killed is named, with a warning that says what this run does not see", async () => {
    lose();
    await world.up(before);
    await killedUp(program);
    world.isStateReadable = false;
    appear("kept", { by: world });
    expect(await world.up(before)).toEqual([]);
    settled(before, world.strangers());
    world.shown.length = 0;
    const [problem] = await world.up(program);
    expect(problem).toMatch(/could not be read: no pulumi on PATH.*ENDPOINT_EXISTS/s);
    const warning = /state of this stack cannot be read.*must be on PATH/;
    expect(world.warnings).toEqual([expect.stringMatching(warning)]);
  });
});

describe("what this stack has", () => {
  test("one resource does not adopt what another one has, whichever comes first", async () => {
    for (const parallel of [1, 16]) {
      await world.up([declared("b", "x")]);
      const id = idOf("b");
      const adopting = declared("a", "x", { adoptId: id });
      for (const path of ["x", "y"]) await world.up([adopting, declared("b", path)], { parallel });
      expect(world.service.endpoints.map((each) => each.id).sort()).toEqual(
        world.stack.resources.map((each) => each.id).sort(),
      );
      await world.destroy();
      expect(world.service.endpoints).toEqual([]);
    }
  });

  test("without a readable state, a resource whose endpoint another one has just adopted gets a new one", async () => {
    await world.up([declared("b", "x")]);
    world.isStateReadable = false;
    const adopting = [declared("a", "x", { adoptId: idOf("b") }), declared("b", "x")];
    expect(await world.up(adopting, { parallel: 1 })).toEqual([]);
    settled(adopting);
    // What a diff has seen is this stack's.
    const more = [...adopting, declared("c", "x")];
    expect(await world.up(more, { parallel: 1 })).toEqual([]);
    settled(more);
  });

  test("a program that adopts what another provider's resource gives up never deletes it", async () => {
    begin({ providers: ["second"] });
    world.service.accounts.set("k3y-of-second", "default");
    await world.up([declared("a")]);
    const [made] = world.service.endpoints;
    const renamed = [{ ...declared("renamed", "a", { adoptId: made?.id }), provider: "second" }];
    expect(await world.up(renamed)).toEqual([expect.stringMatching(/ADOPT_TAKEN/)]);
    expect(world.service.endpoints).toEqual([made]);
  });
});
