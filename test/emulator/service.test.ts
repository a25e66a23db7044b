import { call, HOOK, outcome, started, until } from "./support";

describe("API keys and accounts", () => {
  test("a request without a valid API key gets 401, whatever it asks for", async () => {
    const emulator = await started({ apiKey: "right" });
    const { id } = emulator.add(HOOK);
    for (const request of [
      "GET /webhooks",
      `GET /webhooks/${id}`,
      `DELETE /webhooks/${id}`,
      "POST /webhooks",
      "PUT /webhooks",
    ]) {
      for (const key of ["wrong", "", "Bearer right", "constructor"]) {
        const response = await call(emulator, request, { key });
        expect([response.status, await response.json()]).toEqual([
          401,
          { error: "unauthorized", message: "A valid API key is required, as X-Api-Key: <key>." },
        ]);
      }
    }
    expect(emulator.endpoints()).toHaveLength(1);
  });

  test("apiKeyHeader and apiKeyScheme say where the API key is expected", async () => {
    const emulator = await started({ apiKey: "k", apiKeyHeader: "Authorization", apiKeyScheme: "Bearer" });
    const by = async (authorization: string) =>
      (await call(emulator, "GET /webhooks", { headers: { authorization } })).status;
    expect(await by("Bearer k")).toBe(200);
    expect(await by("bearer k")).toBe(200);
    expect(await by("k")).toBe(401);
    expect(await by("Basic k")).toBe(401);
    expect((await call(emulator, "GET /webhooks")).status).toBe(401);
  });

  test("an account cannot see or delete endpoints of another account", async () => {
    const emulator = await started({ apiKey: "a", accounts: { b: "other", c: "other" } });
    const mine = emulator.add(HOOK);
    const { id } = (await (await call(emulator, "POST /webhooks", { key: "b", body: HOOK })).json()) as {
      id: string;
    };
    expect(await (await call(emulator, "GET /webhooks")).json()).toMatchObject([{ id: mine.id }]);
    expect(await (await call(emulator, "GET /webhooks", { key: "c" })).json()).toMatchObject([{ id }]);
    expect((await call(emulator, `GET /webhooks/${id}`)).status).toBe(404);
    expect((await call(emulator, `DELETE /webhooks/${id}`)).status).toBe(404);
    expect(emulator.endpoints("default")).toEqual([mine]);
    expect(emulator.endpoints("other").map((endpoint) => endpoint.id)).toEqual([id]);
    expect(emulator.endpoints()).toHaveLength(2);
    expect(emulator.requests.map(({ account }) => account)).toContain("other");
    expect(() => emulator.add(HOOK, "nobody")).toThrow("Known accounts: default, other.");
  });

  test("rotateKey replaces a key at once and keeps the account", async () => {
    const emulator = await started({ apiKey: "old", accounts: { taken: "other" } });
    emulator.add(HOOK);
    emulator.rotateKey("old", "new");
    expect(emulator.apiKey).toBe("new");
    expect((await call(emulator, "GET /webhooks", { key: "old" })).status).toBe(401);
    expect(await (await call(emulator, "GET /webhooks")).json()).toHaveLength(1);
    expect(() => emulator.rotateKey("unheard-of", "x")).toThrow(/^(?!.*unheard-of)/);
    expect(() => emulator.rotateKey("new", "taken")).toThrow("in use");
  });
});

describe("changes without a request", () => {
  test("add, edit and remove change endpoints without a request", async () => {
    let time = 1000;
    const emulator = await started({ now: () => time });
    const { id } = emulator.add({ ...HOOK, ip: "192.0.2.1" });
    time = 2000;
    const edited = emulator.edit(id, { type: "development" });
    expect(edited).toEqual({
      ...HOOK,
      id,
      type: "development",
      ip: "192.0.2.1",
      createdAt: "1970-01-01T00:00:01.000Z",
      updatedAt: "1970-01-01T00:00:02.000Z",
    });
    expect(await (await call(emulator, `GET /webhooks/${id}`)).json()).toMatchObject({ type: "development" });
    expect(emulator.remove(id)).toEqual(edited);
    expect((await call(emulator, `GET /webhooks/${id}`)).status).toBe(404);
    expect(() => emulator.remove(id)).toThrow(expect.objectContaining({ code: "EMULATOR_UNKNOWN_ENDPOINT" }));
  });

  test("an endpoint that was returned earlier does not change", async () => {
    const emulator = await started();
    const endpoint = emulator.add(HOOK);
    emulator.edit(endpoint.id, { url: "https://example.com/other" });
    expect(endpoint.url).toBe(HOOK.url);
    expect(Object.isFrozen(endpoint)).toBe(true);
  });
});

