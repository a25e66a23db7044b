import { inPages, normalizing } from "../emulator/odd";
import {
  begin,
  command,
  continueWith,
  emulator,
  failure,
  inputs,
  replaceEmulator,
  sent,
  url,
  warnings,
} from "./verbs";

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
    await replaceEmulator({ answer: normalizing });
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
    await continueWith();
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
    await continueWith();
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
    await replaceEmulator({ answer: inPages(2) });
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
