import { createProvider } from "../../src/provider/verbs";
import { AFTER_INPUT, PROVIDER_CODE, TYPE_TOKEN, VALIDATION_PROVIDER_CODE } from "../../src/shared/permanent";
import { UNKNOWN_VALUE } from "../../src/shared/unknownValue";
import type { Verbs } from "./engineModel";
import type { FakeService } from "./fakeService";
import type { Made, Properties, VerbError } from "./process";
import { type PluginOptions, urlOf, World, type WorldOptions } from "./world";

const url = urlOf("t0ken/jobs");
const inputs = { url, type: "production" };
/** As the program's class passes them. */
const program = (name: string, more: object = {}) => ({
  ...inputs,
  __resourceName: name,
  __after: 0,
  ...more,
});

let world: World;
let service: FakeService;
/** The verbs of the command under way. */
let verbs: Verbs;

function begin(options: WorldOptions = {}): void {
  world = new World(options);
  ({ service } = world);
  world.isProgramRunning = true;
  next();
}

/** Begins another command of the engine. */
function next(options: PluginOptions = {}): Verbs {
  verbs = world.plugin(options);
  return verbs;
}

beforeEach(() => begin());
afterEach(() => {
  // No test may have shown a path of a url, or a key.
  expect(JSON.stringify(world.shown)).not.toMatch(/t0ken|k3y/);
});

const sent = () => service.requests.map(({ operation }) => operation);
const failure = (promise: Promise<unknown>): Promise<VerbError> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: VerbError) => {
      expect(error.message).not.toMatch(/t0ken|k3y/);
      return error;
    },
  );
/** Makes an endpoint of the stack, and begins another command. */
async function made(more: Properties = {}): Promise<Made> {
  const created = await verbs.create({ ...inputs, ...more });
  next();
  service.requests.length = 0;
  return created;
}
/** Records what was made in the state. */
function record(name: string, { id, properties }: Made, more: object = {}): void {
  const urn = `urn:pulumi:dev::test::${TYPE_TOKEN}::${name}`;
  const resource = { urn, type: TYPE_TOKEN, provider: "", id, inputs, outputs: properties, ...more };
  world.stack.resources = [...world.stack.resources, resource];
}
const reasons = async (checked: ReturnType<Verbs["check"]>) =>
  (await checked).failures.map(({ reason }) => reason).join("\n");

test("what stands in users' state never changes", () => {
  expect([PROVIDER_CODE, VALIDATION_PROVIDER_CODE, TYPE_TOKEN, AFTER_INPUT]).toEqual([
    'exports.handler = () => require("pulumi-webhook-endpoints/provider").provider;',
    'exports.handler = () => require("pulumi-webhook-endpoints/provider").receiverValidation;',
    "pulumi-nodejs:dynamic/webhooks:WebhookEndpoint",
    "__after",
  ]);
});

