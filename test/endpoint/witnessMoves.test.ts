import type { EndpointInputs, EndpointState } from "../../src/endpoint/types";
import { TinyService } from "../engine/tinyService";
import { stateOf, WitnessWorld } from "./witnessWorld";

const inputs: EndpointInputs = { url: "https://hooks.example.com/jobs", type: "production" };
const changed: EndpointInputs = { ...inputs, url: "https://hooks.example.com/other" };

let world: WitnessWorld;
let other: TinyService;
beforeEach(async () => {
  world = await WitnessWorld.start();
  other = await TinyService.start();
  world.service.numericIds = true;
  other.numericIds = true;
});
afterEach(async () => {
  await world.close();
  await other.stop();
});

const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: Error) => error,
  );

/** An endpoint of the stack, whose id another endpoint has at the other service. */
async function made(provider = ""): Promise<{ id: string; state: EndpointState }> {
  other.add("https://hooks.example.com/somebody-elses");
  const { id, ...rest } = await world.plugin({ provider }).create(inputs);
  world.record("jobs", id, { provider: provider || "default" });
  expect(other.endpoints[0]?.id).toBe(id);
  return { id, state: stateOf(rest) };
}

describe("with a base URL that was changed by mistake, to a service whose ids repeat", () => {
  test("delete does not delete another's endpoint", async () => {
    const { id, state } = await made();
    const error = await failure(world.plugin({ baseUrl: other.url }).delete(id, state));
    expect(error.message).toMatch(/OTHER_BASE_URL/);
    expect(other.changes).toEqual([]);
  });

  test("read does not take another's endpoint for this one", async () => {
    const { id, state } = await made();
    const error = await failure(world.plugin({ baseUrl: other.url }).read(id, state));
    expect(error.message).toMatch(/OTHER_BASE_URL/);
  });

  test("diff refuses a changed url too, because the old endpoint could not be deleted", async () => {
    const { id, state } = await made();
    const error = await failure(world.plugin({ baseUrl: other.url }).diff(id, state, changed));
    expect(error.message).toMatch(/OTHER_BASE_URL/);
  });
});

describe("which provider an endpoint belongs to", () => {
  test("is read from the state where release 0.1.0 did not record it", async () => {
    const { id, state } = await made("staging");
    const { provider: _, ...old } = state;
    const moved = world.plugin({ baseUrl: other.url, provider: "staging" });
    expect((await failure(moved.diff(id, old, inputs))).message).toMatch(/OTHER_BASE_URL/);
    const declared = world.plugin({ baseUrl: other.url, provider: "production" });
    expect((await declared.diff(id, old, inputs)).replaces).toEqual(["provider"]);
  });

  test("is read from the state where a move at the same base URL left an older name", async () => {
    const { id, state } = await made();
    world.resources = [];
    world.record("jobs", id, { provider: "staging" });
    const mistaken = world.plugin({ baseUrl: other.url, provider: "staging" });
    expect((await failure(mistaken.diff(id, state, inputs))).message).toMatch(/OTHER_BASE_URL/);
    const back = world.plugin({ baseUrl: other.url });
    expect((await back.diff(id, state, inputs)).replaces).toEqual(["provider"]);
  });

  test("is what was recorded when the state cannot be read", async () => {
    const { id, state } = await made("staging");
    const environment = { PATH: "/nowhere" };
    const moved = world.plugin({ baseUrl: other.url, provider: "production", environment });
    expect((await moved.diff(id, state, inputs)).replaces).toEqual(["provider"]);
    const mistaken = world.plugin({ baseUrl: other.url, provider: "staging", environment });
    expect((await failure(mistaken.diff(id, state, inputs))).message).toMatch(/OTHER_BASE_URL/);
  });
});

test("a service that has moved keeps its endpoints, and delete reaches them at the new base URL", async () => {
  const { id, state } = await made();
  other.endpoints.splice(0, 1, { ...other.endpoints[0], ...world.service.endpoints[0] } as never);
  const run = world.plugin({ baseUrl: other.url });
  expect(await run.diff(id, state, inputs)).toEqual({ changes: true, replaces: [] });
  const { outs } = await run.update(id, state);
  expect(outs).toMatchObject({ baseUrl: other.url });
  await world.plugin({ baseUrl: other.url }).delete(id, state);
  expect(other.endpoints).toEqual([]);
});

test("delete spares what another plugin process of the run has adopted", async () => {
  const { id, state } = await made();
  const adopting = world.plugin({ run: "127.0.0.1:99", provider: "staging" });
  await adopting.create({ ...inputs, adoptId: id });
  await world.plugin({ run: "127.0.0.1:99" }).delete(id, state);
  expect(world.service.endpoints).toHaveLength(1);
  expect(world.warnings.join()).toMatch(/is not deleted: another resource of this program has it/);
  // A later run deletes it.
  await world.plugin({ run: "127.0.0.1:100" }).delete(id, state);
  expect(world.service.endpoints).toHaveLength(0);
});

test.each(["", "deleted"])(
  "ifExists fail does not refuse a replacement of the resource's own endpoint %s",
  async (deleted) => {
    const { id, state } = await made();
    const strict = { ...inputs, ifExists: "fail" as const };
    const run = world.plugin();
    const check = (args: object, name: string) => run.check({}, { ...args, __resourceName: name } as never);
    expect((await check(strict, "jobs")).failures).toEqual([]);
    if (deleted) await run.delete(id, state);
    const { id: next } = await run.create(strict);
    expect(next).not.toBe(id);
    await run.delete(id, state);
    expect(world.service.endpoints.map((each) => each.id)).toEqual([next]);
    const { failures } = await check(strict, "another");
    expect(failures?.[0]?.reason).toMatch(/ENDPOINT_EXISTS/);
  },
);
