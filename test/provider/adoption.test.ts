import { UNKNOWN_VALUE } from "../../src/shared/optionChecks";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { providerUrnOf, urnOf } from "./engineModel";
import type { Registered } from "./fakeService";
import { urlOf, World } from "./world";

const args = { url: urlOf("jobs"), type: "production" } as const;
const inputs = { ...args, __provider: PROVIDER_CODE };

/** A service that has an equal endpoint, and the verbs of one command with `ifExists: "adopt"`. */
function begin(found: Partial<Registered> = {}) {
  const world = new World();
  world.stack.isProgramRunning = true;
  const { service } = world;
  const endpoint = service.add({ ...args, ...found });
  const verbs = world.plugin({ "webhooks:ifExists": "adopt" });
  const check = async (name: string, more: object = {}) => {
    const { failures } = await verbs.check({}, { ...inputs, __urn: urnOf(name), __after: 0, ...more });
    return failures.map(({ reason }) => reason).join("\n");
  };
  const sent = () => service.requests.map(({ operation }) => operation);
  return { world, service, endpoint, verbs, check, sent };
}

test("an endpoint is asked for itself before it is adopted", async () => {
  const { verbs, endpoint, sent } = begin();
  expect((await verbs.create(inputs)).id).toBe(endpoint.id);
  expect(sent()).toEqual(["list", "get"]);
});

test("an endpoint that is being deleted is not adopted: another one is registered once the list lacks it", async () => {
  const { world, verbs, service, endpoint } = begin({ made: Date.UTC(2020, 0) });
  service.fault({ operation: "get", kind: "status", status: 404, times: 9 });
  world.time.after(3_000, () => service.remove(endpoint.id));
  const startedAt = world.time.now();
  expect((await verbs.create(inputs)).id).not.toBe(endpoint.id);
  expect(service.changes).toEqual(["register"]);
  expect(world.time.now() - startedAt).toBeLessThan(6_000);
});

test("an endpoint that is denied and still listed when no list can lag any more stops the adoption, and nothing is registered", async () => {
  const { world, verbs, service, endpoint } = begin({ made: Date.UTC(2020, 0) });
  service.fault({ operation: "get", kind: "status", status: 404, times: 9 });
  const startedAt = world.time.now();
  const error = await verbs.create(inputs).catch((reason: unknown) => reason);
  expect(Object(error).message).toMatch(
    new RegExp(
      `cannot adopt endpoint ${endpoint.id}: .*still shows it.*"register" for one run.*STILL_LISTED`,
      "s",
    ),
  );
  expect(service.changes).toEqual([]);
  expect(world.time.now() - startedAt).toBeLessThan(8_000);
});

test("an endpoint that one replica denies is adopted", async () => {
  const { verbs, service, endpoint } = begin({ made: Date.UTC(2020, 0) });
  service.fault({ operation: "get", kind: "status", status: 404 });
  expect((await verbs.create(inputs)).id).toBe(endpoint.id);
  expect(service.changes).toEqual([]);
});

test("a preview says which resources would adopt the same endpoint, each once, however often it is checked", async () => {
  const { world, check, endpoint } = begin();
  for (const name of ["one", "one", "two", "other"])
    expect(await check(name, name === "other" ? { url: urlOf("other") } : {})).toBe("");
  const said = new RegExp(
    `^"one" and "two" have the same url and type, and would all adopt endpoint ${endpoint.id}\\.`,
  );
  expect(world.warnings).toEqual([expect.stringMatching(said)]);
  await check("three", { ip: "203.0.113.7" });
  expect(world.warnings).toContainEqual(
    expect.stringMatching(/^"one" and "two" and "three" have the same url/),
  );
});

test("what ifExists adopts is said, also where an adoptId that is spent names something else", async () => {
  const { world, verbs, endpoint } = begin();
  const named = { ...inputs, adoptId: "wh_spent" };
  await verbs.check(named, { ...named, __urn: urnOf("jobs") });
  expect((await verbs.create(named)).id).toBe(endpoint.id);
  const message = expect.stringMatching(`adopts ${endpoint.id} `);
  expect(world.shown).toContainEqual({ severity: "info", message });
});

test("an existing resource with the same arguments counts as no second adoption", async () => {
  const { world, verbs, check } = begin();
  await verbs.check(inputs, { ...inputs, __urn: urnOf("existing") });
  await check("new");
  expect(world.warnings).toEqual([]);
});

test.each(["ip", "ifExists", "adoptId"])("an unknown %s is no error of a preview", async (name) => {
  const { world, check, endpoint } = begin();
  // A registration with another ip would be in doubt, and without one, the endpoint would stop.
  const interrupted = { ...inputs, __after: world.time.date() };
  const creation = { urn: urnOf("jobs"), type: TYPE_TOKEN, provider: providerUrnOf(""), inputs: interrupted };
  world.stack.pendingCreates = name === "ip" ? [creation] : [];
  const known = name === "ip" ? { ip: "203.0.113.7" } : {};
  expect(await check("known", { ifExists: "fail", ...known })).toMatch(name === "ip" ? /./ : endpoint.id);
  expect(await check("jobs", { ifExists: "fail", [name]: UNKNOWN_VALUE })).toBe("");
  expect(world.warnings).toEqual([]);
});

test("an adoption with an ip warns that the service does not tell it, and one without an ip or a registration does not", async () => {
  const { world, check, service, endpoint } = begin();
  await check("jobs");
  await check("elsewhere", { url: urlOf("elsewhere"), ip: "203.0.113.7" });
  expect(world.warnings).toEqual([]);
  await check("filtered", { ip: "203.0.113.7" });
  await check("named", { url: urlOf("named"), ip: "203.0.113.7", adoptId: "wh_9" });
  const ofIp = (name: string, id: string) =>
    expect.stringMatching(
      new RegExp(`^WebhookEndpoint "${name}": endpoint ${id} is adopted as it is\\..* ip`),
    );
  expect(world.warnings).toEqual(
    expect.arrayContaining([ofIp("filtered", endpoint.id), ofIp("named", "wh_9")]),
  );
  expect(JSON.stringify(world.warnings)).not.toContain("203.0.113.7");
  expect(service.changes).toEqual([]);
});
