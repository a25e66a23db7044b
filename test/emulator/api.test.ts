import { call, HOOK, started } from "./support";

describe("the management API", () => {
  test("the API registers, gets, lists and deletes an endpoint", async () => {
    const emulator = await started();
    const registered = await call(emulator, "POST /webhooks", { body: { ...HOOK, ip: "192.0.2.0/24" } });
    const endpoint = (await registered.json()) as { id: string };
    expect(registered.status).toBe(201);
    expect(endpoint).toEqual({ id: expect.stringMatching(/^wh_[0-9a-f]{24}$/), ...HOOK });

    const shown = { ...endpoint, createdAt: expect.any(String), updatedAt: expect.any(String) };
    expect(await (await call(emulator, `GET /webhooks/${endpoint.id}`)).json()).toEqual(shown);
    expect(await (await call(emulator, "GET /webhooks")).json()).toEqual([shown]);
    expect(emulator.endpoints()).toEqual([{ ...shown, ip: "192.0.2.0/24" }]);

    const deleted = await call(emulator, `DELETE /webhooks/${endpoint.id}`);
    expect([deleted.status, await deleted.text()]).toEqual([204, ""]);
    expect((await call(emulator, `GET /webhooks/${endpoint.id}`)).status).toBe(404);
    expect((await call(emulator, `DELETE /webhooks/${endpoint.id}`)).status).toBe(404);
    expect(emulator.endpoints()).toEqual([]);
  });

  test("the API registers the same URL twice", async () => {
    const emulator = await started();
    await call(emulator, "POST /webhooks", { body: HOOK });
    await call(emulator, "POST /webhooks", { body: HOOK });
    expect(new Set(emulator.endpoints().map(({ id }) => id)).size).toBe(2);
  });

  test.each([
    ["a body that is not JSON", "{url:"],
    ["an empty body", ""],
    ["an array", []],
    ["null", "null"],
    ["no URL", { type: "production" }],
    ["a relative URL", { ...HOOK, url: "/hook" }],
    ["a URL without a host", { ...HOOK, url: "http:///hook" }],
    ["an ftp URL", { ...HOOK, url: "ftp://example.com" }],
    ["no type", { url: HOOK.url }],
    ["an unknown type", { ...HOOK, type: "staging" }],
    ["an inherited property name as type", { ...HOOK, type: "toString" }],
    ["a host name as ip", { ...HOOK, ip: "example.com" }],
    ["a prefix length above 32", { ...HOOK, ip: "10.0.0.0/33" }],
    ["a prefix length that begins with 0", { ...HOOK, ip: "10.0.0.0/08" }],
    ["an address with a zone as ip", { ...HOOK, ip: "fe80::1%eth0" }],
    ["a number as ip", { ...HOOK, ip: 7 }],
  ])("the API answers 400 to a registration with %s", async (_, body) => {
    const emulator = await started();
    const response = await call(emulator, "POST /webhooks", { body });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: "invalid_request", message: expect.any(String) });
    expect(emulator.endpoints()).toEqual([]);
  });

  test.each(["192.0.2.1", "192.0.2.0/24", "2001:db8::1", "2001:db8::/128"])(
    "the API accepts %s as ip",
    async (ip) => {
      const emulator = await started();
      expect((await call(emulator, "POST /webhooks", { body: { ...HOOK, ip } })).status).toBe(201);
      expect(emulator.endpoints()[0]?.ip).toBe(ip);
    },
  );

  test("a 405 answer lists the methods of the path", async () => {
    const emulator = await started();
    const collection = await call(emulator, "PUT /webhooks", { body: HOOK });
    expect([collection.status, collection.headers.get("allow")]).toEqual([405, "POST, GET"]);
    const item = await call(emulator, "PATCH /webhooks/wh_1", { body: HOOK });
    expect([item.status, item.headers.get("allow")]).toEqual([405, "GET, DELETE"]);
  });

  test.each([
    "GET /",
    "GET /webhook",
    "GET /webhooks/",
    "GET /webhooks/a/b",
    "GET /webhooks/%E0%A4%A",
    "GET /constructor",
  ])("the API answers 404 to %s", async (request) => {
    expect((await call(await started(), request)).status).toBe(404);
  });

  test("the API accepts a body of 64 KiB and answers 413 to a larger one", async () => {
    const emulator = await started();
    for (const bytes of [65_000, 1_000_000]) {
      const body = { ...HOOK, url: `https://example.com/${"a".repeat(bytes)}` };
      expect((await call(emulator, "POST /webhooks", { body })).status).toBe(bytes > 65_536 ? 413 : 201);
    }
    expect(emulator.endpoints()).toHaveLength(1);
  });

  test("the API finds an id with special characters by its percent-encoded form", async () => {
    const emulator = await started({ newId: () => "a/b?c é%" });
    const { id } = emulator.add(HOOK);
    expect((await call(emulator, `GET /webhooks/${encodeURIComponent(id)}`)).status).toBe(200);
    expect((await call(emulator, `DELETE /webhooks/${encodeURIComponent(id)}`)).status).toBe(204);
  });

  test("the API stores URLs as written, and normalizes them with normalizeUrls", async () => {
    const url = "HTTPS://Example.com:443";
    const odd = await started({ normalizeUrls: true });
    expect(odd.add({ url: "not a url", type: "production" }).url).toBe("not a url");
    const asWritten = await started();
    const normalizing = await started({ normalizeUrls: true });
    expect(await (await call(asWritten, "POST /webhooks", { body: { ...HOOK, url } })).json()).toMatchObject({
      url,
    });
    expect(
      await (await call(normalizing, "POST /webhooks", { body: { ...HOOK, url } })).json(),
    ).toMatchObject({
      url: "https://example.com/",
    });
  });

  test("the API is served below basePath only", async () => {
    const emulator = await started({ basePath: "/api/v1/" });
    expect(emulator.url).toMatch(/\/api\/v1$/);
    expect((await call(emulator, "GET /webhooks")).status).toBe(200);
    expect((await fetch(new URL("/webhooks", emulator.url))).status).toBe(404);
  });

  test("timestamps, the Date header and the request log use the emulator's clock", async () => {
    const emulator = await started({ now: () => Date.UTC(2031, 0, 2, 3, 4, 5) });
    const response = await call(emulator, "POST /webhooks", { body: HOOK });
    expect(response.headers.get("date")).toBe("Thu, 02 Jan 2031 03:04:05 GMT");
    expect(emulator.endpoints()[0]).toMatchObject({
      createdAt: "2031-01-02T03:04:05.000Z",
      updatedAt: "2031-01-02T03:04:05.000Z",
    });
    expect(emulator.requests[0]?.at).toBe(Date.UTC(2031, 0, 2, 3, 4, 5));
  });

  test("the API lists five thousand endpoints", async () => {
    const emulator = await started();
    for (let n = 0; n < 5000; n += 1) emulator.add({ ...HOOK, url: `https://example.com/${n}` });
    expect(await (await call(emulator, "GET /webhooks")).json()).toHaveLength(5000);
  });
});
