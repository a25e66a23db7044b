import { LAG_MS } from "../../src/provider/facts/time";
import { UNKNOWN_VALUE } from "../../src/shared/optionChecks";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { type Made, type Properties, providerUrnOf, urnOf, type VerbError, type Verbs } from "./engineModel";
import type { FakeService, Fault, Habits } from "./fakeService";
import { urlOf, World } from "./world";

const url = urlOf("t0ken/jobs");
const inputs = { url, type: "production", __provider: PROVIDER_CODE } as const;
/** As the program's class passes them. */
const program = (name: string, more: object) => ({ ...inputs, __urn: urnOf(name), __after: 0, ...more });

let world: World;
let service: FakeService;
/** The verbs of the command under way. */
let verbs: Verbs;

function begin(habits: Habits = {}): void {
  world = new World(habits);
  ({ service } = world);
  world.stack.isProgramRunning = true;
  next();
}

/** Begins another command of the engine. */
function next(config: Readonly<Record<string, string>> = {}): Verbs {
  verbs = world.plugin(config);
  return verbs;
}

beforeEach(() => begin());
afterEach(() => {
  // No test may have shown a path of a url, or a key.
  expect(JSON.stringify(world.shown)).not.toMatch(/t0ken|k3y/);
});

const sent = () => service.requests.map(({ operation }) => operation);
const ids = () => service.endpoints.map(({ id }) => id);
const warned = (...messages: RegExp[]) =>
  expect(world.warnings).toEqual(messages.map((message) => expect.stringMatching(message)));
async function fails(verb: Promise<unknown>, message: RegExp): Promise<VerbError> {
  const error = await verb.catch((reason: unknown) => reason);
  expect(Object(error).message).toMatch(message);
  expect(Object(error).message).not.toMatch(/t0ken|k3y/);
  return error as VerbError;
}
/** Makes an endpoint of the stack, and begins another command. */
async function made(more: Properties = {}): Promise<Made> {
  const created = await verbs.create({ ...inputs, ...more });
  next();
  service.requests.length = 0;
  return created;
}
const resourceOf = (name: string) => ({ urn: urnOf(name), type: TYPE_TOKEN, provider: providerUrnOf("") });
/** Makes this the one resource of the state. */
function record(name: string, { id, outs }: Made): void {
  world.stack.resources = [{ ...resourceOf(name), id, inputs, outputs: outs }];
}
/** Returns why a check of a new resource fails. */
const reasons = async (name: string, more: object = {}) => {
  const { failures } = await verbs.check({}, program(name, more));
  return failures.map(({ reason }) => reason).join("\n");
};
/** Returns what a check gives on. */
const inputsOf = async (more: object = {}, olds: Properties = {}) =>
  (await verbs.check(olds, program("jobs", more))).inputs;

test("check refuses invalid arguments and settings at once, names no property, and sends nothing", async () => {
  next({ "webhooks:apiKey": "" });
  const { failures } = await verbs.check({}, { ...inputs, url: "x", type: "y" });
  expect(failures).toEqual(Array(3).fill({ property: "", reason: expect.any(String) }));
  expect(failures[2]?.reason).toMatch(/API key is missing.*SETTINGS_INVALID/);
  await fails(verbs.create(inputs), /API key is missing.*SETTINGS_INVALID/);
  expect(sent()).toEqual([]);
});

test("check strips what the program's class passes, and replaces the hidden input once by the service's time", async () => {
  begin({ aheadMs: 3_600_000 });
  const checked = await inputsOf({ __organization: "acme", __urlIsSecret: false });
  expect(checked).toEqual({ ...inputs, __after: expect.any(Number) });
  expect(Math.abs(Number(checked.__after) - world.time.date() - 3_600_000)).toBeLessThan(2_000);
  await world.time.pass(60_000);
  next();
  expect(await inputsOf({}, checked)).toEqual(checked);
});

test("check leaves the hidden input unknown in a preview, and out where there was none, or nothing tells the time", async () => {
  expect(await inputsOf({ __after: UNKNOWN_VALUE })).toEqual({ ...inputs, __after: UNKNOWN_VALUE });
  // The first `up` of an old state adds nothing.
  expect(await inputsOf({}, inputs)).toEqual(inputs);
  // A clock stands still while the machine sleeps.
  world.time.sleptMs = 3_600_000;
  expect(await inputsOf()).toEqual(inputs);
  begin({ tellsNoDate: true });
  expect(await inputsOf()).toEqual(inputs);
});