describe("check", () => {
  test("check refuses invalid arguments and settings at once, names no property, and sends nothing", async () => {
    const { failures } = await next({ config: { "webhooks:apiKey": "" } }).check({}, { url: "x", type: "y" });
    expect(failures).toEqual(Array(3).fill({ property: "", reason: expect.any(String) }));
    expect(failures[2]?.reason).toMatch(/API key is missing.*SETTINGS_INVALID/);
    expect((await failure(verbs.create(inputs))).message).toMatch(/API key is missing.*SETTINGS_INVALID/);
    expect(sent()).toEqual([]);
  });

  test("check strips what the program's class passes, and replaces the hidden input once by the service's time", async () => {
    begin({ habits: { aheadMs: 3_600_000 } });
    const hidden = { __organization: "acme", __urlIsSecret: false };
    const { inputs: checked, failures } = await verbs.check({}, program("jobs", hidden));
    expect(failures).toEqual([]);
    const { __after: after, ...rest } = checked;
    expect(rest).toEqual(inputs);
    expect(Math.abs(Number(after) - world.time.date() - 3_600_000)).toBeLessThan(2_000);
    await world.time.pass(60_000);
    expect((await next().check(checked, program("jobs"))).inputs).toEqual(checked);
  });

  test("check leaves the hidden input unknown in a preview, and leaves it out where there is none, or no time", async () => {
    const checked = await verbs.check({}, program("jobs", { __after: UNKNOWN_VALUE }));
    expect(checked.inputs).toEqual({ ...inputs, __after: UNKNOWN_VALUE });
    // The first `up` of an old state adds nothing.
    expect((await verbs.check(inputs, program("jobs"))).inputs).toEqual(inputs);
    begin({ habits: { tellsNoDate: true } });
    expect((await verbs.check({}, program("jobs"))).inputs).toEqual(inputs);
  });

  test("check dates nothing by a clock that stood still while the machine slept", async () => {
    await verbs.check({}, program("a"));
    world.time.sleptMs = 3_600_000;
    expect((await verbs.check({}, program("b"))).inputs).toEqual(inputs);
  });

  test("check gives a stop in the preview, with the resource's own endpoint left out", async () => {
    const { id } = service.add(inputs as never);
    expect(await reasons(verbs.check({}, program("jobs")))).toMatch(
      new RegExp(`${id} .*ENDPOINT_EXISTS`, "s"),
    );
    expect(await reasons(verbs.check({}, program("jobs", { ifExists: "register" })))).toBe("");
    expect(await reasons(verbs.check({}, program("jobs", { adoptId: id })))).toBe("");
    expect(await reasons(verbs.check({}, program("jobs", { url: UNKNOWN_VALUE })))).toBe("");
    expect(await reasons(verbs.check(inputs, program("jobs")))).toBe("");
    record("jobs", { id, properties: inputs });
    expect(await reasons(next().check({}, program("renamed")))).toBe("");
    expect(service.changes).toEqual([]);
  });

  test("check does not wait for a registration that may still be made", async () => {
    const resource = { urn: `urn:pulumi:dev::test::${TYPE_TOKEN}::jobs`, type: TYPE_TOKEN, provider: "" };
    world.stack.pendingCreates = [{ ...resource, inputs: { ...inputs, __after: world.time.date() } }];
    const started = world.time.now();
    expect(await reasons(verbs.check({}, program("jobs")))).toBe("");
    expect(world.time.now() - started).toBeLessThan(1_000);
  });

  test("checks wait once for a service that hangs, pass when it is away, and warn once when it is not there", async () => {
    service.fault({ operation: "list", kind: "hang-before", times: 9 });
    const paths = ["a", "b", "c"];
    for (const path of paths)
      expect(await reasons(verbs.check({}, program(path, { url: urlOf(path) })))).toBe("");
    expect(sent()).toEqual(["list"]);
    service.clearFaults();
    service.fault({ operation: "list", kind: "unreachable", times: 99 });
    expect(await reasons(next().check({}, program("a")))).toBe("");
    service.clearFaults();
    service.fault({ operation: "list", kind: "status", status: 404, times: 9 });
    next();
    for (const path of paths)
      expect(await reasons(verbs.check({}, program(path, { url: urlOf(path) })))).toBe("");
    expect(world.warnings).toEqual([expect.stringMatching(/answered with 404.*may not be there yet/)]);
  });

  test("check fails the preview when the key is refused", async () => {
    service.accounts.clear();
    expect(await reasons(verbs.check({}, program("jobs")))).toMatch(/401.*UNAUTHORIZED/s);
  });

  test("check names the resource in a warning about an unreachable host", async () => {
    await verbs.check({}, program("jobs", { url: "https://localhost/" }));
    expect(world.warnings).toEqual([expect.stringMatching(/^WebhookEndpoint "jobs": .*private network/)]);
  });
});

