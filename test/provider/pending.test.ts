import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { startEmulator } from "../../src/emulator";
import { inPages } from "../emulator/odd";
import type { Declared } from "./engineModel";
import { FastClock } from "./fastClock";
import { Plugin, type VerbError } from "./plugin";
import { World } from "./world";

const speed = 12;
/** The speed for registrations that complete late, where moments matter. */
const slow = 4;
/** Longer than a run looks for its registration (15 s), shorter than it takes to count as never made (20 s), in real milliseconds. */
const delayMs = 17_500 / slow;

const program: readonly Declared[] = [
  { name: "late", args: { url: "https://hooks.example.com/late", type: "production" } },
];

let plugin: Plugin;
let world: World;

beforeAll(async () => {
  plugin = await Plugin.start();
});
afterAll(() => plugin.stop());
beforeEach(async () => {
  world = await World.start({ plugin: async () => plugin, speed });
});
afterEach(() => world.close());

const urlOf = (path: string) => `https://hooks.example.com/${path}`;
const declared = (name: string, path: string, args: object = {}): Declared => ({
  name,
  args: { url: urlOf(path), type: "production", ...args },
});
/** Adds an endpoint that somebody else registered, or that a lost registration made, exactly when the test wants it. */
const appear = (path: string, more: object = {}) =>
  world.emulator.add({ url: urlOf(path), type: "production", ...more });
const loseRegistration = (after = 0) =>
  world.emulator.fault({ operation: "register", kind: "hang-before", after });

