import { failure, stateOf, VerbsWorld } from "./verbsWorld";

/** A service that answers a registration before its other requests know the endpoint: the contract gives it five seconds. */
const LAG_MS = 5_000;

let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
});
afterEach(() => world.close());

/** The service does not know an endpoint the next times that it is asked. A list stays empty for as long. */
function knowsNothing(times = Number.POSITIVE_INFINITY): void {
  for (const operation of ["get", "delete"] as const)
    world.service.fault({ operation, kind: "status", status: 404, times });
  world.service.fault({ operation: "list", kind: "status", status: 200, body: "[]", times });
}

test("destroy right after up deletes an endpoint that the service does not know yet", async () => {
  const made = await world.register();
  knowsNothing(3);
  await world.plugin().delete(made.id, stateOf(made));
  expect(world.ids()).toEqual([]);
});

test("destroy right after up waits also if the list has the endpoint before it can be deleted", async () => {
  const made = await world.register();
  world.service.fault({ operation: "delete", kind: "status", status: 404, times: 5 });
  await world.plugin().delete(made.id, stateOf(made));
  expect(world.ids()).toEqual([]);
});

test("refresh right after up keeps an endpoint that the service does not know yet", async () => {
  const made = await world.register();
  knowsNothing(3);
  expect(await world.plugin().read(made.id, stateOf(made))).toMatchObject({ id: made.id });
});

test("after five seconds, what the service does not know is gone", async () => {
  const made = await world.register();
  knowsNothing();
  const sentAt = world.clock.now();
  expect(await world.plugin().read(made.id, stateOf(made))).toEqual({});
  await world.plugin().delete(made.id, stateOf(made));
  expect(world.clock.now() - sentAt).toBeGreaterThan(LAG_MS - 100);
});

test("what was registered longer ago, or on another machine, is asked for once", async () => {
  const made = await world.register();
  const old = world.plugin(world.machine("other"));
  world.clock.skip(LAG_MS);
  for (const verbs of [old, world.plugin()]) {
    knowsNothing();
    const deletions = () => world.service.requests.filter(({ method }) => method === "DELETE").length;
    const before = deletions();
    await verbs.delete(made.id, stateOf(made));
    expect(deletions() - before).toBe(1);
    world.service.clearFaults();
  }
});

test("a clock that was put back makes nothing new", async () => {
  const made = await world.register();
  world.clock.skip(-60_000);
  knowsNothing();
  await world.plugin().delete(made.id, stateOf(made));
  expect(world.service.requests.filter(({ method }) => method === "DELETE")).toHaveLength(1);
});

test("an endpoint that is listed and still cannot be deleted after five seconds stays in the state", async () => {
  const made = await world.register();
  world.service.fault({ operation: "delete", kind: "status", status: 404, times: Number.POSITIVE_INFINITY });
  const error = await failure(world.plugin().delete(made.id, stateOf(made)));
  expect(error.message).toContain("but it still lists the endpoint");
  expect(world.ids()).toEqual([made.id]);
});
