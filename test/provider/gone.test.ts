import { PROVIDER_CODE } from "../../src/shared/permanent";
import { nameOf } from "../../src/shared/urn";
import { type Declared, Killed } from "./engineModel";
import type { Fault, Habits } from "./fakeService";
import { declared, GRACE_MS, urlOf, World } from "./world";

/** Within this time, a list and a get show what was registered, and no longer what was deleted: the contract's lag, in milliseconds. */
const LAG_MS = 5_000;
const names = ["a", "b", "c"];
const three = names.map((name) => declared(name));

let world: World;
/** Who runs the verbs: the program's class, or the native plugin. */
let isNative: boolean;
function begin(habits: Habits = {}): void {
  world = new World(habits);
  world.stack.isNative = isNative;
}
const forget = () => {
  world.service.requests.length = 0;
  world.shown.length = 0;
};
const sent = () => world.service.requests.map(({ operation }) => operation);
const idOf = (name: string) => world.stack.resources.find(({ urn }) => nameOf(urn) === name)?.id ?? "";
const settled = (program: readonly Declared[]) => expect(world.differences(program)).toEqual([]);
const fault = (operation: Fault["operation"], ...kinds: readonly Omit<Fault, "operation">[]) => {
  for (const kind of kinds) world.service.fault({ operation, ...kind });
};
const status = (code: number, times = 1) => ({ kind: "status", status: code, times }) as const;
/** Returns how long a run takes, in milliseconds. */
async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const started = world.time.now();
  await run();
  return world.time.now() - started;
}
/** Runs an `up` that is killed when it has registered so many. */
async function killedUp(program: readonly Declared[], registrations = 1): Promise<void> {
  let left = registrations;
  world.service.watch = ({ operation }, moment) => {
    if (operation === "register" && moment === "done" && --left === 0) world.kill();
  };
  await expect(world.up(program, { parallel: 1 })).rejects.toThrow(Killed);
  world.service.watch = () => {};
}

/** Commands that delete the endpoint of "a", and what is declared afterwards. */
const DELETIONS: Readonly<Record<string, () => [Promise<readonly string[]>, readonly Declared[]]>> = {
  destroy: () => [world.destroy(), []],
  "an up without the resource": () => [world.up(three.slice(1)), three.slice(1)],
  "a replacement": () => {
    const changed = [declared("a", "new"), ...three.slice(1)];
    return [world.up(changed), changed];
  },
  "a replacement that deletes first": () => {
    const changed = [{ ...declared("a", "new"), deleteBeforeReplace: true }, ...three.slice(1)];
    return [world.up(changed), changed];
  },
};

