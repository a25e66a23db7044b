import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../src/emulator";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { FastClock } from "./fastClock";
import { type Command, Plugin, type VerbError } from "./plugin";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const url = "https://hooks.example.com/t0ken/jobs";
const inputs = { url, type: "production" };

let plugin: Plugin;
let emulator: Emulator;
let command: Command;

beforeAll(async () => {
  plugin = await Plugin.start();
});
afterAll(async () => {
  await plugin.stop();
  // No test of this file may have shown a secret.
  const shown = plugin.printed + JSON.stringify(plugin.logs);
  expect(shown).not.toMatch(/t0ken|emulator-api-key|k3y/);
  expect(plugin.printed).not.toMatch(/^\s+at /m);
});

beforeEach(async () => {
  plugin.logs.length = 0;
  emulator = await startEmulator();
  command = await begin();
});
afterEach(() => emulator.close());

/** Begins another command of the engine, with the stack's configuration. */
function begin(config: Readonly<Record<string, string>> = {}): Promise<Command> {
  return plugin.command({
    "webhooks:baseUrl": emulator.url,
    "webhooks:apiKey": emulator.apiKey,
    "webhooks:timeoutSeconds": "1",
    ...config,
  });
}

const sent = () => emulator.requests.map(({ operation }) => operation);
let barriers = 0;
/** Returns the warnings of all verbs that have answered. They arrive in order, so one that is sent now comes after them. */
async function warnings(): Promise<string[]> {
  barriers += 1;
  const barrier = `barrier ${barriers}`;
  await command.check(inputs, { ...inputs, url: "https://localhost/", __resourceName: barrier });
  const arrived = () =>
    plugin.logs.filter(({ severity }) => severity === "warning").map(({ message }) => message);
  while (!arrived().some((message) => message.includes(barrier))) await sleep(5);
  return arrived().filter((message) => !message.includes("barrier"));
}
const failure = (promise: Promise<unknown>): Promise<VerbError> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: VerbError) => error,
  );

it("the provider's code and type in users' state never change", () => {
  expect(PROVIDER_CODE).toBe(
    'exports.handler = () => require("pulumi-webhook-endpoints/provider").provider;',
  );
  expect(TYPE_TOKEN).toBe("pulumi-nodejs:dynamic/webhooks:WebhookEndpoint");
});