describe("a pending registration", () => {
  it.each([
    ["an equal one, which fails in the same way", {}, /REGISTRATION_PENDING/],
    ["one with another ip, which waits", { ip: "192.0.2.1" }, /REGISTRATION_WAITS/],
  ])("a pending registration holds back %s, and the next up settles both", async (_, more, second) => {
    const program = [declared("a", "same"), declared("b", "same", more)];
    loseRegistration();
    const problems = await world.stack.up(program, { parallel: 16 });
    expect([...problems].sort().reverse()).toEqual([
      expect.stringMatching(/REGISTRATION_PENDING/),
      expect.stringMatching(second),
    ]);
    expect(await world.stack.up(program)).toEqual([]);
    expect(world.differences(program, [])).toEqual([]);
  });

  it("a pending registration is undone when its resource is declared otherwise by then, and no endpoint is mistaken for the new one", async () => {
    for (const change of [declared("a", "new"), declared("a", "old", { ip: "192.0.2.9" })]) {
      const { emulator, stack } = world;
      const others = appear("new");
      loseRegistration();
      await stack.up([declared("a", "old", { ip: "192.0.2.1" })]);
      appear("old", { ip: "192.0.2.1" });
      expect(await stack.up([change])).toEqual([]);
      expect(world.differences([change], [others])).toEqual([]);
      await stack.destroy();
      emulator.remove(others.id);
    }
  });

  it("adoptId settles a pending registration at a service with partial lists", async () => {
    await world.close();
    world = await World.start({ plugin: async () => plugin, speed, emulator: { answer: inPages(2) } });
    const { stack } = world;
    const others = [appear("1"), appear("2")];
    loseRegistration();
    const program = [declared("a", "a")];
    await stack.up(program);
    const made = appear("a");
    for (const command of ["up", "refresh", "destroy"] as const)
      expect(await (command === "up" ? stack.up(program) : stack[command]())).toEqual([
        expect.stringMatching(/only a part.*adoptId.*STILL_PENDING/),
      ]);
    const adopting = [declared("a", "a", { adoptId: made.id })];
    expect(await stack.up(adopting)).toEqual([]);
    expect(await stack.up(adopting)).toEqual([]);
    expect(world.differences(adopting, others)).toEqual([]);
  });

  it("adopting an endpoint that is older does not settle a pending registration", async () => {
    const before = appear("a");
    loseRegistration();
    await world.stack.up([declared("a", "a")]);
    appear("a");
    const program = [declared("a", "a", { adoptId: before.id })];
    expect(await world.stack.up(program)).toEqual([]);
    expect(world.differences(program, [])).toEqual([]);
  });

  it("adopting an endpoint with another url does not settle a pending registration", async () => {
    const other = appear("b");
    loseRegistration();
    await world.stack.up([declared("a", "a")]);
    appear("a");
    const program = [declared("a", "b", { adoptId: other.id })];
    expect(await world.stack.up(program)).toEqual([]);
    expect(world.differences(program, [])).toEqual([]);
  });

  it("delete does not touch an endpoint that another provider of the account registered instead of a pending one", async () => {
    const { stack, clock } = world;
    const other = (provider: string) =>
      plugin.command({ ...world.configOf(""), "webhooks:other": provider }, { clock });
    loseRegistration();
    await stack.up([declared("a", "a")]);
    const [{ id, outputs } = { id: "", outputs: {} }] = stack.resources;
    const [moved, left] = [await other("new"), await other("old")];
    await moved.diff(id, outputs, { url: urlOf("a"), type: "production" });
    const made = await moved.create({ url: urlOf("a"), type: "production" });
    await left.delete(id, outputs);
    expect(world.emulator.endpoints().map((endpoint) => endpoint.id)).toEqual([made.id]);
  });

  it("a registration whose outcome could not be determined holds back an equal one", async () => {
    const { emulator, stack } = world;
    const program = [declared("a", "same"), declared("b", "same")];
    loseRegistration();
    await stack.up([declared("a", "same")]);
    emulator.fault({ operation: "list", kind: "status", status: 400 });
    expect(await stack.up(program, { parallel: 1 })).not.toEqual([]);
    expect(await stack.up(program)).toEqual([]);
    expect(await stack.up(program)).toEqual([]);
    expect(world.differences(program, [])).toEqual([]);
  });

  it("a pending registration does not wait longer when the service's clock was set back", async () => {
    await world.close();
    let back = 0;
    const clock = new FastClock(speed);
    const emulator = await startEmulator({ now: () => clock.date() - back });
    const begin = () =>
      plugin.command(
        {
          "webhooks:baseUrl": emulator.url,
          "webhooks:apiKey": emulator.apiKey,
          "webhooks:timeoutSeconds": "10",
        },
        { clock },
      );
    emulator.fault({ operation: "register", kind: "reset-before" });
    const error: VerbError = await (await begin()).create({ url: urlOf("a"), type: "production" }).then(
      () => Promise.reject(new Error("it was made")),
      (reason) => reason,
    );
    const { id = "", properties = {} } = error.halfMade ?? {};
    back = 3_600_000;
    const began = clock.date();
    expect(await (await begin()).read(id, properties)).toBeUndefined();
    expect(clock.date() - began).toBeLessThan(60_000);
    await emulator.close();
    world = await World.start({ plugin: async () => plugin, speed });
  });

  it("a pending registration of another base URL is neither dropped nor registered at the new one", async () => {
    const { stack, clock } = world;
    loseRegistration();
    await stack.up([declared("a", "a")]);
    const [{ id, outputs } = { id: "", outputs: {} }] = stack.resources;
    const elsewhere = () => plugin.command(world.configOf(""), { clock });
    const moved = { ...outputs, baseUrl: "https://old.example.com" };
    for (const verb of [
      async () => (await elsewhere()).diff(id, moved, { url: urlOf("a"), type: "production" }),
      async () => (await elsewhere()).read(id, moved),
      async () => (await elsewhere()).delete(id, moved),
    ])
      await expect(verb()).rejects.toThrow(/https:\/\/old\.example\.com.*OTHER_BASE_URL/);
  });

  it("the next up corrects a registration that was mistaken for an equal one of another resource", async () => {
    const { emulator, stack } = world;
    const program = [declared("a", "same"), declared("b", "same")];
    loseRegistration();
    await stack.up([declared("a", "same")]);
    // Registered by a run that did not see the other one.
    await stack.up(program, { targets: ["b"] });
    expect(emulator.endpoints()).toHaveLength(1);
    for (const parallel of [1, 16]) {
      expect(await stack.refresh({ parallel })).toEqual([]);
      expect(await stack.up(program)).toEqual([]);
      expect(world.differences(program, [])).toEqual([]);
    }
  });
});

it("an endpoint that was read as managed elsewhere may be adopted", async () => {
  const { id } = appear("a");
  const inputs = { url: urlOf("a"), type: "production" };
  const begin = () => plugin.command(world.configOf(""), { clock: world.clock });
  const one = await begin();
  await one.read(id, {});
  expect((await one.create({ ...inputs, adoptId: id })).id).toBe(id);
  const two = await begin();
  await two.read(id, {});
  await expect(two.create({ ...inputs, ifExists: "fail" })).rejects.toThrow(/ENDPOINT_EXISTS/);
});

