import { setImmediate } from "node:timers/promises";
import { nameOf } from "../../src/shared/urn";
import { type Declared, Killed, type Problems, type RunOptions, urnOf } from "./engineModel";
import type { Fault, Registered } from "./fakeService";
import { declared, GRACE_MS, urlOf, World } from "./world";

let world: World;
beforeEach(() => {
  world = new World();
});

const lose = (more: Partial<Fault> = {}) =>
  world.service.fault({ operation: "register", kind: "hang-before", ...more });
const failLists = (more: Partial<Fault> = {}) =>
  world.service.fault({ operation: "list", kind: "status", status: 400, times: 99, ...more });
/** What a lost registration makes, exactly when the test wants it. */
const appear = (path: string, more: Partial<Registered> = {}) =>
  world.service.add({ url: urlOf(path), ...more });
const resourceOf = (name: string) => world.stack.resources.find(({ urn }) => nameOf(urn) === name);
const idOf = (name: string) => resourceOf(name)?.id ?? "";
const settled = (program: readonly Declared[], others: readonly Registered[] = []) =>
  expect(world.differences(program, others)).toEqual([]);
const stops = async (run: Promise<Problems>, ...messages: RegExp[]) =>
  expect([...(await run)].sort()).toEqual(messages.map((message) => expect.stringMatching(message)));
/** Expects that a plain `up` puts everything right. */
async function heals(program: readonly Declared[], others: readonly Registered[] = [], options?: RunOptions) {
  expect(await world.up(program, options)).toEqual([]);
  settled(program, others);
}
/** Runs an `up` in which one registration gets no response. */
async function pendingUp(program: readonly Declared[], more?: Partial<Fault>) {
  lose(more);
  await stops(world.up(program), /REGISTRATION_PENDING/);
}
/** Runs an `up` that is killed when its first registration is made and gets no response. */
async function killedUp(program: readonly Declared[]) {
  world.service.watch = ({ operation }, moment) => {
    if (operation === "register" && moment === "done") world.kill();
  };
  await world.up(program).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
  world.service.watch = () => {};
  await world.time.pass(2_000);
}
/** Returns how long a run takes, in milliseconds. */
async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const started = world.time.now();
  await run();
  return world.time.now() - started;
}