describe("check", () => {
  it.each<[string, object, RegExp]>([
    ["no url", { url: undefined }, /url is missing/],
    ["an empty url", { url: "" }, /url must be/],
    ["a relative url", { url: "/jobs" }, /url must be an absolute URL/],
    ["another scheme", { url: "ftp://t0ken.example.com" }, /url must be an absolute URL/],
    ["a user in the url", { url: "https://t0ken:x@example.com/" }, /user name or password/],
    ["an empty user in the url", { url: "https://@example.com/t0ken" }, /user name or password/],
    ["a fragment", { url: "https://example.com/#t0ken" }, /fragment/],
    ["an empty fragment", { url: "https://example.com/t0ken#" }, /fragment/],
    ["a space in the url", { url: "https://example.com/t0ken x" }, /white space/],
    ["a line break after the url", { url: "https://example.com/t0ken\n" }, /white space/],
    ["a backslash", { url: "https://example.com/\\t0ken" }, /backslashes/],
    ["a number as url", { url: 7 }, /url must be/],
    ["a port out of range", { url: "https://example.com:99999/t0ken" }, /url must be an absolute URL/],
    ["another type", { type: "staging" }, /type must be "production" or "development"/],
    ["no type", { type: undefined }, /type is missing/],
    ["an ip that is a name", { ip: "t0ken.example.com" }, /ip must be/],
    ["an ip with a long prefix", { ip: "192.0.2.0/33" }, /ip must be/],
    ["an ip with two prefixes", { ip: "192.0.2.0/24/8" }, /ip must be/],
    ["an ip with a zone", { ip: "fe80::1%eth0" }, /ip must be/],
    ["an empty ip", { ip: "" }, /ip must be/],
    ["an empty adoptId", { adoptId: "" }, /adoptId must be/],
    ["an adoptId with a space", { adoptId: "wh t0ken" }, /adoptId must be/],
    ["a provisional adoptId", { adoptId: "pending:t0ken" }, /provisional/],
    ["another ifExists", { ifExists: "ignore" }, /ifExists must be "warn", "fail" or "register"/],
    ["an argument that does not exist", { secret: "t0ken" }, /secret is not an argument/],
  ])("check refuses %s before any request, without repeating the value", async (_, change, reason) => {
    const { failures } = await command.check({}, defined({ ...inputs, ...change }));
    expect(failures).toEqual([{ property: "", reason: expect.stringMatching(reason) }]);
    expect(failures[0]?.reason).not.toContain("t0ken");
    expect(sent()).toEqual([]);
  });

  it.each(["192.0.2.1", "192.0.2.0/24", "0.0.0.0/0", "2001:db8::1", "2001:db8::/32", "::/128"])(
    "check accepts %s as an ip",
    async (ip) => {
      expect((await command.check({}, { ...inputs, ip })).failures).toEqual([]);
    },
  );

  it("check names every problem at once", async () => {
    const { failures } = await (await begin({ "webhooks:apiKey": "" })).check(
      {},
      { url: "x", type: "y", ip: "z" },
    );
    expect(failures.map(({ reason }) => reason.split(" ")[0]).sort()).toEqual(["ip", "the", "type", "url"]);
  });

  it("check does not validate values that are still unknown", async () => {
    const args = { url: unknown, type: unknown, ip: unknown, adoptId: unknown, ifExists: unknown };
    expect((await command.check({}, args)).failures).toEqual([]);
    expect(sent()).toEqual([]);
  });

  it("check treats null as an argument that was left out", async () => {
    const { inputs: checked } = await command.check({}, { ...inputs, ip: null, adoptId: null });
    expect(checked).toEqual(inputs);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    [
      "no base URL",
      { "webhooks:baseUrl": "" },
      /base URL is missing.*webhooks:baseUrl.*WEBHOOKS_BASE_URL.*WebhooksProvider/,
    ],
    [
      "no API key",
      { "webhooks:apiKey": "" },
      /API key is missing.*--secret webhooks:apiKey.*WEBHOOKS_API_KEY.*WebhooksProvider/,
    ],
    ["a relative base URL", { "webhooks:baseUrl": "example.com" }, /baseUrl must be an absolute URL/],
    [
      "plain http to another host",
      { "webhooks:baseUrl": "http://example.com" },
      /baseUrl must begin with "https:/,
    ],
    [
      "a base URL with a password",
      { "webhooks:baseUrl": "https://u:k3y@example.com" },
      /user name or password/,
    ],
    ["a key with a line break", { "webhooks:apiKey": "k3y\nx" }, /apiKey has a line break/],
    ["a header that is none", { "webhooks:apiKeyHeader": "X Key" }, /apiKeyHeader must name a header/],
    ["a header that frames requests", { "webhooks:apiKeyHeader": "Host" }, /apiKeyHeader must name a header/],
    ["a scheme of two words", { "webhooks:apiKeyScheme": "Bearer x" }, /apiKeyScheme must be one word/],
    ["another word for yes", { "webhooks:showResponses": "yes" }, /showResponses must be true or false/],
    ["a time-out of 0", { "webhooks:timeoutSeconds": "0" }, /timeoutSeconds must be a number of seconds/],
    [
      "a timeout that is not a number",
      { "webhooks:timeoutSeconds": "soon" },
      /timeoutSeconds must be a number of seconds/,
    ],
  ])("check and create refuse %s before any request", async (_, config, reason) => {
    const { failures } = await (await begin(config)).check({}, inputs);
    expect(failures).toEqual([{ property: "", reason: expect.stringMatching(reason) }]);
    expect(failures[0]?.reason).toMatch(/SETTINGS_INVALID/);
    expect(failures[0]?.reason).not.toContain("k3y");
    const { message } = await failure((await begin(config)).create(inputs));
    expect(message).toMatch(/SETTINGS_INVALID/);
    expect(sent()).toEqual([]);
  });

  it("check and create name the resource whose endpoint exists already, and the inputs do not keep the name", async () => {
    emulator.add({ url, type: "production" });
    const checked = await command.check({}, { ...inputs, __resourceName: "jobs" });
    expect(checked).toEqual({ inputs, failures: [] });
    await command.create(checked.inputs);
    const refused = await (await begin()).check({}, { ...inputs, ifExists: "fail", __resourceName: "mail" });
    expect(refused.failures[0]?.reason).toMatch(
      /^WebhookEndpoint "mail": .* already has 2 .*ENDPOINT_EXISTS/,
    );
    const about = await warnings();
    expect(about).toEqual([expect.stringMatching(/^WebhookEndpoint "jobs": .* already has an endpoint/)]);
  });

  it("check names the resource in a warning about an unreachable url", async () => {
    await command.check({}, { url: "https://localhost/", type: "production", __resourceName: "local" });
    expect(await warnings()).toEqual([expect.stringMatching(/^WebhookEndpoint "local": .*private host/)]);
  });

  it("the checks of a preview wait only once for a service that hangs", async () => {
    emulator.fault({ operation: "list", kind: "hang-before", times: 2 });
    for (const path of ["a", "b", "c"])
      expect((await command.check({}, { ...inputs, url: `${url}/${path}` })).failures).toEqual([]);
    expect(sent()).toEqual(["list"]);
    expect((await failure(command.create(inputs))).message).toMatch(/TIMED_OUT/);
    await command.create(inputs);
    expect(sent()).toEqual(["list", "list", "list", "register"]);
  });

  it("a slow service is reported once for each kind of request", async () => {
    const { code: clock } = new FastClock(10);
    const slow = { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey };
    command = await plugin.command(slow, { clock });
    emulator.fault({ operation: "register", kind: "delay", delayMs: 400, times: 2 });
    await Promise.all(["a", "b"].map((path) => command.create({ ...inputs, url: `${url}/${path}` })));
    const waits = plugin.logs.filter(({ severity }) => severity === "info");
    expect(waits).toEqual([{ severity: "info", message: expect.stringMatching(/waiting.*register.* 2 s$/) }]);
  });

  it.each([
    ["http://hooks.example.com/", "plain http"],
    ["https://localhost/", "private host"],
    ["https://10.1.2.3/", "private host"],
    ["https://[::1]/", "private host"],
    ["https://[fd00::1]/", "private host"],
    ["https://192.168.1.1./", "private host"],
  ])("check warns about %s for a production endpoint only", async (local, what) => {
    await command.check({}, { url: local, type: "production" });
    expect(await warnings()).toEqual([expect.stringContaining(what)]);
    plugin.logs.length = 0;
    await command.check({}, { url: local, type: "development" });
    expect(await warnings()).toEqual([]);
  });

  it("check warns once about an endpoint that a new resource would duplicate, and refuses it with ifExists fail", async () => {
    const { id } = emulator.add({ url, type: "production" });
    emulator.add({ url, type: "development" });
    emulator.add({ url: `${url}/x`, type: "production" });
    await command.check({}, inputs);
    await command.check({}, inputs);
    expect(await warnings()).toEqual([expect.stringContaining(id)]);
    const { failures } = await command.check({}, { ...inputs, ifExists: "fail" });
    expect(failures).toEqual([{ property: "", reason: expect.stringMatching(/ENDPOINT_EXISTS/) }]);
    expect(sent()).toEqual(["list"]);
  });

  it("check warns about a duplicate of another resource of this program, whichever of the two comes first", async () => {
    const made = await command.create(inputs);
    command = await begin();
    await command.check({}, inputs);
    expect(await warnings()).toEqual([
      expect.stringMatching(/unless this run deletes the existing endpoint.*adoptId/),
    ]);
    await command.diff(made.id, made.properties, inputs);
    await command.check({}, inputs);
    expect(await warnings()).toContainEqual(
      expect.stringMatching(/another resource of this program already manages it/i),
    );
    for (const existing of [[], [made]]) {
      command = await begin();
      for (const { id, properties } of existing) await command.diff(id, properties, inputs);
      const { failures } = await command.check({}, { ...inputs, ifExists: "fail" });
      expect(failures).toEqual([{ property: "", reason: expect.stringMatching(/ENDPOINT_EXISTS/) }]);
    }
  });

  it("create warns about two new resources that declare the same endpoint, and refuses the second with ifExists fail", async () => {
    await command.create(inputs);
    const error = await failure(command.create({ ...inputs, ifExists: "fail" }));
    expect(error.message).toMatch(/Another resource of this program already manages it.*ENDPOINT_EXISTS/);
    expect(emulator.endpoints()).toHaveLength(1);
    await command.create(inputs);
    expect(await warnings()).toEqual([expect.stringMatching(/each event is then delivered twice/)]);
  });

  it("create does not warn about an endpoint that it is about to replace", async () => {
    const { id, properties } = await command.create(inputs);
    command = await begin();
    await command.diff(id, properties, { ...inputs, ip: "192.0.2.1" });
    await command.create({ ...inputs, ip: "192.0.2.1", ifExists: "fail" });
    expect(await warnings()).toEqual([]);
  });

  it("check passes without looking for duplicates when the service cannot be reached", async () => {
    await emulator.goOffline();
    expect((await command.check({}, inputs)).failures).toEqual([]);
    await emulator.goOnline();
  });
});