test("a resource's own ifExists wins over the setting, and what is adopted is said once", async () => {
  const { id } = service.add(inputs);
  next({ "webhooks:ifExists": "adopt" });
  expect(await reasons("jobs", { ifExists: "fail" })).toMatch(/ENDPOINT_EXISTS/);
  await fails(verbs.create({ ...inputs, ifExists: "fail" }), /ENDPOINT_EXISTS/);
  expect(await reasons("jobs")).toBe("");
  expect((await verbs.create(inputs)).id).toBe(id);
  const message = `WebhookEndpoint "jobs": adopts ${id} (https://hooks.example.com/…)`;
  expect(world.shown).toEqual([{ severity: "info", message }]);
  await verbs.create({ ...inputs, ifExists: "register" });
  expect(service.changes).toEqual(["register"]);
});

test("check does not wait for a registration that may still be made", async () => {
  const sent = { ...inputs, __after: world.time.date() };
  world.stack.pendingCreates = [{ ...resourceOf("jobs"), inputs: sent }];
  const started = world.time.now();
  expect(await reasons("jobs")).toBe("");
  expect(world.time.now() - started).toBeLessThan(1_000);
});

test.each<[string, Omit<Fault, "operation">, number, RegExp[]]>([
  ["wait once for a service that hangs", { kind: "hang-before" }, 1, []],
  ["wait once for a service that is away", { kind: "unreachable" }, 4, []],
  ["warn once when it is not there", { kind: "status", status: 404 }, 1, [/with 404.*may not be there/]],
])("checks %s", async (_, fault, requests, warnings) => {
  service.fault({ operation: "list", times: 99, ...fault });
  for (const path of ["a", "b", "c"]) expect(await reasons(path, { url: urlOf(path) })).toBe("");
  expect(sent()).toHaveLength(requests);
  warned(...warnings);
});

test("check fails the preview when the key is refused, and names the resource in a warning about its host", async () => {
  expect(await reasons("jobs", { url: "https://localhost/" })).toBe("");
  warned(/^WebhookEndpoint "jobs": .*private network/);
  // Not at each `up`: only when it is new, or its url or type changes.
  next();
  const { length } = world.shown;
  await verbs.check({ ...inputs, url: "https://localhost/" }, program("jobs", { url: "https://localhost/" }));
  expect(world.shown).toHaveLength(length);
  await verbs.check(inputs, program("jobs", { url: "https://localhost/" }));
  expect(world.shown).toHaveLength(length + 1);
  service.accounts.clear();
  next();
  expect(await reasons("jobs")).toMatch(/401.*UNAUTHORIZED/s);
});

test("create registers exactly what is declared, after one list for all resources, and says if it waits", async () => {
  const created = await verbs.create({ ...inputs, ip: "192.0.2.0/24" });
  service.fault({ operation: "register", kind: "status", status: 429, headers: { "retry-after": "5" } });
  await verbs.create({ ...inputs, type: "development" });
  expect(sent()).toEqual(["list", "register", "register", "register"]);
  expect(world.shown).toMatchObject([{ message: "register waits 5 s: the service answered 429" }]);
  const [endpoint] = service.endpoints;
  expect(endpoint).toMatchObject({ url, type: "production", ip: "192.0.2.0/24" });
  expect(created).toEqual({
    id: endpoint?.id,
    outs: {
      ...{ ...inputs, ip: "192.0.2.0/24", createdAt: null, updatedAt: null },
      ...{ baseUrl: service.url, account: expect.stringMatching(/^[0-9a-f]{6}$/) },
      registeredAt: expect.any(Number),
    },
  });
});

test("create registers nothing when the service cannot list, and at one that lists a part, it warns once", async () => {
  service.fault({ operation: "list", kind: "status", status: 400, times: 9 });
  await fails(verbs.create(inputs), /REJECTED/);
  expect(service.changes).toEqual([]);
  begin({ listed: 1 });
  for (const path of ["a", "b"]) service.add({ url: urlOf(path) });
  for (const type of ["production", "development"]) await verbs.create({ ...inputs, type });
  warned(/lists only a part/);
});

