import { mkdirSync } from "node:fs";
import type { EndpointState } from "../../src/endpoint/types";
import { inputs, otherInputs, outcome, stateOf, VerbsWorld } from "./verbsWorld";

const forever = Number.POSITIVE_INFINITY;
const elsewhere = () => ({ environment: { PULUMI_HOME: `${world.folder}/elsewhere` } });

let world: VerbsWorld;
async function start(options?: { newId: () => string }) {
  world = await VerbsWorld.start(options);
  mkdirSync(`${world.folder}/elsewhere`);
}
afterEach(() => world.close());

describe("an id that the service has used again", () => {
  beforeEach(() => start({ newId: () => "5" }));

  /** Registers, refreshes if asked, and lets somebody delete the endpoint. */
  async function recorded({ isRefreshed }: { isRefreshed: boolean }): Promise<EndpointState> {
    const made = await world.register();
    const state = isRefreshed
      ? ((await world.plugin().read(made.id, stateOf(made))).props as EndpointState)
      : stateOf(made);
    world.record("jobs", made.id, { inputs: { ...inputs }, outputs: { ...state } });
    world.ended("succeeded");
    world.clock.skip(3_600_000);
    world.service.remove("5");
    return state;
  }

  describe.each([
    ["this machine", () => ({})],
    ["another machine", elsewhere],
    ["a destroy, which does not know its stack", () => ({ rootUrn: undefined })],
  ])("for the same url and type, on %s", (_where, options) => {
    test("is another endpoint if a refresh has recorded another time", async () => {
      const state = await recorded({ isRefreshed: true });
      world.service.add({ ...inputs });
      expect(await world.plugin(options()).read("5", state)).toEqual({});
      await world.plugin(options()).delete("5", state);
      expect(world.ids()).toEqual(["5"]);
      expect(world.warnings.join()).toMatch(/5 is not deleted: the service has used this id again/);
    });
  });

  test.each([true, false])(
    "for another url and a type that this package does not know, is not deleted (refreshed before: %s)",
    async (isRefreshed) => {
      const state = await recorded({ isRefreshed });
      const theirs = {
        ...world.service.add({ ...inputs }),
        url: "https://somebody.example.com/x",
        type: "staging",
      };
      world.service.fault({ operation: "list", kind: "status", status: 200, body: [theirs], times: forever });
      await world.plugin({ rootUrn: undefined }).delete("5", state);
      expect(world.ids()).toEqual(["5"]);
      expect(world.warnings.join()).toMatch(/somebody\.example\.com.* \(an unknown type\)/);
    },
  );
});

test.each([false, true])(
  "an endpoint that another provider's resource imports is not deleted (after a resource was deleted and made anew: %s)",
  async (isAfter) => {
    await start();
    const replaced = await world.register({}, otherInputs);
    const leaving = await world.register({}, inputs);
    world.record("replaced", replaced.id, { inputs: { ...otherInputs }, outputs: { ...stateOf(replaced) } });
    world.record("leaving", leaving.id, { inputs: { ...inputs }, outputs: { ...stateOf(leaving) } });
    world.ended("succeeded");
    world.clock.skip(60_000);
    const up = world.plugin();
    if (isAfter) {
      // `--replace` with deleteBeforeReplace: without a `diff` (engine rule 17).
      await up.delete(replaced.id, stateOf(replaced));
      await up.create(otherInputs);
    }
    const outputs = { ...stateOf(leaving) };
    world.record("imported", leaving.id, { provider: "two", inputs: { ...inputs }, outputs });
    await up.delete(leaving.id, stateOf(leaving));
    expect(world.ids()).toContain(leaving.id);
  },
);

test.each([true, false])(
  "what a killed replacement made is taken over on another machine (adoptId is still in the program: %s)",
  async (hasAdoptId) => {
    await start();
    const old = await world.register(elsewhere(), otherInputs);
    const adopting = hasAdoptId ? { adoptId: old.id } : {};
    world.record("jobs", old.id, { inputs: { ...otherInputs, ...adopting }, outputs: { ...stateOf(old) } });
    world.ended("succeeded", { from: -60_000, until: -30_000 });
    const args = { ...inputs, ...adopting };
    const { id } = world.service.add({ ...inputs });
    world.interrupt("jobs", args);
    world.clock.skip(60_000);
    const up = world.plugin(elsewhere());
    await up.diff(old.id, stateOf(old), args);
    expect(await outcome(up.create(args))).toBe(id);
  },
);

describe("on a laptop that sleeps for two hours between the list and the registration,", () => {
  /** The clock that never goes back stands still meanwhile; the date goes on, as the service's does. */
  async function asleep(): Promise<string> {
    await start();
    let slept = 0;
    const { now, date, after } = world.clock;
    up = world.plugin({ clock: { now: () => now() - slept, date, after } });
    await up.check({}, { ...inputs });
    world.clock.skip(3_600_000);
    const { id } = world.service.add({ ...inputs });
    world.clock.skip(3_600_000);
    slept = 7_200_000;
    return id;
  }
  let up: ReturnType<VerbsWorld["plugin"]>;

  test("somebody's endpoint, with which the service answers, is not taken", async () => {
    const id = await asleep();
    const body = { id, ...inputs };
    world.service.fault({ operation: "register", kind: "status", status: 200, body });
    expect(await outcome(up.create(inputs))).toMatch(/ENDPOINT_EXISTS/);
  });

  test("ifExists: fail sees what somebody has registered meanwhile", async () => {
    const id = await asleep();
    expect(await outcome(up.create({ ...inputs, ifExists: "fail" }))).toMatch(/ENDPOINT_EXISTS/);
    expect(world.ids()).toEqual([id]);
  });
});