describe("diff", () => {
  it.each<[string, object, string[]]>([
    ["nothing", {}, []],
    ["url", { url: "https://other.example.com/" }, ["url"]],
    ["the spelling of url", { url: "https://HOOKS.example.com/t0ken/jobs" }, ["url"]],
    ["type", { type: "development" }, ["type"]],
    ["ip", { ip: "192.0.2.1" }, ["ip"]],
    ["all three", { url: "https://o.example.com/", type: "development", ip: "::1" }, ["url", "type", "ip"]],
    ["adoptId", { adoptId: "wh_1" }, []],
    ["ifExists", { ifExists: "fail" }, []],
  ])("a change of %s replaces only what the service cannot change", async (_, change, replaces) => {
    const { id, properties } = await command.create(inputs);
    const next = await begin();
    emulator.clearRequests();
    const diffed = await next.diff(id, properties, { ...inputs, ...change });
    expect(diffed).toEqual({ changes: replaces.length > 0, replaces });
    expect(sent()).toEqual([]);
  });

  it("a change of the provider's own code replaces nothing, and the update sends nothing", async () => {
    const { id, properties } = await command.create(inputs);
    emulator.clearRequests();
    // Each command has its own provider code, so this state is of another one.
    expect(await command.update(id, properties, inputs)).toEqual(properties);
    expect(sent()).toEqual([]);
  });

  it("diff replaces nothing for a rotated key, and replaces for the key of another account", async () => {
    const { id, properties } = await command.create(inputs);
    const foreign = await startEmulator({ apiKey: "k3y-of-another" });
    emulator.rotateKey(emulator.apiKey, "k3y-rotated");
    expect(await (await begin({ "webhooks:apiKey": "k3y-rotated" })).diff(id, properties, inputs)).toEqual({
      changes: false,
      replaces: [],
    });
    const moved = { ...properties, baseUrl: foreign.url };
    const other = await begin({ "webhooks:baseUrl": foreign.url, "webhooks:apiKey": "k3y-of-another" });
    expect((await other.diff(id, moved, inputs)).replaces).toEqual(["account"]);
    expect((await warnings()).join()).toMatch(/registered with the previous key/);
    await foreign.close();
  });

  it("diff records a service that has moved when it knows the endpoint at the new base URL", async () => {
    const { id, properties } = await command.create(inputs);
    const elsewhere = { ...properties, baseUrl: "https://old.example.com" };
    command = await begin();
    expect(await command.diff(id, elsewhere, inputs)).toEqual({ changes: true, replaces: [] });
    expect(await command.update(id, elsewhere, inputs)).toEqual(properties);
    // Recorded when the resource had another provider.
    expect(await command.update(id, { ...elsewhere, provider: "a" }, inputs)).toEqual(properties);
  });

  it("diff refuses another base URL that does not know the endpoint, and names both", async () => {
    const { properties } = await command.create(inputs);
    const elsewhere = { ...properties, baseUrl: "https://old.example.com" };
    const { message } = await failure((await begin()).diff("wh_unknown", elsewhere, inputs));
    expect(message).toMatch(/https:\/\/old\.example\.com.*restore webhooks:baseUrl.*OTHER_BASE_URL/);
  });

  it("diff replaces an endpoint that moves to a provider with another name and base URL", async () => {
    const { properties } = await command.create(inputs);
    const elsewhere = { ...properties, baseUrl: "https://old.example.com", provider: "old" };
    const moved = await begin({ "webhooks:providerName": "new" });
    expect(await moved.diff("wh_unknown", elsewhere, inputs)).toEqual({
      changes: true,
      replaces: ["provider"],
    });
    const same = await begin({ "webhooks:providerName": "old" });
    const { message } = await failure(same.diff("wh_unknown", elsewhere, inputs));
    expect(message).toMatch(/restore baseUrl of the provider "old".*OTHER_BASE_URL/);
  });
});

