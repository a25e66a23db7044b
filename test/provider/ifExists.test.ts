import { declared, urlOf, World } from "./world";

let world: World;
beforeEach(() => {
  world = new World();
});

const NAMES = ["a", "b", "c", "d", "e", "f"];
const program = NAMES.map((name) => declared(name));
/** What somebody registered by hand. */
const byHand = (names = NAMES) => names.map((name) => world.service.add({ url: urlOf(name) }));
const adoptAll = () => {
  world.environment = { WEBHOOKS_IF_EXISTS: "adopt" };
};
const exactly = () => expect(world.differences(program)).toEqual([]);

test("with the setting adopt, one up takes over all that exists, sends nothing that mutates, and the next up changes nothing", async () => {
  const found = byHand();
  const [stop] = await world.run("preview", program);
  expect(stop).toMatch(/no resource for 6 endpoints.*`WEBHOOKS_IF_EXISTS=adopt pulumi up`.*ENDPOINT_EXISTS/s);
  adoptAll();
  const lines = found.map(({ id }, at) => ({
    severity: "info",
    message: `WebhookEndpoint "${NAMES[at]}": adopts ${id} (https://hooks.example.com/…)`,
  }));
  for (const command of ["preview", "up"] as const) {
    world.shown.length = 0;
    expect(await world.run(command, program)).toEqual([]);
    // Each once: `create` does not repeat what `check` has said.
    expect(world.shown).toEqual(lines);
  }
  exactly();
  world.environment = {};
  expect(await world.up(program)).toEqual([]);
  exactly();
  expect(world.service.changes).toEqual([]);
});

test("two equal endpoints stop with both ids, and one that does not exist is registered", async () => {
  adoptAll();
  const [a, b] = [...byHand(["a"]), ...byHand(["a"])];
  const both = new RegExp(`${a?.id} .*${b?.id} .*delete what nobody needs.*ENDPOINT_EXISTS`, "s");
  expect(await world.up([declared("a")])).toEqual([expect.stringMatching(both)]);
  expect(world.service.changes).toEqual([]);
  world.service.remove(a?.id ?? "");
  expect(await world.up(program)).toEqual([]);
  exactly();
  expect(world.service.changes).toEqual(Array(NAMES.length - 1).fill("register"));
});

test("a resource's own ifExists wins over the setting", async () => {
  byHand(["a", "b"]);
  adoptAll();
  const own = [declared("a", "a", { ifExists: "fail" }), declared("b", "b", { ifExists: "register" })];
  expect(await world.up([own[0] ?? declared("a")])).toEqual([expect.stringMatching(/ENDPOINT_EXISTS/)]);
  expect(await world.up(own.slice(1))).toEqual([]);
  expect(world.service.changes).toEqual(["register"]);
});

test("what this stack has is never adopted: a rename and a change of ip register beside it", async () => {
  adoptAll();
  await world.up([declared("a")]);
  await world.up([declared("renamed", "a")]);
  await world.up([declared("renamed", "a", { ip: "192.0.2.1" })]);
  expect(world.service.changes).toEqual(["register", "register", "delete", "register", "delete"]);
  expect(world.service.endpoints).toHaveLength(1);
});

test("a state that may be another backend's stops adoption of what one of its resources has", async () => {
  adoptAll();
  await world.up([declared("a")]);
  world.exported = () => ({ resources: world.stack.deployment.resources ?? [] });
  expect(await world.up([declared("renamed", "a")])).toEqual([
    expect.stringMatching(/another backend.*PULUMI_BACKEND_URL.*ENDPOINT_EXISTS/s),
  ]);
  expect(world.service.changes).toEqual(["register"]);
});