describe.each([
  ["the TypeScript library", false],
  ["the native plugin", true],
])("with %s", (_, native) => {
  beforeEach(() => {
    isNative = native;
    begin();
  });

  describe.each(Object.entries(DELETIONS))("a delete of %s", (_, run) => {
    test.each<[string, readonly Omit<Fault, "operation">[]]>([
      ["with 404", [status(404)]],
      ["with 410", [status(410)]],
      ["with 404 after a 502", [status(502), status(404)]],
      ["with 404 after a 503 and a lost response", [status(503), { kind: "lost-before" }, status(404)]],
      ["with 410 after 408 and no connection", [status(408), { kind: "unreachable" }, status(410)]],
    ])("that a proxy denies %s while the list has the endpoint is sent again", async (_, kinds) => {
      await world.up(three);
      await world.time.pass(60_000);
      fault("delete", ...kinds);
      const [running, after] = run();
      expect(await running).toEqual([]);
      settled(after);
    });

    test("that stays denied fails, names what the list shows and the ways on, and keeps the endpoint in the state", async () => {
      await world.up(three);
      await world.time.pass(60_000);
      const id = idOf("a");
      fault("delete", status(404, 99));
      const [running] = run();
      const problems = await running;
      // The ways on are told once.
      expect(problems[0]).toMatch(/pulumi state delete/);
      expect(problems.find((each) => each.includes(id))).toMatch(/\(STILL_LISTED\)$/);
      expect(idOf("a") === id || world.stack.resources.some((each) => each.id === id)).toBe(true);
      world.service.clearFaults();
      const [again, after] = run();
      expect(await again).toEqual([]);
      settled(after);
    });
  });

  test("a delete that took effect without a response is over with its repeat and a list after it", async () => {
    await world.up(three);
    await world.time.pass(60_000);
    forget();
    fault("delete", { kind: "lost-after" });
    expect(await world.up(three.slice(1))).toEqual([]);
    settled(three.slice(1));
    expect(sent().slice(-3)).toEqual(["delete", "delete", "list"]);
    expect(sent().length).toBeLessThanOrEqual(4);
  });

  test("the deletion of what a pending resource made is not over because a proxy denies it", async () => {
    fault("register", { kind: "late-commit", delayMs: 12_000 });
    expect(await world.up([declared("a")])).toHaveLength(1);
    await world.time.pass(GRACE_MS);
    fault("delete", status(404));
    expect(await world.destroy()).toEqual([]);
    settled([]);
  });

  test.each([
    ["refresh", 404, {}],
    ["up", 404, { refresh: true }],
    ["up", 410, { refresh: true }],
    ["up", 404, { refresh: true, parallel: 1 }],
  ] as const)(
    "%s drops nothing when gets are denied with %d for a moment and the list fails once or shows them (%j)",
    async (command, code, options) => {
      for (const kind of [status(code), status(500, 4), { kind: "hang-before" }] as const) {
        begin();
        await world.up(three);
        await world.time.pass(60_000);
        forget();
        fault("list", kind);
        fault("get", status(code, 3));
        await world.run(command, three, options);
        world.service.clearFaults();
        expect(names.map(idOf)).toEqual(["wh_1", "wh_2", "wh_3"]);
        expect(await world.up(three)).toEqual([]);
        settled(three);
        expect(world.service.changes).toEqual([]);
      }
    },
  );

  test("a rotated key registers nothing again because gets are denied for a moment", async () => {
    await world.up(three);
    await world.time.pass(60_000);
    world.rotateKey("");
    forget();
    fault("list", status(404));
    fault("get", status(404, 3));
    await world.up(three);
    world.service.clearFaults();
    expect(await world.up(three)).toEqual([]);
    settled(three);
    expect(world.service.changes).toEqual([]);
  });

  test("what a program only reads is not gone because a get is denied for a moment", async () => {
    const { id } = world.service.add({ url: urlOf("theirs") });
    const { props = {} } = await world.plugin().read(id, isNative ? {} : { __provider: PROVIDER_CODE });
    fault("list", status(404));
    fault("get", status(404));
    const read = world.plugin().read(id, props);
    expect(await read.catch(() => ({ id }))).toMatchObject({ id });
  });

  test("a refresh within the service's lag drops and registers nothing", async () => {
    for (const lagMs of [1_000, 4_800]) {
      begin({ lagMs, isReplica: true });
      await world.up(three);
      for (const options of [{ refresh: true }, { refresh: true, parallel: 1 }]) {
        expect(await world.up(three, options)).toEqual([]);
        settled(three);
      }
      expect(world.service.changes).toEqual(Array(3).fill("register"));
    }
  });

  test("a state that does not tell when it was registered is refreshed within the lag, too", async () => {
    begin({ lagMs: 4_800, isReplica: true });
    await world.up(three);
    // As the first release wrote it.
    world.stack.resources = world.stack.resources.map((each) => {
      const { url, type, ip, createdAt, updatedAt, baseUrl, account, __provider } = each.outputs;
      const outputs = { url, type, ip, createdAt, updatedAt, baseUrl, account, __provider };
      return { ...each, outputs: JSON.parse(JSON.stringify(outputs)) };
    });
    expect(await world.refresh()).toEqual([]);
    settled(three);
  });

  test("a destroy within the service's lag deletes everything, and one whose endpoints were just deleted by hand ends", async () => {
    begin({ lagMs: 4_800, isReplica: true });
    await world.up(three);
    expect(await world.destroy()).toEqual([]);
    settled([]);
    await world.up(three);
    for (const { id } of world.service.endpoints) world.service.remove(id);
    expect(await world.destroy()).toEqual([]);
    settled([]);
  });

  test("three deleted by hand seconds after an up are dropped by a refresh after one wait of the lag at most, with a line", async () => {
    await world.up(three);
    await world.time.pass(1_000);
    for (const each of world.service.endpoints) world.service.remove(each);
    forget();
    expect(await timeOf(() => world.refresh())).toBeLessThan(LAG_MS + 200);
    expect(world.stack.resources).toEqual([]);
    expect(world.shown).toEqual([{ severity: "info", message: expect.stringMatching(/wait/) }]);
    expect(await world.up(three)).toEqual([]);
    settled(three);
    expect(world.service.changes).toEqual(Array(3).fill("register"));
  });

  test("what was deleted by hand long after its registration is dropped at once, without a line", async () => {
    await world.up(three);
    await world.time.pass(60_000);
    world.service.remove("wh_2");
    forget();
    expect(await timeOf(() => world.refresh())).toBeLessThan(200);
    settled([three[0], three[2]].flatMap((each) => each ?? []));
    expect(world.shown).toEqual([]);
  });

  test("what a partial list lacks is gone after two denials with the lag between them, and not after one", async () => {
    begin({ listed: 1 });
    await world.up(three);
    await world.time.pass(60_000);
    fault("get", status(404));
    await world.run("refresh", three, { parallel: 1 });
    expect(names.map(idOf)).toEqual(["wh_1", "wh_2", "wh_3"]);
    world.service.remove("wh_3");
    expect(await world.refresh()).toEqual([]);
    settled(three.slice(0, 2));
  });
});