describe("a registration that got no usable response", () => {
  const program = [declared("late")];

  test("create finds what it made, beside what was there before, whatever the service's clock", async () => {
    world = new World({ aheadMs: -3_600_000 });
    const before = appear("late");
    await world.time.pass(1_000);
    lose({ kind: "lost-after" });
    await heals([declared("late", "late", { ifExists: "register" })], [before]);
    const message = expect.stringMatching(
      new RegExp(`^WebhookEndpoint "late": found ${idOf("late")} .*without a usable response$`),
    );
    expect(world.shown).toContainEqual({ severity: "info", message });
  });

  test.each(["up", "refresh", "destroy"] as const)(
    "%s keeps it pending while the list fails, waits for what completes late, and says so",
    async (command) => {
      lose({ kind: "late-commit", delayMs: 17_500 });
      const sent = "late: the registration of https://hooks.example.com/… was sent";
      await stops(world.up(program), new RegExp(`${sent}.*REGISTRATION_PENDING`));
      failLists();
      expect(await world.run(command, program)).not.toEqual([]);
      expect(idOf("late")).toMatch(/^pending:/);
      expect(world.service.endpoints).toEqual([]);
      world.service.clearFaults();
      world.service.requests.length = 0;
      // Somebody else deletes it at the same moment.
      world.service.fault({ operation: "delete", kind: "status", status: 404, effect: true });
      expect(await world.run(command, program)).toEqual([]);
      settled(command === "destroy" ? [] : program);
      expect(world.service.changes).toEqual(command === "destroy" ? ["delete"] : []);
      const message = expect.stringMatching(/^waiting up to \d+ s in case .* completes late$/);
      expect(world.shown).toContainEqual({ severity: "info", message });
    },
  );

  test("one that waited for its turn is dated when it is sent", async () => {
    lose({ kind: "status", status: 429, headers: { "retry-after": "25" } });
    await pendingUp(program, { kind: "late-commit", delayMs: 15_000 });
    expect(await world.up(program)).toEqual([]);
    await world.time.pass(GRACE_MS);
    settled(program);
  });

  test("a cancelled run waits for nothing, and keeps it pending", async () => {
    const cancelSoon = () => world.time.after(1_000, () => world.cancel());
    lose({ kind: "lost-before" });
    const running = timeOf(() => stops(world.up(program), /REGISTRATION_PENDING/));
    while (!world.service.changes.includes("register")) await setImmediate();
    cancelSoon();
    expect(await running).toBeLessThan(3_000);
    const waiting = stops(world.up(program), /the run was cancelled/);
    cancelSoon();
    await waiting;
    expect(idOf("late")).toMatch(/^pending:/);
    await heals(program);
  });

  test("a hook that retries finds it, or keeps it pending, and never registers twice; one of several says what to do", async () => {
    const both = [...program, declared("also")];
    lose({ kind: "late-commit", delayMs: 12_000, times: 2 });
    failLists({ times: 40, after: 1 });
    const stopped = world.up(both, { retries: 3 });
    await stops(stopped, /^also: [^`]+ \(REGISTRATION_PENDING\)$/, /^late: .*`pulumi up` again/);
    expect(idOf("late")).toMatch(/^pending:/);
    world.service.clearFaults();
    await heals(both, [], { retries: 3 });
    // Lists fail until the second retry.
    lose({ kind: "lost-after" });
    failLists({ times: 9, after: 1 });
    await heals([...program, declared("more")], [], { retries: 3 });
  });

  test("an equal resource of the same run waits for it, and the next up settles both", async () => {
    const duplicates = [declared("a", "same"), declared("b", "same")];
    lose();
    await stops(world.up(duplicates), /^a: .*REGISTRATION_PENDING/, /^b: .*REGISTRATION_PENDING/);
    // It stands for one endpoint, which one of them has after a refresh.
    appear("same", { by: world });
    expect(await timeOf(async () => expect(await world.refresh()).toEqual([]))).toBeLessThan(1_000);
    expect(world.stack.resources).toHaveLength(1);
    await heals(duplicates);
    const others = [...duplicates, declared("c", "other"), declared("d", "other", { ip: "192.0.2.1" })];
    lose();
    await stops(world.up(others), /^c: .*REGISTRATION_PENDING/, /^d: .*STILL_PENDING/s);
    await heals(others);
  });

  test.each([declared("a", "new"), declared("a", "old", { ip: "192.0.2.9" })])(
    "it is undone when its resource is declared otherwise by then: %j",
    async (change) => {
      const other = appear("unrelated");
      await pendingUp([declared("a", "old", { ip: "192.0.2.1" })]);
      appear("old", { ip: "192.0.2.1" });
      await heals([{ ...change, args: { ...change.args, ifExists: "register" } }], [other]);
    },
  );

  test("adoptId settles it at a service with partial lists, where each command names a way", async () => {
    world = new World({ listed: 2 });
    const others = [appear("1"), appear("2")];
    await pendingUp([declared("a")]);
    const made = appear("a");
    const ways = {
      up: /set adoptId/,
      refresh: /set adoptId.*run `pulumi up`/,
      destroy: /`pulumi state delete`/,
    };
    for (const [command, way] of Object.entries(ways) as [keyof typeof ways, RegExp][])
      await stops(
        world.run(command, [declared("a")]),
        new RegExp(`only a part.*${way.source}.*STILL_PENDING`, "s"),
      );
    await heals([declared("a", "a", { adoptId: made.id })], others);
  });

  test.each([
    ["an older endpoint", "a", -60_000],
    ["an endpoint with another url", "b", 0],
  ])("adopting %s does not settle it", async (_, path, later) => {
    const found = appear(path, { made: world.time.date() + later });
    await pendingUp([declared("a", "a", { ifExists: "register" })]);
    appear("a");
    await heals([declared("a", path, { adoptId: found.id })]);
  });

  test("adoptId of an equal resource is not settled by it, in the same run", async () => {
    const found = appear("same");
    await world.time.pass(60_000);
    const duplicates = [
      declared("a", "same", { ifExists: "register" }),
      declared("b", "same", { adoptId: found.id }),
    ];
    lose();
    await stops(world.up(duplicates), /^a: .*REGISTRATION_PENDING/);
    expect(idOf("b")).toBe(found.id);
    await heals(duplicates);
  });

  test("in doubt, up stops, refresh stops, and destroy spares what it names", async () => {
    await pendingUp([declared("a")]);
    const both = [appear("a"), appear("a")];
    const fits = both.map(({ id }) => id).join(".*");
    const doubt = new RegExp(`${fits}.*2 endpoints fit one registration.*IN_DOUBT`, "s");
    await stops(world.up([declared("a")]), doubt);
    await stops(world.refresh(), doubt);
    expect(await world.destroy()).toEqual([]);
    settled([], both);
    expect(world.warnings).toEqual([expect.stringMatching(/these endpoints are left.*delete/)]);
  });

  test("a later refresh of the same run, and a destroy, count what a refresh has found as this resource's", async () => {
    for (const options of [{ refresh: true }, {}]) {
      await pendingUp(program);
      appear("late", { by: world });
      await heals(program, [], options);
      expect(world.warnings).toEqual([]);
      await world.destroy();
    }
  });

  test("its deletion spares what another resource of the program is to adopt", async () => {
    await pendingUp(program);
    const made = appear("late", { by: world });
    const { id = "", outputs = {}, inputs } = resourceOf("late") ?? {};
    const verbs = world.plugin();
    await verbs.check({}, { ...inputs, adoptId: made.id, __urn: urnOf("new") });
    await verbs.delete(id, outputs);
    expect(world.service.endpoints).toEqual([made]);
  });

  test("a resource cannot change its provider while it is pending", async () => {
    await pendingUp(program);
    const moved = [{ ...declared("late"), provider: "second" }];
    await stops(world.up(moved), /pulumi refresh.*STILL_PENDING/);
    expect(await world.refresh()).toEqual([]);
    await heals(moved);
  });

  test("one of another base URL is neither dropped nor registered at the new one", async () => {
    await pendingUp(program);
    const { id = "", outputs, inputs = {} } = resourceOf("late") ?? {};
    const old = { ...outputs, baseUrl: "https://old.example.com" };
    const verbs = world.plugin();
    for (const verb of [verbs.diff(id, old, inputs), verbs.read(id, old), verbs.delete(id, old)])
      await expect(verb).rejects.toThrow(/https:\/\/old\.example\.com.*OTHER_BASE_URL/s);
  });
});

test("without a readable state, what got no response is settled, and what was killed is named, with a warning that says what this run does not see", async () => {
  const late = [declared("late")];
  await pendingUp(late);
  await killedUp([...late, declared("lost")]);
  world.pulumi.isThere = false;
  appear("late", { by: world });
  expect(await world.up(late)).toEqual([]);
  settled(late, world.unowned());
  world.shown.length = 0;
  const both = [...late, declared("lost")];
  await stops(world.up(both), /could not be read: no pulumi on PATH.*ENDPOINT_EXISTS/s);
  const warning = /state of this stack cannot be read \(no pulumi on PATH\)/;
  expect(world.warnings).toEqual([expect.stringMatching(warning)]);
});

test("one resource does not adopt what another one has, whichever comes first", async () => {
  for (const parallel of [1, 16]) {
    await world.up([declared("b", "x")]);
    const adopting = declared("a", "x", { adoptId: idOf("b") });
    for (const path of ["x", "y"]) await world.up([adopting, declared("b", path)], { parallel });
    expect(world.unowned()).toEqual([]);
    expect(world.service.endpoints).toHaveLength(world.stack.resources.length);
    await world.destroy();
    expect(world.service.endpoints).toEqual([]);
  }
});

test("without a readable state, a resource whose endpoint another one has just adopted gets a new one", async () => {
  await world.up([declared("b", "x")]);
  world.pulumi.isThere = false;
  const adopting = [declared("a", "x", { adoptId: idOf("b") }), declared("b", "x")];
  await heals(adopting, [], { parallel: 1 });
  // What a diff has seen is this stack's.
  await heals([...adopting, declared("c", "x")], [], { parallel: 1 });
});