describe("create", () => {
  it("create registers exactly what is declared, after one list for all resources", async () => {
    const made = await command.create({ ...inputs, ip: "192.0.2.0/24" });
    await command.create({ ...inputs, type: "development" });
    expect(sent()).toEqual(["list", "register", "register"]);
    const [endpoint] = emulator.endpoints();
    expect(endpoint).toMatchObject({ url, type: "production", ip: "192.0.2.0/24" });
    expect(made).toEqual({
      id: endpoint?.id,
      properties: {
        url,
        type: "production",
        ip: "192.0.2.0/24",
        createdAt: null,
        updatedAt: null,
        baseUrl: emulator.url,
        account: expect.stringMatching(/^[0-9a-f]{6}$/),
      },
    });
  });

  it.each([3_600_000, -3_600_000])(
    "create finds the endpoint whose answer was lost, on a service whose clock is %d ms off",
    async (off) => {
      await emulator.close();
      emulator = await startEmulator({ now: () => Date.now() + off });
      emulator.add({ url, type: "production" });
      command = await begin({ "webhooks:timeoutSeconds": "5" });
      emulator.fault({ operation: "register", kind: "reset-after" });
      const { id } = await command.create(inputs);
      expect(id).toBe(emulator.endpoints()[1]?.id);
    },
  );

  it("create does not register when the service cannot list what exists", async () => {
    emulator.fault({ operation: "list", kind: "status", status: 400, times: Number.POSITIVE_INFINITY });
    const { message } = await failure(command.create(inputs));
    expect(message).toMatch(/REJECTED/);
    expect(emulator.endpoints()).toEqual([]);
  });

  it("create leaves nothing in the state when the registration was certainly not made", async () => {
    emulator.fault({ operation: "register", kind: "status", status: 422, body: "t0ken" });
    const error = await failure(command.create(inputs));
    expect(error.halfMade).toBeUndefined();
    expect(error.message).toMatch(/422.*REJECTED/s);
    expect(error.message).not.toMatch(/t0ken/);
  });

  it("create shows the service's refusal only with showResponses, in a warning, cut and without the key", async () => {
    const body = `{"reason":"no such type\u0007\\n","key":"${emulator.apiKey}","more":"${"x".repeat(600)}"}`;
    emulator.fault({ operation: "register", kind: "status", status: 422, body, times: 2 });
    const quiet = await failure(command.create(inputs));
    expect(quiet.message).toMatch(/config set webhooks:showResponses true.*WEBHOOKS_SHOW_RESPONSES/);
    command = await begin({ "webhooks:showResponses": "true" });
    const refused = await failure(command.create(inputs));
    const [shown = "", ...others] = await warnings();
    expect(others).toEqual([]);
    expect(shown).toMatch(/^the service answered 422: \{"reason":"no such type/);
    expect(shown).toMatch(/"key":"\[secret\]".*x … \(cut\)$/);
    expect(shown).not.toMatch(/\p{Cc}/u);
    expect(shown.length).toBeLessThan(560);
    for (const { message } of [quiet, refused]) expect(message).not.toMatch(/no such type/);
  });

  it("read does not show the service's answer about an endpoint that is gone", async () => {
    const { id, properties } = await command.create(inputs);
    emulator.remove(id);
    command = await begin({ "webhooks:showResponses": "true" });
    expect(await command.read(id, properties)).toBeUndefined();
    expect(await warnings()).toEqual([]);
  });

  it("create adopts exactly the endpoint that adoptId names, and changes nothing at the service", async () => {
    const { id } = emulator.add({ url: "https://HOOKS.example.com:443/t0ken/jobs", type: "production" });
    const made = await command.create({ ...inputs, adoptId: id });
    expect(made.id).toBe(id);
    expect(made.properties).toMatchObject({ url });
    expect(sent()).toEqual(["get"]);
  });

  it.each<[string, object, RegExp]>([
    ["another url", { url: "https://other.example.com/t0ken" }, /its url at the service.*ADOPT_MISMATCH/],
    ["another type", { type: "development" }, /its type at the service.*ADOPT_MISMATCH/],
    ["another id", { adoptId: "wh_none" }, /no endpoint with this id.*ADOPT_NOT_FOUND/],
  ])("create refuses to adopt an endpoint of %s", async (_, change, message) => {
    const { id } = emulator.add({ url, type: "production" });
    const error = await failure(command.create({ ...inputs, adoptId: id, ...change }));
    expect(error.message).toMatch(message);
    expect(emulator.endpoints()).toHaveLength(1);
  });

  it("create does not let two resources adopt the same endpoint", async () => {
    const { id } = emulator.add({ url, type: "production" });
    const both = await Promise.allSettled([
      command.create({ ...inputs, adoptId: id }),
      command.create({ ...inputs, adoptId: id }),
    ]);
    expect(both.map((result) => result.status)).toEqual(["fulfilled", "rejected"]);
    expect((await failure(command.create({ ...inputs, adoptId: id }))).message).toMatch(/ADOPT_TAKEN/);
  });

  it("adoptId has no effect once the resource exists", async () => {
    const { id } = emulator.add({ url, type: "production" });
    const { properties } = await command.create({ ...inputs, adoptId: id });
    const next = await begin();
    const changed = { ...inputs, url: "https://new.example.com/", adoptId: id };
    expect((await next.diff(id, properties, changed)).replaces).toEqual(["url"]);
    const replacement = await next.create(changed);
    expect(replacement.id).not.toBe(id);
    await next.delete(id, properties);
    expect(emulator.endpoints().map((endpoint) => endpoint.id)).toEqual([replacement.id]);
  });

  it("create reports that it waits when the service asks for that", async () => {
    emulator.fault({ operation: "register", kind: "status", status: 429, headers: { "retry-after": "1" } });
    await command.create(inputs);
    expect(plugin.logs).toContainEqual({
      severity: "info",
      message: expect.stringMatching(/register waits \d+ s.*429/),
    });
    expect(emulator.endpoints()).toHaveLength(1);
  });
});

describe("read", () => {
  it("read returns the endpoint as it is, and keeps the declared inputs", async () => {
    const { id, properties } = await command.create({ ...inputs, ip: "192.0.2.1", ifExists: "fail" });
    const [endpoint] = emulator.endpoints();
    const read = await (await begin()).read(id, properties);
    expect(read).toEqual({
      id,
      properties: { ...properties, createdAt: endpoint?.createdAt, updatedAt: endpoint?.updatedAt },
    });
  });

  it("read shows a change behind Pulumi's back, so that the next up corrects it", async () => {
    const { id, properties } = await command.create(inputs);
    emulator.edit(id, { url: "https://edited.example.com/" });
    const next = await begin();
    const read = await next.read(id, properties);
    expect(read?.inputs).toEqual({ ...inputs, url: "https://edited.example.com/" });
    expect(read?.properties).toMatchObject({ url: "https://edited.example.com/" });
    const replaces = await (await begin()).diff(id, read?.properties ?? {}, inputs);
    expect(replaces.replaces).toEqual(["url"]);
  });

  it("read treats a url that differs only in spelling as the same url", async () => {
    await emulator.close();
    emulator = await startEmulator({ normalizeUrls: true });
    const spelled = { ...inputs, url: "https://HOOKS.example.com:443/%7ejobs" };
    const { id, properties } = await (await begin()).create(spelled);
    expect(emulator.endpoints()[0]?.url).not.toBe(spelled.url);
    const read = await (await begin()).read(id, properties);
    expect(read?.properties).toMatchObject({ url: spelled.url });
    expect(read?.inputs).toBeUndefined();
    expect((await (await begin()).diff(id, read?.properties ?? {}, spelled)).changes).toBe(false);
  });

  it("read reports a recorded endpoint as gone, but fails for an id that no state knows", async () => {
    const { id, properties } = await command.create(inputs);
    emulator.remove(id);
    expect(await (await begin()).read(id, properties)).toBeUndefined();
    expect((await failure((await begin()).read(id, {}))).message).toMatch(/no endpoint.*ENDPOINT_NOT_FOUND/);
  });

  it.each([404, 410])(
    "read does not report an endpoint as gone after a single %i that the list contradicts",
    async (status) => {
      const { id, properties } = await command.create(inputs);
      const next = await begin();
      emulator.clearRequests();
      emulator.fault({ operation: "get", kind: "status", status });
      expect(await next.read(id, properties)).toMatchObject({ id });
      expect(sent()).toEqual(["get", "list"]);
    },
  );

  it("read and delete treat 410 as gone", async () => {
    const { id, properties } = await command.create(inputs);
    emulator.remove(id);
    emulator.fault({ operation: "any", id, kind: "status", status: 410, times: 2 });
    expect(await (await begin()).read(id, properties)).toBeUndefined();
    await (await begin()).delete(id, properties);
  });

  it("read never reports an endpoint as gone that was registered at another base URL", async () => {
    const { id, properties } = await command.create(inputs);
    emulator.remove(id);
    const { message } = await failure(
      (await begin()).read(id, { ...properties, baseUrl: "https://old.example.com" }),
    );
    expect(message).toMatch(/old\.example\.com.*OTHER_BASE_URL/);
  });

  it.each([401, 403])(
    "read and delete explain a key that is refused with %i, and what to do",
    async (statusCode) => {
      const { id, properties } = await command.create(inputs);
      const next = await begin();
      emulator.fault({
        operation: "any",
        kind: "status",
        status: statusCode,
        times: Number.POSITIVE_INFINITY,
      });
      for (const verb of ["read", "delete"] as const)
        expect((await failure(next[verb](id, properties))).message).toMatch(
          /pulumi up.*--run-program.*KEY_REFUSED/,
        );
      emulator.clearFaults();
      expect(emulator.endpoints()).toHaveLength(1);
    },
  );

  it("reading an endpoint that is managed elsewhere does not affect the resource that manages it", async () => {
    const made = await command.create(inputs);
    const external = await command.read(made.id, {});
    command = await begin();
    await command.read(made.id, external?.properties ?? {});
    const changed = { ...inputs, ip: "192.0.2.1" };
    expect(await command.diff(made.id, made.properties, changed)).toMatchObject({ replaces: ["ip"] });
    await command.create({ ...changed, ifExists: "fail" });
    await command.delete(made.id, made.properties);
    expect(emulator.endpoints()).toHaveLength(1);
  });

  it("read warns that a missing endpoint may be in the account of the key that registered it", async () => {
    const { id, properties } = await command.create(inputs);
    emulator.remove(id);
    command = await begin();
    expect(await command.read(id, { ...properties, account: "0ther0" })).toBeUndefined();
    expect(await warnings()).toEqual([expect.stringMatching(/registered with a different key/)]);
  });

  it("read warns about another account after three misses, unless it has found any endpoint", async () => {
    const made = [];
    for (const path of ["a", "b", "c", "d"])
      made.push(await command.create({ ...inputs, url: `${url}/${path}` }));
    for (const { id } of made.slice(1)) emulator.remove(id);
    const one = await begin();
    for (const { id, properties } of made) await one.read(id, properties);
    expect(await warnings()).toEqual([]);
    const two = await begin();
    for (const { id, properties } of made.slice(1)) await two.read(id, properties);
    expect(await warnings()).toEqual([expect.stringMatching(/another account/)]);
  });

  it.each([
    ["all at once", 200],
    ["one by one", 1],
  ])("200 reads, %s, share one list of 5,000 endpoints and more", async (_, atOnce) => {
    for (let index = 0; index < 5_000; index++)
      emulator.add({ url: `https://x.example.com/${index}`, type: "production" });
    const ours = Array.from({ length: 200 }, (_, index) =>
      emulator.add({ url: `${url}/${index}`, type: "production" }),
    );
    const state = (await (await begin({ "webhooks:timeoutSeconds": "30" })).create(inputs)).properties;
    emulator.clearRequests();
    const next = await begin({ "webhooks:timeoutSeconds": "30" });
    for (let start = 0; start < ours.length; start += atOnce) {
      const some = ours.slice(start, start + atOnce);
      const reads = await Promise.all(some.map(({ id, url: own }) => next.read(id, { ...state, url: own })));
      expect(reads.map((read) => read?.id)).toEqual(some.map(({ id }) => id));
    }
    expect(sent().length).toBeLessThanOrEqual(3);
  });

  it("read reports nothing as gone because of a partial or failed list", async () => {
    await emulator.close();
    emulator = await startEmulator({ pageSize: 2 });
    const made = [];
    const first = await begin();
    for (const path of ["a", "b", "c", "d", "e"])
      made.push(await first.create({ ...inputs, url: `${url}/${path}` }));
    const second = await begin();
    const reads = await Promise.all(made.map(({ id, properties }) => second.read(id, properties)));
    expect(reads.map((read) => read?.id)).toEqual(made.map(({ id }) => id));
    emulator.fault({ operation: "list", kind: "status", status: 404, times: Number.POSITIVE_INFINITY });
    const third = await begin();
    const again = await Promise.all(made.map(({ id, properties }) => third.read(id, properties)));
    expect(again.map((read) => read?.id)).toEqual(made.map(({ id }) => id));
  });
});

describe("delete", () => {
  it("delete succeeds for an endpoint that is gone already", async () => {
    const { id, properties } = await command.create(inputs);
    const next = await begin();
    await next.delete(id, properties);
    await next.delete(id, properties);
    expect(emulator.endpoints()).toEqual([]);
  });

  it("delete spares an endpoint that this run registered, adopted or keeps", async () => {
    const made = await command.create(inputs);
    await command.delete(made.id, made.properties);
    const next = await begin();
    await next.diff(made.id, made.properties, inputs);
    await next.delete(made.id, made.properties);
    const third = await begin();
    await third.create({ ...inputs, adoptId: made.id });
    await third.delete(made.id, made.properties);
    expect(emulator.endpoints().map(({ id }) => id)).toEqual([made.id]);
    expect((await warnings()).filter((message) => message.includes("is not deleted"))).toHaveLength(3);
  });

  it("delete repeats a request that was answered with 404 while the list has the endpoint", async () => {
    const { id, properties } = await command.create(inputs);
    emulator.fault({ operation: "delete", kind: "status", status: 404 });
    await (await begin()).delete(id, properties);
    expect(emulator.endpoints()).toEqual([]);
  });

  it("delete fails while the service answers 404 and still lists the endpoint", async () => {
    const { id, properties } = await command.create(inputs);
    emulator.fault({ operation: "delete", kind: "status", status: 404, times: 2 });
    expect((await failure((await begin()).delete(id, properties))).message).toMatch(
      /404.*still lists.*REJECTED/,
    );
  });

  it("delete succeeds for an endpoint that disappeared after the refresh of the same run", async () => {
    const [one, two] = [
      await command.create(inputs),
      await command.create({ ...inputs, type: "development" }),
    ];
    const next = await begin();
    await Promise.all([next.read(one.id, one.properties), next.read(two.id, two.properties)]);
    emulator.remove(one.id);
    await next.delete(one.id, one.properties);
  });

  it("delete deletes an endpoint that a refresh of the same run has read", async () => {
    const { id, properties } = await command.create(inputs);
    const next = await begin();
    const read = await next.read(id, properties);
    await next.diff(id, read?.properties ?? {}, inputs);
    await next.delete(id, read?.properties ?? {});
    expect(emulator.endpoints()).toEqual([]);
  });

  it("delete fails for a missing endpoint that was registered at another base URL", async () => {
    const { properties } = await command.create(inputs);
    const { message } = await failure(
      (await begin()).delete("wh_gone", { ...properties, baseUrl: "https://old.example.com" }),
    );
    expect(message).toMatch(/OTHER_BASE_URL/);
  });
});

function defined(properties: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}