describe("the requests of a command", () => {
  const many = Array.from({ length: 200 }, (_, at) => declared(`r${at}`));
  beforeEach(async () => {
    isNative = false;
    begin();
    await world.up(many);
    await world.time.pass(60_000);
    forget();
  });

  test.each([1, 16, 200])(
    "a refresh of 200 takes one, and two deleted by hand five (at once: %d)",
    async (parallel) => {
      expect(await world.run("refresh", many, { parallel })).toEqual([]);
      expect(sent()).toEqual(["list"]);
      for (const id of ["wh_7", "wh_150"]) world.service.remove(id);
      await world.time.pass(60_000);
      forget();
      expect(await world.run("refresh", many, { parallel })).toEqual([]);
      expect(world.stack.resources).toHaveLength(198);
      expect(sent().length).toBeLessThanOrEqual(5);
    },
  );

  test("a refresh of 200 that were all deleted by hand takes 202, and drops all of them", async () => {
    for (const each of world.service.endpoints) world.service.remove(each);
    expect(await world.run("refresh", many, { parallel: 200 })).toEqual([]);
    expect(world.stack.resources).toEqual([]);
    expect(sent().length).toBeLessThanOrEqual(202);
  });

  test("a destroy of 200 takes 200 and one list at most, and an unchanged up none", async () => {
    expect(await world.up(many)).toEqual([]);
    expect(sent()).toEqual([]);
    expect(await world.destroy()).toEqual([]);
    expect(sent().filter((each) => each === "delete")).toHaveLength(200);
    expect(sent().length).toBeLessThanOrEqual(201);
  });
});