test("what was certainly not made is not in the state, and showResponses shows why: cut, in one line, without the key and a signing secret", async () => {
  service.fault({ operation: "register", kind: "status", status: 422, body: '"t0ken"' });
  const error = await fails(verbs.create(inputs), /422.*REJECTED/s);
  expect(error.halfMade).toBeUndefined();
  const key = "key-of-the/account";
  const config = { "webhooks:showResponses": "true", "webhooks:apiKey": key };
  service.accounts.set(key, "default");
  const escaped = Array.from(key, (each) => `\\u00${each.charCodeAt(0).toString(16)}`).join("");
  const base64 = Buffer.from(`user:${key}`).toString("base64url");
  const body = String.raw`{"reason":"no\u0007","a":"${key}","b":"${escaped}","c":"whsec_ab\/cd\u002B","d":"${base64}","e":"${"x".repeat(600)}"}`;
  service.fault({ operation: "register", kind: "status", status: 422, body: `${body}\n` });
  await fails(next(config).create(inputs), /^(?!.*(reason|showResponses)).*REJECTED/s);
  warned(/^the service answered 422: \{"reason":.*("[abcd]":"(whsec_)?…",){4}.*x … \(cut\)$/);
  expect(world.warnings[0]?.length).toBeLessThan(560);
});

test.each([409, 422])(
  "a registration that is refused with %d names the endpoint with that url, and deleteBeforeReplace",
  async (status) => {
    const { id } = service.add({ url: inputs.url, type: "development" });
    service.fault({ operation: "register", kind: "status", status, times: 2 });
    await fails(verbs.create({ ...inputs, url: urlOf("other") }), /^(?!.*deleteBeforeReplace).*REJECTED/s);
    await fails(
      verbs.create(inputs),
      new RegExp(`Endpoint ${id} \\(development\\).*deleteBeforeReplace.*REJECTED`),
    );
  },
);

test("create warns when the service stores another spelling, and not when it only normalizes", async () => {
  begin({ spell: (each) => each.replace(/\/\?/, "?").replace("HOOKS", "hooks") });
  await verbs.create({ ...inputs, url: "https://HOOKS.example.com/a" });
  warned();
  const { id } = await verbs.create({ ...inputs, url: "https://hooks.example.com/b/?t0ken" });
  // Neither is shown of a secret.
  const secret = "https://hooks.example.com/t0ken/?x";
  await verbs.check({}, program("secret", { url: secret, __urlIsSecret: true }));
  await verbs.create({ ...inputs, url: secret });
  const stores = `stores https://hooks\\.example\\.com/b\\?… for endpoint ${id}`;
  warned(
    new RegExp(`${stores}.*Its deliveries go there`),
    /stores another url \(`npx pulumi-webhook-endpoints get \S+` shows it\)/,
  );
});

test("a service that keeps one endpoint for each url stops the second resource of that url", async () => {
  begin({ keepsOne: true });
  const { id } = await verbs.create(inputs);
  const second = verbs.create({ ...inputs, type: "development" });
  await fails(second, new RegExp(`${id}, which was there before.*ENDPOINT_EXISTS`));
  const theirs = service.add({ url: urlOf("theirs") });
  next();
  for (const more of [{ ifExists: "register" }, { type: "development" }])
    await fails(verbs.create({ ...inputs, url: theirs.url, ...more }), /which was there before/);
});

test.each<[string, object, RegExp]>([
  ["another url", { url: urlOf("other") }, /url or type, https:.*t0ken.*\(production\).*ADOPT_MISMATCH/s],
  ["another type", { type: "development" }, /url or type, .*\(production\).*ADOPT_MISMATCH/s],
  ["another id", { adoptId: "wh_none" }, /no endpoint with this id.*NOT_FOUND/],
])("create refuses to adopt an endpoint of %s", async (_, change, message) => {
  const { id } = service.add(inputs);
  await expect(verbs.create({ ...inputs, adoptId: id, ...change })).rejects.toThrow(message);
  expect(service.changes).toEqual([]);
});

test("an endpoint that another resource of the stack has is not adopted, whatever its provider", async () => {
  const one = await verbs.create(inputs);
  const adopting = { ...inputs, adoptId: one.id };
  await fails(verbs.create(adopting), /ADOPT_TAKEN/);
  record("jobs", one);
  await fails(next({ "webhooks:providerName": "another" }).create(adopting), /ADOPT_TAKEN/);
  world.pulumi.isThere = false;
  await next().diff(one.id, one.outs, inputs);
  await fails(verbs.create(adopting), /ADOPT_TAKEN/);
});

test("an endpoint that is only read may be adopted, and stays an equal one", async () => {
  const { id } = service.add(inputs);
  const { props = {} } = await verbs.read(id, { __provider: PROVIDER_CODE });
  // Also in a refresh.
  expect(await verbs.read(id, props)).toMatchObject({ id, props: { external: true } });
  await fails(verbs.create(inputs), /ENDPOINT_EXISTS/);
  expect((await verbs.create({ ...inputs, adoptId: id })).id).toBe(id);
});

test("adoptId has no effect once the resource has an endpoint", async () => {
  let { id } = service.add(inputs);
  const adoptId = id;
  let { outs } = await made({ adoptId });
  // First without a diff, as with --replace.
  for (const path of ["t0ken/jobs", "new"]) {
    record("jobs", { id, outs });
    next();
    const news = { ...inputs, url: urlOf(path), adoptId };
    if (path === "new") expect((await verbs.diff(id, outs, news)).replaces).toEqual(["url"]);
    expect(await reasons("jobs", news)).toBe("");
    world.stack.pendingCreates = [{ ...resourceOf("jobs"), inputs: news }];
    const replacement = await verbs.create(news);
    world.stack.pendingCreates = [];
    await verbs.delete(id, outs);
    ({ id, outs } = replacement);
    expect(ids()).toEqual([id]);
  }
});

test("diff replaces nothing for arguments that the service does not know, or for the provider's own code, and asks nothing", async () => {
  const { id, outs } = await made();
  const changed = { ...inputs, adoptId: "wh_1", ifExists: "register" };
  expect(await verbs.diff(id, outs, changed)).toEqual({ changes: false, replaces: [] });
  for (const change of [{ url: url.replace("hooks", "HOOKS") }, { type: "development" }, { ip: "::1" }])
    expect((await verbs.diff(id, outs, { ...inputs, ...change })).replaces).toEqual(Object.keys(change));
  const old = { ...outs, __provider: "exports.handler = …" };
  expect(await verbs.diff(id, old, inputs)).toEqual({ changes: true, replaces: [] });
  expect(await verbs.update(id, old, inputs)).toEqual({ outs });
  expect(sent()).toEqual([]);
});

test("read returns the endpoint as it is, and keeps the declared inputs, also in another spelling", async () => {
  begin({ spell: (each) => each.replace("HOOKS", "hooks").replace(":443", "").replace("%7e", "~") });
  const { id, outs } = await made({ url: "https://HOOKS.example.com:443/%7ejobs", ip: "192.0.2.1" });
  const at = new Date(service.endpoints[0]?.made ?? 0).toISOString();
  expect(await verbs.read(id, outs)).toEqual({ id, props: { ...outs, createdAt: at, updatedAt: at } });
});

test("a recorded endpoint that a get does not find is gone, also for a delete, and an id that no state knows is an error", async () => {
  const { id, outs } = await made();
  service.remove(id);
  await world.time.pass(2 * LAG_MS);
  expect(await verbs.read(id, outs)).toEqual({});
  expect(sent()).toEqual(["list", "get", "list"]);
  await next().delete(id, outs);
  await fails(verbs.read(id, {}), /no endpoint.*NOT_FOUND/);
  service.fault({ operation: "any", kind: "status", status: 410, times: 2 });
  expect(await next().read(id, outs)).toEqual({});
  await verbs.delete(id, outs);
});

test("a proxy without its service, which responds with 404 to everything, makes nothing count as gone", async () => {
  const { id, outs } = await made();
  service.fault({ operation: "any", kind: "status", status: 404, times: 99 });
  await fails(verbs.read(id, outs), /list .*404.*REJECTED/s);
  await fails(next().delete(id, outs), /list .*404.*REJECTED/s);
  await fails(next({ "webhooks:apiKey": "another-k3y" }).diff(id, outs, inputs), /REJECTED/);
  expect(ids()).toEqual([id]);
});

test.each([true, false])(
  "200 reads take one list, and a miss a get and one more list (at once: %s)",
  async (atOnce) => {
    const { outs } = await made();
    const own = Array.from({ length: 200 }, (_, at) => service.add({ url: urlOf(`${at}`) }));
    service.remove(own[7]?.id ?? "");
    await world.time.pass(2 * LAG_MS);
    const read = ({ id, url: its }: { id: string; url: string }) => verbs.read(id, { ...outs, url: its });
    const reads = atOnce ? own.map(read) : [];
    if (!atOnce) for (const each of own) reads.push(Promise.resolve(await read(each)));
    expect((await Promise.all(reads)).filter((each) => each.id === undefined)).toHaveLength(1);
    expect(sent()).toEqual(["list", "get", "list"]);
  },
);

test("a refused key is explained once a run, to read or delete, and costs one request", async () => {
  const { id, outs } = await made();
  const explained = /pulumi up.*--run-program.*UNAUTHORIZED/s;
  service.fault({ operation: "any", kind: "status", status: 403 });
  await fails(verbs.read(id, outs), explained);
  service.fault({ operation: "any", kind: "status", status: 401, times: 99 });
  await fails(next().delete(id, outs), explained);
  service.requests.length = 0;
  const named = /^Cannot list the webhook endpoints: GET \S+ was answered with 401 \(UNAUTHORIZED\)$/;
  await Promise.all([1, 2, 3].map(() => fails(verbs.read(id, outs), named)));
  expect(sent()).toEqual(["list"]);
});

test("an error of an up says nothing of the settings of other commands, and a deletion that failed says to run it again", async () => {
  const { id, outs } = await made();
  expect(await reasons("new", { url: urlOf("new") })).toBe("");
  service.fault({ operation: "any", kind: "status", status: 401, times: 9 });
  await fails(verbs.delete(id, outs), /^(?!.*--run-program).*UNAUTHORIZED/s);
  service.clearFaults();
  service.fault({ operation: "delete", kind: "status", status: 503, times: 9 });
  await fails(next().delete(id, outs), /503.*Run the same command again.*SERVER_ERROR/s);
});

test("delete spares what this run made, adopted or keeps, and what an adoptId names", async () => {
  const one = await verbs.create(inputs);
  await verbs.delete(one.id, one.outs);
  await next().diff(one.id, one.outs, inputs);
  await verbs.delete(one.id, one.outs);
  await next().create({ ...inputs, adoptId: one.id });
  await verbs.delete(one.id, one.outs);
  next();
  await reasons("adopter", { adoptId: one.id });
  await verbs.delete(one.id, one.outs);
  expect(ids()).toEqual([one.id]);
  expect(world.warnings).toEqual(Array(4).fill(expect.stringContaining(`${one.id} is not deleted`)));
});

test("delete deletes what a diff of the same run kept first, and replaces", async () => {
  const { id, outs } = await made();
  await verbs.diff(id, outs, inputs);
  await verbs.diff(id, outs, { ...inputs, type: "development" });
  await verbs.delete(id, outs);
  expect(ids()).toEqual([]);
});

const elsewhere = { baseUrl: "https://old.example.com" };

test("a service that has moved is recorded without a request that changes anything", async () => {
  const { id, outs } = await made();
  const old = { ...outs, ...elsewhere };
  expect(await verbs.diff(id, old, inputs)).toEqual({ changes: true, replaces: [] });
  // Also if it was recorded when the resource had another provider.
  for (const recorded of [old, { ...old, provider: "a" }])
    expect(await verbs.update(id, recorded, inputs)).toEqual({ outs });
  expect(service.changes).toEqual([]);
});

test("a base URL that was changed by mistake is an error of diff, read and delete that names both, a move to another provider is not", async () => {
  const { outs } = await made();
  const old = { ...outs, ...elsewhere };
  for (const call of [
    () => verbs.diff("wh_none", old, inputs),
    // A changed url does not hide the mistake.
    () => verbs.diff("wh_none", old, { ...inputs, url: urlOf("changed") }),
    () => verbs.read("wh_none", old),
    () => verbs.delete("wh_none", old),
  ]) {
    next();
    const { message } = await fails(call(), /restore it.*OTHER_BASE_URL/s);
    expect(message).toContain(`${elsewhere.baseUrl}, and ${service.url} does not have it`);
  }
  const moved = next({ "webhooks:providerName": "new" });
  expect((await moved.diff("wh_none", { ...old, provider: "old" }, inputs)).replaces).toEqual(["provider"]);
});
