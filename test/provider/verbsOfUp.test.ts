import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import {
  begin,
  command,
  continueWith,
  emulator,
  failure,
  inputs,
  plugin,
  replaceEmulator,
  sent,
  url,
  warnings,
} from "./verbs";

it("the provider's code and type in users' state never change", () => {
  expect(PROVIDER_CODE).toBe(
    'exports.handler = () => require("pulumi-webhook-endpoints/provider").provider;',
  );
  expect(TYPE_TOKEN).toBe("pulumi-nodejs:dynamic/webhooks:WebhookEndpoint");
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
      await replaceEmulator({ now: () => Date.now() + off });
      emulator.add({ url, type: "production" });
      await continueWith({ "webhooks:timeoutSeconds": "5" });
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
    await continueWith({ "webhooks:showResponses": "true" });
    const refused = await failure(command.create(inputs));
    const [shown = "", ...others] = await warnings();
    expect(others).toEqual([]);
    expect(shown).toMatch(/^the service answered 422: \{"reason":"no such type/);
    expect(shown).toMatch(/"key":"\[secret\]".*x … \(cut\)$/);
    expect(shown).not.toMatch(/\p{Cc}/u);
    expect(shown.length).toBeLessThan(560);
    for (const { message } of [quiet, refused]) expect(message).not.toMatch(/no such type/);
  });

  it("a refusal shows no key and no signing secret that the service has escaped", async () => {
    const escaped = Array.from(emulator.apiKey, (each) => `\\u00${each.charCodeAt(0).toString(16)}`).join("");
    const body = String.raw`{"key":"${escaped}","secret":"whsec_ab\/cd\u002Bef"}`;
    emulator.fault({ operation: "register", kind: "status", status: 422, body });
    await continueWith({ "webhooks:showResponses": "true" });
    await failure(command.create(inputs));
    expect(await warnings()).toEqual([
      expect.stringMatching(/: \{"key":"\[secret\]","secret":"\[secret\]"\}$/),
    ]);
  });

  it("read does not show the service's answer about an endpoint that is gone", async () => {
    const { id, properties } = await command.create(inputs);
    emulator.remove(id);
    await continueWith({ "webhooks:showResponses": "true" });
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