describe("absence that no response denies", () => {
  const both = [declared("x"), declared("y")];
  const all = [...both, declared("a")];
  beforeEach(() => {
    isNative = false;
    begin();
  });

  test.each<[string, Omit<Fault, "operation">]>([
    ["is empty for a second", { kind: "blank", delayMs: 1_000 }],
    ["is empty for almost as long as the lag", { kind: "blank", delayMs: 4_800 }],
  ])("a killed registration is taken over after its window although the list %s", async (_, kind) => {
    for (const program of [all, [declared("a")]]) {
      begin();
      if (program === all) await world.up(both);
      await killedUp(program);
      await world.time.pass(60_000);
      fault("list", kind);
      expect(await world.up(program)).toEqual([]);
      settled(program);
    }
  });

  test.each([false, true])(
    "a registration that takes effect late is found in a list that lags (killed: %s)",
    async (isKilled) => {
      begin({ lagMs: 4_800 });
      await world.up(both);
      await world.time.pass(60_000);
      fault("register", { kind: "late-commit", delayMs: 14_000 });
      if (isKilled)
        world.service.watch = ({ operation }, moment) => {
          if (operation === "register" && moment === "arrived") world.kill();
        };
      await world.up(all).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
      world.service.watch = () => {};
      expect(await world.up(all)).toEqual([]);
      await world.time.pass(GRACE_MS);
      settled(all);
    },
  );

  test.each(["refresh", "destroy", "up"] as const)(
    "%s does not take a pending registration for one that made nothing although a list is empty once",
    async (command) => {
      await world.up(both);
      fault("register", { kind: "late-commit", delayMs: 12_000 });
      expect(await world.up(all)).toHaveLength(1);
      await world.time.pass(60_000);
      fault("list", { kind: "blank", delayMs: 4_800 });
      expect(await world.run(command, all)).toEqual([]);
      settled(command === "destroy" ? [] : all);
      expect(world.warnings).toEqual([]);
    },
  );

  test("lists that lack for long what a get shows are stale: nothing is registered, and the stop says so", async () => {
    await world.up(both);
    await killedUp(all);
    await world.time.pass(60_000);
    fault("list", { kind: "blank", delayMs: 60_000 });
    expect(await world.up(all)).toEqual([expect.stringMatching(/^a: .*STILL_PENDING/s)]);
    await world.time.pass(60_000);
    expect(await world.up(all)).toEqual([]);
    settled(all);
  });

  test("a registration that made nothing is repeated once two lists and the gets of what is missing agree", async () => {
    await world.up(both);
    fault("register", { kind: "lost-before" });
    expect(await world.up(all)).toHaveLength(1);
    await world.time.pass(60_000);
    for (const each of world.service.endpoints) world.service.remove(each);
    expect(await world.up(all)).toEqual([]);
    expect(await world.up(all, { refresh: true })).toEqual([]);
    settled(all);
  });

  test("a registration without evidence asks nothing while the list has every known endpoint, and proves a stale list otherwise", async () => {
    await world.up(both);
    await world.time.pass(60_000);
    forget();
    const more = [...both, declared("z")];
    expect(await world.up(more)).toEqual([]);
    expect(sent()).toEqual(["list", "register"]);
    const theirs = world.service.add({ url: urlOf("theirs") });
    await world.time.pass(60_000);
    fault("list", { kind: "blank", delayMs: 3_000 });
    const stopped = await world.up([...more, declared("theirs")]);
    expect(stopped).toEqual([expect.stringMatching(new RegExp(`${theirs.id} .*ENDPOINT_EXISTS`, "s"))]);
  });

  test("a get that fails proves nothing, and is repeated when a hook makes the engine try again", async () => {
    await world.up(both);
    await world.time.pass(60_000);
    world.service.remove(idOf("x"));
    forget();
    fault("get", { kind: "status", status: 400 });
    expect(await world.up([...both, declared("z")], { retries: 1 })).toEqual([]);
    expect(sent()).toEqual(["list", "get", "get", "register"]);
  });

  test("without a readable state, what a run learns of later proves the same list stale", async () => {
    await world.up(both);
    const theirs = world.service.add({ url: urlOf("theirs") });
    await world.time.pass(60_000);
    world.pulumi.isThere = false;
    fault("list", { kind: "blank", delayMs: 3_000 });
    // Of the first one, nothing is known that the list lacks.
    const stopped = await world.up([declared("z"), ...both, declared("theirs")], { parallel: 1 });
    expect(stopped).toEqual([expect.stringMatching(new RegExp(`${theirs.id} .*ENDPOINT_EXISTS`, "s"))]);
  });

  test.each(["up", "refresh"] as const)(
    "%s does not take over what was deleted by hand and a list still shows, and what was denied once is taken over",
    async (command) => {
      const begun = async (lose: () => Promise<unknown>) => {
        begin();
        await world.up(both);
        await lose();
        await world.time.pass(60_000);
      };
      const lost = async () => {
        fault("register", { kind: "late-commit", delayMs: 12_000 });
        expect(await world.up(all)).toHaveLength(1);
      };
      const lose = command === "up" ? () => killedUp(all) : lost;
      await begun(lose);
      for (const each of world.unowned()) world.service.remove(each);
      fault("list", { kind: "stale", delayMs: 3_000, times: 2 });
      await world.time.pass(1_000);
      expect(await world.run(command, all)).toEqual([]);
      expect(
        world.stack.resources.filter(({ id }) => !world.service.endpoints.some((each) => each.id === id)),
      ).toEqual([]);

      await begun(lose);
      const [made] = world.unowned();
      fault("get", { kind: "status", status: 404 });
      expect(await world.run(command, all)).toEqual([]);
      expect(world.unowned()).toEqual([]);
      expect(world.service.endpoints).toContain(made);
    },
  );
});