describe("lists", () => {
  test.each(["data", "items", "webhooks", "endpoints", "results"] as const)(
    "a list can be an object with the endpoints under %s",
    async (listShape) => {
      const emulator = await started({ listShape });
      const { id } = emulator.add(HOOK);
      expect(await (await call(emulator, "GET /webhooks")).json()).toEqual({
        [listShape]: [expect.objectContaining({ id })],
      });
    },
  );

  test.each([
    ["next", "/webhooks?cursor=2", null],
    ["hasMore", true, false],
    ["has_more", true, false],
    ["nextCursor", "2", null],
  ] as const)("a page announces the next one by %s", async (moreSign, more, noMore) => {
    const emulator = await started({ listShape: "data", pageSize: 2, moreSign });
    const ids = [1, 2, 3].map(() => emulator.add(HOOK).id);
    const first = await (await call(emulator, "GET /webhooks")).json();
    expect(first).toEqual({
      data: ids.slice(0, 2).map((id) => expect.objectContaining({ id })),
      [moreSign]: more,
    });
    const second = await (await call(emulator, "GET /webhooks?cursor=2")).json();
    expect(second).toEqual({ data: [expect.objectContaining({ id: ids[2] })], [moreSign]: noMore });
  });

  test("a page that is a bare array announces the next one by a Link header", async () => {
    const emulator = await started({ pageSize: 1 });
    emulator.add(HOOK);
    expect((await call(emulator, "GET /webhooks")).headers.get("link")).toBeNull();
    emulator.add(HOOK);
    const response = await call(emulator, "GET /webhooks");
    expect(response.headers.get("link")).toBe('</webhooks?cursor=1>; rel="next"');
    expect(await response.json()).toHaveLength(1);
  });
});

describe("rate and latency", () => {
  test("requests above the rate limit of an account get 429 with Retry-After", async () => {
    const emulator = await started({
      rateLimit: { requestsPerSecond: 0.01, burst: 2 },
      accounts: { b: "other" },
    });
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await call(emulator, "GET /webhooks")).status);
    expect(statuses).toEqual([200, 200, 429]);
    const limited = await call(emulator, "POST /webhooks", { body: HOOK });
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(90);
    expect(emulator.endpoints()).toEqual([]);
    expect((await call(emulator, "GET /webhooks", { key: "b" })).status).toBe(200);
  });

  test("latency delays answers, and a request takes effect even if its client disconnects", async () => {
    const emulator = await started({ latencyMs: 400 });
    const client = new AbortController();
    const left = outcome(call(emulator, "POST /webhooks", { body: HOOK, signal: client.signal }));
    await until(() => emulator.requests[0]?.body !== undefined);
    client.abort();
    expect([await left, emulator.endpoints()]).toEqual(["gave up", []]);
    const begun = performance.now();
    const listed = await (await call(emulator, "GET /webhooks")).json();
    expect(performance.now() - begun).toBeGreaterThan(390);
    expect(listed).toHaveLength(1);
  });
});

describe("the request log", () => {
  test("the request log holds each request in the order of arrival, without its API key", async () => {
    const emulator = await started({ apiKey: "a-key-to-look-for" });
    await call(emulator, "POST /webhooks", { body: HOOK });
    await call(emulator, "POST /webhooks", { body: "no json" });
    await call(emulator, "GET /webhooks?cursor=0");
    await call(emulator, "DELETE /webhooks/wh_1", { key: "wrong" });
    await call(emulator, "GET /elsewhere");
    const at = expect.any(Number);
    expect(emulator.requests).toEqual([
      {
        at,
        method: "POST",
        path: "/webhooks",
        operation: "register",
        account: "default",
        statusCode: 201,
        body: HOOK,
      },
      {
        at,
        method: "POST",
        path: "/webhooks",
        operation: "register",
        account: "default",
        statusCode: 400,
        body: "no json",
      },
      {
        at,
        method: "GET",
        path: "/webhooks?cursor=0",
        operation: "list",
        account: "default",
        statusCode: 200,
      },
      { at, method: "DELETE", path: "/webhooks/wh_1", operation: "delete", account: null, statusCode: 401 },
      { at, method: "GET", path: "/elsewhere", operation: null, account: "default", statusCode: 404 },
    ]);
    expect(JSON.stringify(emulator.requests)).not.toContain("a-key-to-look-for");

    const before = emulator.requests;
    emulator.clearRequests();
    expect([before.length, emulator.requests.length]).toEqual([5, 0]);
  });
});
