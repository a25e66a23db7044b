import { startEmulator } from "../../src/emulator";
import { FastClock } from "./fastClock";
import {
  begin,
  command,
  continueWith,
  emulator,
  failure,
  inputs,
  plugin,
  sent,
  url,
  warnings,
} from "./verbs";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

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
    ["a list of ips", { ip: ["192.0.2.1"] }, /ip must be/],
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
    const clock = new FastClock(10);
    const slow = { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey };
    const timed = await plugin.command(slow, { clock });
    emulator.fault({ operation: "register", kind: "delay", delayMs: 400, times: 2 });
    await Promise.all(["a", "b"].map((path) => timed.create({ ...inputs, url: `${url}/${path}` })));
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
    await continueWith();
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
      await continueWith();
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
    await continueWith();
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
    await continueWith();
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

function defined(properties: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}