describe("create", () => {
  test("create registers exactly what is declared, after one list for all resources", async () => {
    const created = await verbs.create({ ...inputs, ip: "192.0.2.0/24" });
    await verbs.create({ ...inputs, type: "development" });
    expect(sent()).toEqual(["list", "register", "register"]);
    const [endpoint] = service.endpoints;
    expect(endpoint).toMatchObject({ url, type: "production", ip: "192.0.2.0/24" });
    expect(created).toEqual({
      id: endpoint?.id,
      properties: {
        ...{ url, type: "production", ip: "192.0.2.0/24", createdAt: null, updatedAt: null },
        baseUrl: service.url,
        account: expect.stringMatching(/^[0-9a-f]{6}$/),
      },
    });
  });

  test("create stops at an equal endpoint that nobody here has, and registers beside it on purpose", async () => {
    const { id } = service.add(inputs as never);
    expect((await failure(verbs.create(inputs))).message).toMatch(new RegExp(`${id} .*ENDPOINT_EXISTS`, "s"));
    expect(service.changes).toEqual([]);
    await verbs.create({ ...inputs, ifExists: "register" });
    expect(service.changes).toEqual(["register"]);
  });

  test("create registers nothing when the service cannot list what exists", async () => {
    service.fault({ operation: "list", kind: "status", status: 400, times: 9 });
    expect((await failure(verbs.create(inputs))).message).toMatch(/REJECTED/);
    expect(service.changes).toEqual([]);
  });

  test("create registers at a service that lists a part, and warns once", async () => {
    begin({ habits: { listed: 1 } });
    for (const path of ["a", "b"]) service.add({ url: urlOf(path) });
    for (const type of ["production", "development"]) await verbs.create({ url, type });
    expect(world.warnings).toEqual([expect.stringMatching(/lists only a part/)]);
  });

  test("create leaves nothing in the state when the registration was certainly not made", async () => {
    service.fault({ operation: "register", kind: "status", status: 422, body: '"t0ken"' });
    const error = await failure(verbs.create(inputs));
    expect(error.halfMade).toBeUndefined();
    expect(error.message).toMatch(/422.*REJECTED/s);
    expect(error.message).toMatch(/config set webhooks:showResponses true/);
  });

  test("showResponses shows a refusal in a warning: cut, in one line, without the key and a signing secret", async () => {
    const key = "key-of-the/account";
    const config = { "webhooks:showResponses": "true", "webhooks:apiKey": key };
    service.accounts.set(key, "default");
    const escaped = Array.from(key, (each) => `\\u00${each.charCodeAt(0).toString(16)}`).join("");
    const body = String.raw`{"reason":"no\u0007","a":"${key}","b":"${escaped}","c":"whsec_ab\/cd\u002B","d":"${"x".repeat(600)}"}`;
    service.fault({ operation: "register", kind: "status", status: 422, body: `${body}\n` });
    expect((await failure(next({ config }).create(inputs))).message).not.toContain("reason");
    const [shown = "", ...others] = world.warnings;
    expect(others).toEqual([]);
    expect(shown).toMatch(
      /^the service answered 422: \{"reason":.*"a":"\[secret\]","b":"\[secret\]","c":"\[secret\]"/,
    );
    expect(shown).toMatch(/x … \(cut\)$/);
    expect(shown.length).toBeLessThan(560);
  });

  test("create warns when the service stores another spelling, and not when it only normalizes", async () => {
    begin({ habits: { spell: (each) => each.replace(/\/\?/, "?").replace("HOOKS", "hooks") } });
    await verbs.create({ ...inputs, url: "https://HOOKS.example.com/a" });
    expect(world.warnings).toEqual([]);
    const { id } = await verbs.create({ ...inputs, url: "https://hooks.example.com/b/?t0ken" });
    expect(world.warnings).toEqual([
      expect.stringMatching(
        new RegExp(
          `stores https://hooks\\.example\\.com/b\\?… for endpoint ${id}.*ignoreChanges: \\["url"\\]`,
          "s",
        ),
      ),
    ]);
    // Neither is shown of a secret.
    const secret = "https://hooks.example.com/t0ken/?x";
    await verbs.check({}, program("secret", { url: secret, __urlIsSecret: true }));
    await verbs.create({ ...inputs, url: secret });
    expect(world.warnings[1]).toMatch(
      /stores another url \(`npx pulumi-webhook-endpoints get \S+` shows it\)/,
    );
  });

  test("a service that keeps one endpoint for each url stops the second resource of that url", async () => {
    begin({ habits: { keepsOne: true } });
    const { id } = await verbs.create(inputs);
    const error = await failure(verbs.create({ ...inputs, type: "development" }));
    expect(error.message).toMatch(new RegExp(`${id}, which was there before.*ENDPOINT_EXISTS`));
  });

  test("create says that it waits, once for each kind of request, and when the service asks for that", async () => {
    service.fault({ operation: "register", kind: "late-answer", delayMs: 3_000, times: 2 });
    await Promise.all(["a", "b"].map((path) => verbs.create({ ...inputs, url: urlOf(path) })));
    service.fault({ operation: "register", kind: "status", status: 429, headers: { "retry-after": "5" } });
    await verbs.create({ ...inputs, url: urlOf("c") });
    expect(world.shown.map(({ message }) => message)).toEqual([
      "waiting for the service: register takes longer than 2 s",
      "register waits 5 s: the service answered 429",
    ]);
    expect(service.endpoints).toHaveLength(3);
  });
});

describe("adoption", () => {
  test("create adopts exactly the endpoint that adoptId names, and sends nothing that changes the service", async () => {
    const { id } = service.add({ url: "https://HOOKS.example.com:443/t0ken/jobs" });
    service.add(inputs as never);
    const { id: adopted, properties } = await verbs.create({ ...inputs, adoptId: id });
    expect(adopted).toBe(id);
    expect(properties).toMatchObject(inputs);
    expect(sent()).toEqual(["get"]);
  });

  test.each<[string, object, RegExp]>([
    ["another url", { url: urlOf("other") }, /its url at the service differs.*t0ken/s],
    ["another type", { type: "development" }, /its type at the service differs/],
    ["both", { url: urlOf("other"), type: "development" }, /its url and type at the service differ /],
    ["another id", { adoptId: "wh_none" }, /no endpoint with this id.*ADOPT_NOT_FOUND/],
  ])("create refuses to adopt an endpoint of %s", async (_, change, message) => {
    const { id } = service.add(inputs as never);
    const error = await verbs.create({ ...inputs, adoptId: id, ...change }).catch((reason: Error) => reason);
    expect(String(error)).toMatch(message);
    expect(String(error)).toMatch(/ADOPT_(MISMATCH|NOT_FOUND)/);
    expect(service.changes).toEqual([]);
  });

  test("an endpoint that another resource of the stack has is not adopted, whatever its provider", async () => {
    const one = await verbs.create(inputs);
    expect((await failure(verbs.create({ ...inputs, adoptId: one.id }))).message).toMatch(/ADOPT_TAKEN/);
    record("jobs", one);
    const elsewhere = next({ config: { "webhooks:providerName": "another" } });
    expect((await failure(elsewhere.create({ ...inputs, adoptId: one.id }))).message).toMatch(/ADOPT_TAKEN/);
    expect(await reasons(next().check({}, program("thief", { adoptId: one.id })))).toBe("");
    await verbs.diff(one.id, one.properties, inputs);
    expect((await failure(verbs.create({ ...inputs, adoptId: one.id }))).message).toMatch(/ADOPT_TAKEN/);
  });

  test("an endpoint that is only read may be adopted, and stays an equal one", async () => {
    const { id } = service.add(inputs as never);
    await verbs.read(id, {});
    expect((await failure(verbs.create(inputs))).message).toMatch(/ENDPOINT_EXISTS/);
    expect((await verbs.create({ ...inputs, adoptId: id })).id).toBe(id);
  });

  test("adoptId has no effect once the resource has an endpoint", async () => {
    const { id } = service.add(inputs as never);
    const { properties } = await made({ adoptId: id });
    const changed = { ...inputs, url: urlOf("new"), adoptId: id };
    expect((await verbs.diff(id, properties, changed)).replaces).toEqual(["url"]);
    expect(await reasons(verbs.check({}, program("jobs", changed)))).toBe("");
    const replacement = await verbs.create(changed);
    await verbs.delete(id, properties);
    expect(service.endpoints.map((endpoint) => endpoint.id)).toEqual([replacement.id]);
    // Without a diff, as with --replace, the state tells.
    record("jobs", replacement);
    next();
    await verbs.check({}, program("jobs", changed));
    expect((await verbs.create(changed)).id).not.toBe(replacement.id);
  });
});

describe("diff", () => {
  test("diff replaces nothing for arguments that the service does not know, and asks it nothing", async () => {
    const { id, properties } = await made();
    const changed = { ...inputs, adoptId: "wh_1", ifExists: "register" };
    expect(await verbs.diff(id, properties, changed)).toEqual({ changes: false, replaces: [] });
    expect(await verbs.diff(id, properties, { ...inputs, ip: "::1" })).toEqual({
      changes: true,
      replaces: ["ip"],
    });
    expect(sent()).toEqual([]);
  });

  test("a change of the provider's own code is an update that sends nothing", async () => {
    const { id, properties } = await made();
    const old = { ...properties, __provider: "exports.handler = …" };
    // The harness passes today's code on, so this asks the provider itself.
    const { diff, configure } = createProvider({ environment: {} });
    await configure({ config: { get: (key: string) => world.configOf()[key] } as never });
    const news = { ...inputs, __provider: PROVIDER_CODE };
    expect(await diff(id, old as never, news as never)).toEqual({ changes: true, replaces: [] });
    expect(await verbs.update(id, properties)).toEqual(properties);
    expect(sent()).toEqual([]);
  });
});

describe("read", () => {
  test("read returns the endpoint as it is, and keeps the declared inputs", async () => {
    const { id, properties } = await made({ ip: "192.0.2.1" });
    const at = new Date(service.endpoints[0]?.made ?? 0).toISOString();
    expect(await verbs.read(id, properties)).toEqual({
      id,
      properties: { ...properties, createdAt: at, updatedAt: at },
    });
  });

  test("read takes a url that differs only in spelling for the same", async () => {
    begin({
      habits: { spell: (each) => each.replace("HOOKS", "hooks").replace(":443", "").replace("%7e", "~") },
    });
    const spelled = { ...inputs, url: "https://HOOKS.example.com:443/%7ejobs" };
    const { id, properties } = await made(spelled);
    const read = await verbs.read(id, properties);
    expect(read).toMatchObject({ properties: spelled });
    expect(read?.inputs).toBeUndefined();
  });

  test("a recorded endpoint that a get does not find is gone, also for a delete, and an id that no state knows is an error", async () => {
    const { id, properties } = await made();
    service.remove(id);
    expect(await verbs.read(id, properties)).toBeUndefined();
    expect(sent()).toEqual(["get"]);
    await next().delete(id, properties);
    expect((await failure(verbs.read(id, {}))).message).toMatch(/no endpoint.*ENDPOINT_NOT_FOUND/);
    service.fault({ operation: "any", kind: "status", status: 410, times: 2 });
    expect(await next().read(id, properties)).toBeUndefined();
    await verbs.delete(id, properties);
  });

  test.each([true, false])(
    "200 reads among 5,000 endpoints take one list, and a miss a get (at once: %s)",
    async (atOnce) => {
      for (let at = 0; at < 5_000; at++) service.add({ url: `https://x.example.com/${at}` });
      const { properties } = await made();
      const own = Array.from({ length: 200 }, (_, at) => service.add({ url: urlOf(`${at}`) }));
      service.remove(own[7]?.id ?? "");
      const read = ({ id, url: its }: { id: string; url: string }) =>
        verbs.read(id, { ...properties, url: its });
      const reads = atOnce ? await Promise.all(own.map(read)) : [];
      if (!atOnce) for (const each of own) reads.push(await read(each));
      expect(reads.filter((each) => each === undefined)).toHaveLength(1);
      // Alone, the first does not know that others follow.
      expect(sent()).toEqual(atOnce ? ["list", "get"] : ["get", "list", "get"]);
    },
  );

  test("nothing is gone because of a partial, failed or lagging list", async () => {
    begin({ habits: { listed: 2 } });
    const all: Made[] = [];
    for (const path of ["a", "b", "c", "d"]) all.push(await verbs.create({ ...inputs, url: urlOf(path) }));
    const expectAll = async () => {
      next();
      const reads = await Promise.all(all.map(({ id, properties }) => verbs.read(id, properties)));
      expect(reads.map((each) => each?.id)).toEqual(all.map(({ id }) => id));
    };
    await expectAll();
    service.fault({ operation: "list", kind: "status", status: 404, times: 9 });
    await expectAll();
    service.clearFaults();
    service.habits = { lagMs: 3_600_000 };
    await expectAll();
  });

  test.each([401, 403])(
    "a key that is refused with %i is explained to read and delete, and costs one request",
    async (status) => {
      const { id, properties } = await made();
      service.fault({ operation: "any", kind: "status", status, times: 99 });
      for (const verb of ["read", "delete"] as const)
        expect((await failure(verbs[verb](id, properties))).message).toMatch(
          /pulumi up.*--run-program.*UNAUTHORIZED/s,
        );
      service.requests.length = 0;
      await Promise.all([1, 2, 3].map(() => failure(verbs.read(id, properties))));
      expect(sent()).toEqual(["list"]);
    },
  );
});

describe("delete", () => {
  test("delete spares what this run made, adopted or keeps, and what an adoptId names", async () => {
    const one = await verbs.create(inputs);
    await verbs.delete(one.id, one.properties);
    await next().diff(one.id, one.properties, inputs);
    await verbs.delete(one.id, one.properties);
    await next().create({ ...inputs, adoptId: one.id });
    await verbs.delete(one.id, one.properties);
    await next().check({}, program("adopter", { adoptId: one.id }));
    await verbs.delete(one.id, one.properties);
    expect(service.endpoints.map(({ id }) => id)).toEqual([one.id]);
    expect(world.warnings).toEqual(Array(4).fill(expect.stringContaining(`${one.id} is not deleted`)));
  });

  test("delete deletes what a refresh of the same run has read, or a diff replaces", async () => {
    const { id, properties } = await made();
    const read = await verbs.read(id, properties);
    await verbs.diff(id, read?.properties ?? {}, inputs);
    await verbs.delete(id, read?.properties ?? {});
    expect(service.endpoints).toEqual([]);
    next();
    const again = await made();
    await verbs.diff(again.id, again.properties, inputs);
    await verbs.diff(again.id, again.properties, { ...inputs, type: "development" });
    await verbs.delete(again.id, again.properties);
    expect(service.endpoints).toEqual([]);
  });
});

describe("another base URL or key", () => {
  const elsewhere = { baseUrl: "https://old.example.com" };

  test("a rotated key replaces nothing, and another account's key replaces with a warning", async () => {
    const { id, properties } = await made();
    world.rotateKey("");
    expect(await next().diff(id, properties, inputs)).toEqual({ changes: false, replaces: [] });
    service.accounts.set("another", "another");
    const other = next({ config: { "webhooks:apiKey": "another" } });
    expect((await other.diff(id, properties, inputs)).replaces).toEqual(["account"]);
    expect(world.warnings).toEqual([expect.stringMatching(/registered again.*restore webhooks:apiKey/s)]);
    expect(await other.read(id, properties)).toBeUndefined();
    await other.delete(id, properties);
    expect(world.warnings.slice(1)).toEqual([expect.stringMatching(/counts as deleted.*different key/)]);
    expect(service.endpoints).toHaveLength(1);
  });

  test("ids that count for each account are told apart by url and type", async () => {
    begin({ habits: { countsIds: true } });
    const { id, properties } = await made();
    service.accounts.set("another", "another");
    const theirs = service.add({ url: urlOf("theirs") }, "another");
    expect(theirs.id).toBe(id);
    const other = next({ config: { "webhooks:apiKey": "another" } });
    expect((await other.diff(id, properties, inputs)).replaces).toEqual(["account"]);
    expect(await other.read(id, properties)).toBeUndefined();
    await other.delete(id, properties);
    expect(service.endpoints).toContain(theirs);
  });

  test("a service that has moved is recorded without a request that changes anything", async () => {
    const { id, properties } = await made();
    const old = { ...properties, ...elsewhere };
    expect(await verbs.diff(id, old, inputs)).toEqual({ changes: true, replaces: [] });
    expect(await verbs.update(id, old)).toEqual(properties);
    // Recorded when the resource had another provider.
    expect(await verbs.update(id, { ...old, provider: "a" })).toEqual(properties);
    expect(service.changes).toEqual([]);
  });

  test("a base URL that was changed by mistake is an error of diff, read and delete that names both, and no drift", async () => {
    const { properties } = await made();
    const old = { ...properties, ...elsewhere };
    for (const verb of [
      () => verbs.diff("wh_none", old, inputs),
      // A changed url does not hide the mistake.
      () => verbs.diff("wh_none", old, { ...inputs, url: urlOf("changed") }),
      () => verbs.read("wh_none", old),
      () => verbs.delete("wh_none", old),
    ]) {
      const { message } = await failure(verb());
      expect(message).toMatch(
        /https:\/\/old\.example\.com, and https:\/\/api\.example\.com\/v1 does not have it/,
      );
      expect(message).toMatch(/restore webhooks:baseUrl.*OTHER_BASE_URL/s);
    }
    const own = next({ config: { "webhooks:providerName": "own" } });
    const { message } = await failure(own.diff("wh_none", { ...old, provider: "own" }, inputs));
    expect(message).toMatch(/restore baseUrl of the provider "own"/);
  });

  test("a resource that the program moves to a provider of another name and base URL is replaced", async () => {
    const { properties } = await made();
    const moved = next({ config: { "webhooks:providerName": "new" } });
    const old = { ...properties, ...elsewhere, provider: "old" };
    expect(await moved.diff("wh_none", old, inputs)).toEqual({ changes: true, replaces: ["provider"] });
  });
});
