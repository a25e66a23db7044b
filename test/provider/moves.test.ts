import { type Emulator, startEmulator } from "../../src/emulator";
import type { EndpointInputs, EndpointState } from "../../src/provider/state";
import { codeOf, inputs, otherInputs, stateOf, VerbsWorld } from "../settlement/verbsWorld";

let world: VerbsWorld;
let other: Emulator;
/** Ids are numbers from 1 on, as in many databases. */
const counting = () => {
  let made = 0;
  return () => String(++made);
};
beforeEach(async () => {
  world = await VerbsWorld.start({ newId: counting() });
  other = await startEmulator({ newId: counting() });
});
afterEach(async () => {
  await world.close();
  await other.close();
});

/** An endpoint of the stack, whose id another endpoint has at the other service. */
async function made(provider = ""): Promise<{ id: string; state: EndpointState }> {
  other.add({ url: "https://hooks.example.com/somebody-elses", type: "production" });
  const { id, ...rest } = await world.register({ provider });
  world.record("jobs", id, { provider: provider || "default" });
  expect(other.endpoints()[0]?.id).toBe(id);
  return { id, state: stateOf(rest) };
}

describe("with a base URL that was changed by mistake, to a service whose ids repeat,", () => {
  test("delete does not delete another's endpoint", async () => {
    const { id, state } = await made();
    expect(await codeOf(world.plugin({ baseUrl: other.url }).delete(id, state))).toBe("OTHER_BASE_URL");
    expect(other.endpoints()).toHaveLength(1);
  });

  test("read does not take another's endpoint for this one", async () => {
    const { id, state } = await made();
    expect(await codeOf(world.plugin({ baseUrl: other.url }).read(id, state))).toBe("OTHER_BASE_URL");
  });

  test("diff refuses a changed url too, because the old endpoint could not be deleted", async () => {
    const { id, state } = await made();
    const moved = world.plugin({ baseUrl: other.url });
    expect(await codeOf(moved.diff(id, state, otherInputs))).toBe("OTHER_BASE_URL");
  });
});

describe("which provider an endpoint belongs to", () => {
  test("is read from the state where release 0.1.0 did not record it", async () => {
    const { id, state } = await made("staging");
    const { provider: _, ...old } = state;
    const moved = world.plugin({ baseUrl: other.url, provider: "staging" });
    expect(await codeOf(moved.diff(id, old, inputs))).toBe("OTHER_BASE_URL");
    const declared = world.plugin({ baseUrl: other.url, provider: "production" });
    expect((await declared.diff(id, old, inputs)).replaces).toEqual(["provider"]);
  });

  test("is read from the state where a move at the same base URL left an older name", async () => {
    const { id, state } = await made();
    world.resources = [];
    world.record("jobs", id, { provider: "staging" });
    const mistaken = world.plugin({ baseUrl: other.url, provider: "staging" });
    expect(await codeOf(mistaken.diff(id, state, inputs))).toBe("OTHER_BASE_URL");
    const back = world.plugin({ baseUrl: other.url });
    expect((await back.diff(id, state, inputs)).replaces).toEqual(["provider"]);
  });

  test("is what was recorded when the state cannot be read", async () => {
    const { id, state } = await made("staging");
    const environment = { PATH: "/nowhere" };
    const moved = world.plugin({ baseUrl: other.url, provider: "production", environment });
    expect((await moved.diff(id, state, inputs)).replaces).toEqual(["provider"]);
    const mistaken = world.plugin({ baseUrl: other.url, provider: "staging", environment });
    expect(await codeOf(mistaken.diff(id, state, inputs))).toBe("OTHER_BASE_URL");
  });
});

test("a service that has moved keeps its endpoints, and delete reaches them at the new base URL", async () => {
  const { id, state } = await made();
  const { createdAt } = world.service.endpoints()[0] ?? {};
  other.remove(id);
  await other.close();
  other = await startEmulator({ newId: counting() });
  other.add({ ...inputs, ...(createdAt === undefined ? {} : { createdAt }) });
  const run = world.plugin({ baseUrl: other.url });
  expect(await run.diff(id, state, inputs)).toEqual({ changes: true, replaces: [] });
  const { outs } = await run.update(id, state);
  expect(outs).toMatchObject({ baseUrl: other.url });
  await world.plugin({ baseUrl: other.url }).delete(id, state);
  expect(other.endpoints()).toEqual([]);
});

test.each(["", "after its deletion"])(
  "ifExists fail does not refuse a replacement of the resource's own endpoint %s",
  async (deleted) => {
    const { id, state } = await made();
    const strict: EndpointInputs = { ...inputs, ifExists: "fail" };
    const run = world.plugin();
    const check = (args: object, name: string) => run.check({}, { ...args, __resourceName: name });
    expect((await check(strict, "jobs")).failures).toEqual([]);
    if (deleted) await run.delete(id, state);
    const { id: next } = await run.create(strict);
    expect(next).not.toBe(id);
    await run.delete(id, state);
    expect(world.ids()).toEqual([next]);
    const { failures } = await check(strict, "another");
    expect(failures?.[0]?.reason).toMatch(/ENDPOINT_EXISTS/);
  },
);