it("adopting an endpoint of another resource is refused, or that resource gets a new endpoint", async () => {
  for (const parallel of [1, 16]) {
    const { stack } = world;
    await stack.up([declared("b", "x")]);
    const [{ id } = { id: "" }] = world.emulator.endpoints();
    const adopting = declared("a", "x", { adoptId: id });
    for (let runs = 0; runs < 2; runs++) await stack.up([adopting, declared("b", "x")], { parallel });
    const ids = () => stack.resources.map((resource) => resource.id);
    expect(new Set(ids()).size).toBe(ids().length);
    await stack.up([adopting, declared("b", "y")], { parallel });
    expect(
      world.emulator
        .endpoints()
        .map((endpoint) => endpoint.id)
        .sort(),
    ).toEqual(ids().sort());
    await stack.destroy();
    expect(world.emulator.endpoints()).toEqual([]);
  }
});

it("only a timestamp with a time zone decides whether an endpoint came from a registration", async () => {
  const berlin = await Plugin.start({ env: { TZ: "Europe/Berlin" } });
  const service = await startEmulator();
  // As services in Python write it: the time is right, the zone is left out.
  const proxy = createServer(async (request, response) => {
    const body = request.method === "POST" ? await text(request) : undefined;
    const answer = await fetch(`${service.url}${request.url}`, {
      method: request.method ?? "GET",
      headers: { "X-Api-Key": service.apiKey, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
    if (request.method === "POST") response.destroy();
    else response.end((await answer.text()).replaceAll('Z"', '"'));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = proxy.address() as AddressInfo;
    const command = await berlin.command({
      "webhooks:baseUrl": `http://127.0.0.1:${port}`,
      "webhooks:apiKey": service.apiKey,
      "webhooks:timeoutSeconds": "5",
    });
    const { id } = await command.create({ url: urlOf("a"), type: "production" });
    expect(service.endpoints().map((endpoint) => endpoint.id)).toEqual([id]);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
    await service.close();
    await berlin.stop();
  }
});

it("a registration that waited for its turn longer than patience is found when its answer is lost", async () => {
  const { emulator, stack } = world;
  const busy = { kind: "status", status: 429, headers: { "retry-after": "40" } } as const;
  emulator.fault({ operation: "register", ...busy });
  emulator.fault({ operation: "register", kind: "reset-after" });
  expect(await stack.up(program)).toEqual([]);
  expect(world.differences(program, [])).toEqual([]);
});

describe("a registration that is made after its time-out", () => {
  beforeEach(async () => {
    await world.close();
    world = await World.start({ plugin: async () => plugin, speed: slow });
  });

  const mutations = () => world.emulator.requests.filter(({ method }) => method !== "GET");

  it.each(["up", "refresh", "destroy"] as const)(
    "%s waits for a registration that completes late",
    async (command) => {
      const { emulator, stack } = world;
      emulator.fault({ operation: "register", kind: "late-commit", delayMs });
      expect(await stack.up(program)).toEqual([expect.stringMatching(/REGISTRATION_PENDING/)]);
      expect(emulator.endpoints()).toEqual([]);

      emulator.clearRequests();
      expect(command === "up" ? await stack.up(program) : await stack[command]()).toEqual([]);
      expect(world.differences(command === "destroy" ? [] : program, [])).toEqual([]);
      expect(mutations().map(({ method }) => method)).toEqual(command === "destroy" ? ["DELETE"] : []);
      expect(plugin.logs).toContainEqual({
        severity: "info",
        message: expect.stringMatching(
          /waiting up to \d+ s in case the registration of https:\/\/hooks\.example\.com\/… completes late/,
        ),
      });
    },
  );

  it.each(["up", "refresh", "destroy"] as const)(
    "a registration stays pending when the list fails in %s",
    async (command) => {
      const { emulator, stack } = world;
      const program = [declared("a", "late")];
      emulator.fault({ operation: "register", kind: "late-commit", delayMs });
      await stack.up(program);
      emulator.clearFaults();
      emulator.fault({
        operation: "list",
        kind: "status",
        status: 400,
        times: Number.POSITIVE_INFINITY,
        after: 1,
      });
      const run = () => (command === "up" ? stack.up(program) : stack[command]());
      expect(await run()).not.toEqual([]);
      emulator.clearFaults();
      expect(await run()).toEqual([]);
      expect(world.differences(command === "destroy" ? [] : program, [])).toEqual([]);
    },
  );

  it("a registration that is too old to complete is sent again", async () => {
    const { emulator, stack } = world;
    emulator.fault({ operation: "register", kind: "reset-before" });
    await stack.up(program);
    emulator.clearRequests();
    expect(await stack.up(program)).toEqual([]);
    expect(world.differences(program, [])).toEqual([]);
    expect(mutations().map(({ method }) => method)).toEqual(["POST"]);
  });
});
