import { once } from "node:events";
import { request } from "node:http";
import { NewestEntries } from "../../src/emulator/newestEntries";
import { sendWithoutEnd } from "../hostile/sender";
import { visit } from "../page/visit";
import { call, HOOK, started } from "./support";

describe("the management API", () => {
  test("the API registers, gets, lists and deletes an endpoint, and registers a url twice, as written", async () => {
    const emulator = await started();
    const registered = await call(emulator, "POST /webhooks", { body: { ...HOOK, ip: "192.0.2.0/24" } });
    const endpoint = (await registered.json()) as { id: string };
    expect(registered.status).toBe(201);
    expect(endpoint).toEqual({ id: expect.stringMatching(/^wh_[0-9a-f]{24}$/), ...HOOK });

    const shown = { ...endpoint, createdAt: expect.any(String), updatedAt: expect.any(String) };
    expect(await (await call(emulator, `GET /webhooks/${endpoint.id}`)).json()).toEqual(shown);
    expect(await (await call(emulator, "GET /webhooks")).json()).toEqual([shown]);
    expect(emulator.endpoints()).toEqual([{ ...shown, account: "default", ip: "192.0.2.0/24" }]);

    const deleted = await call(emulator, `DELETE /webhooks/${endpoint.id}`);
    expect([deleted.status, await deleted.text()]).toEqual([204, ""]);
    for (const request of [`GET /webhooks/${endpoint.id}`, `DELETE /webhooks/${endpoint.id}`])
      expect((await call(emulator, request)).status).toBe(404);
    expect(emulator.endpoints()).toEqual([]);

    // The same url twice, and as written.
    const body = { ...HOOK, url: "HTTPS://Example.com:443" };
    for (let n = 0; n < 2; n += 1) await call(emulator, "POST /webhooks", { body });
    expect(emulator.endpoints().map(({ url }) => url)).toEqual([body.url, body.url]);
  });

  test.each([
    ["a body that is not JSON", "{url:"],
    ["an empty body", ""],
    ["an array", []],
    ["no url", { type: "production" }],
    ["a relative url", { ...HOOK, url: "/hook" }],
    ["a url without a host", { ...HOOK, url: "http:///hook" }],
    ["an ftp url", { ...HOOK, url: "ftp://example.com" }],
    ["no type", { url: HOOK.url }],
    ["an unknown type", { ...HOOK, type: "staging" }],
    ["a host name as ip", { ...HOOK, ip: "example.com" }],
    ["a prefix length above 32", { ...HOOK, ip: "10.0.0.0/33" }],
  ])("the API responds with 400 to a registration with %s", async (_, body) => {
    const emulator = await started();
    const response = await call(emulator, "POST /webhooks", { body });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: "invalid_request", message: expect.any(String) });
    expect(emulator.endpoints()).toEqual([]);
  });

  test("no body is read without a key, and none of more than 1 MiB with one", async () => {
    const emulator = await started();
    // Its body never comes.
    const asking = request(`${emulator.url}/webhooks`, { method: "POST", headers: { "content-length": 5 } });
    asking.on("error", () => undefined).flushHeaders();
    const [response] = await once(asking, "response");
    expect(response.statusCode).toBe(401);
    asking.destroy();
    const body = "x".repeat(1024 * 1024 + 1);
    expect((await call(emulator, "POST /webhooks", { body })).status).toBe(413);
    expect(emulator.requests.map((each) => each.body)).toEqual([undefined, undefined]);
  });

  test("a body without an end ends its connection, with a key or without, at the page, and where the path cannot be read", async () => {
    const emulator = await started({ apiKey: "right" });
    const targets = [
      ["/webhooks", { "x-api-key": "another" }],
      ["/webhooks", { "x-api-key": "right" }],
      ...["/_emulator/", "/_emulator/clear", "/webhooks/%ff"].map((path) => [path, {}] as const),
    ] as const;
    const cuts = await Promise.all(
      targets.map(([path, headers]) => sendWithoutEnd(`${emulator.url}${path}`, headers)),
    );
    for (const { sent } of cuts) expect(sent).toBeLessThan(100 * 1024 * 1024);
    const statuses = emulator.requests.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([401, 413]);
  });

  test("the API responds with 404 to another method or path", async () => {
    const emulator = await started();
    for (const request of ["PUT /webhooks", "GET /webhook", "GET /webhooks/", "GET /webhooks/a/b"])
      expect([request, (await call(emulator, request)).status]).toEqual([request, 404]);
  });

  test("the API finds an id with special characters by its percent-encoded form", async () => {
    const emulator = await started({ newId: () => "a/b?c é%" });
    const path = `/webhooks/${encodeURIComponent(emulator.add(HOOK).id)}`;
    expect((await call(emulator, `GET ${path}`)).status).toBe(200);
    expect((await call(emulator, `DELETE ${path}`)).status).toBe(204);
  });

  test("timestamps, the Date header and the log use the emulator's clock", async () => {
    const emulator = await started({ now: () => Date.UTC(2031, 0, 2, 3, 4, 5) });
    const response = await call(emulator, "POST /webhooks", { body: HOOK });
    expect(response.headers.get("date")).toBe("Thu, 02 Jan 2031 03:04:05 GMT");
    const at = "2031-01-02T03:04:05.000Z";
    expect(emulator.endpoints()[0]).toMatchObject({ createdAt: at, updatedAt: at });
    expect(emulator.requests[0]?.at).toBe(Date.parse(at));
  });

  test("a list leaves out an endpoint until lagMs have passed, and get knows it at once", async () => {
    let now = Date.UTC(2031, 0);
    const emulator = await started({ now: () => now, lagMs: 2_000 });
    const { id } = emulator.add(HOOK);
    const listed = async () => (await (await call(emulator, "GET /webhooks")).json()) as unknown[];
    now += 1_999;
    expect(await listed()).toEqual([]);
    expect((await call(emulator, `GET /webhooks/${id}`)).status).toBe(200);
    now += 1;
    expect(await listed()).toHaveLength(1);
  });

  test("the request log has each request in the order of arrival, without its API key", async () => {
    const emulator = await started({ apiKey: "a-key-to-look-for" });
    await call(emulator, "POST /webhooks", { body: HOOK });
    await call(emulator, "POST /webhooks", { body: "no json" });
    await call(emulator, "GET /webhooks?cursor=0");
    await call(emulator, "DELETE /webhooks/wh_1", { key: "wrong" });
    await call(emulator, "GET /elsewhere");
    const entry = (method: string, path: string, operation: string | null, more: object) => {
      return { at: expect.any(Number), method, path, operation, account: "default", ...more };
    };
    expect(emulator.requests).toEqual([
      entry("POST", "/webhooks", "register", { status: 201, body: HOOK }),
      entry("POST", "/webhooks", "register", { status: 400, body: "no json" }),
      entry("GET", "/webhooks?cursor=0", "list", { status: 200 }),
      entry("DELETE", "/webhooks/wh_1", "delete", { account: null, status: 401 }),
      entry("GET", "/elsewhere", null, { status: 404 }),
    ]);
    expect(JSON.stringify(emulator.requests)).not.toContain("a-key-to-look-for");
    const before = emulator.requests;
    emulator.clearRequests();
    expect([before.length, emulator.requests.length]).toEqual([5, 0]);
  });

  test("a log drops its oldest entry when it is full", () => {
    const log = new NewestEntries<number>();
    for (let n = 0; n <= 100_000; n += 1) log.add(n);
    expect([log.entries.length, log.entries[0], log.entries.at(-1)]).toEqual([100_000, 1, 100_000]);
  });
});

describe("API keys and accounts", () => {
  test("a request without a valid API key gets 401, whatever it asks for", async () => {
    const emulator = await started({ apiKey: "right" });
    const { id } = emulator.add(HOOK);
    const item = `/webhooks/${id}`;
    for (const request of ["GET /webhooks", `GET ${item}`, `DELETE ${item}`, "POST /webhooks"])
      for (const key of ["wrong", "", "Bearer right", "constructor"]) {
        const response = await call(emulator, request, { key });
        const message = "A valid API key is required, as X-Api-Key: <key>.";
        expect([response.status, await response.json()]).toEqual([401, { error: "unauthorized", message }]);
      }
    expect(emulator.endpoints()).toHaveLength(1);
  });

  test("the key may be in Authorization, with or without a word before it", async () => {
    const emulator = await started({ apiKey: "k" });
    const statuses = ["Bearer k", "k", "Bearer x", "Bearer"].map(async (authorization) => {
      return (await fetch(`${emulator.url}/webhooks`, { headers: { authorization } })).status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 200, 401, 401]);
  });

  test("an account cannot see or delete endpoints of another account", async () => {
    const emulator = await started({ apiKey: "a", accounts: { b: "other", c: "other" } });
    const mine = emulator.add(HOOK);
    const registered = await call(emulator, "POST /webhooks", { key: "b", body: HOOK });
    const { id } = (await registered.json()) as { id: string };
    expect(await (await call(emulator, "GET /webhooks")).json()).toMatchObject([{ id: mine.id }]);
    expect(await (await call(emulator, "GET /webhooks", { key: "c" })).json()).toMatchObject([{ id }]);
    expect((await call(emulator, `GET /webhooks/${id}`)).status).toBe(404);
    expect((await call(emulator, `DELETE /webhooks/${id}`)).status).toBe(404);
    expect(emulator.endpoints("default")).toEqual([mine]);
    expect(emulator.endpoints("other").map((endpoint) => endpoint.id)).toEqual([id]);
    expect(emulator.endpoints()).toHaveLength(2);
  });

  test("rotateKey replaces a key at once and keeps the account", async () => {
    const emulator = await started({ apiKey: "old" });
    emulator.add(HOOK);
    emulator.rotateKey("old", "new");
    expect(emulator.apiKey).toBe("new");
    expect((await call(emulator, "GET /webhooks", { key: "old" })).status).toBe(401);
    expect(await (await call(emulator, "GET /webhooks")).json()).toHaveLength(1);
    expect(() => emulator.rotateKey("unheard-of", "x")).toThrow(/^Cannot rotate(?!.*unheard-of)/);
    // As a script passes an environment variable that is not set.
    for (const missing of ["", undefined as unknown as string])
      expect(() => emulator.rotateKey("new", missing)).toThrow(
        expect.objectContaining({ code: "EMULATOR_ARGUMENT" }),
      );
    expect((await call(emulator, "GET /webhooks")).status).toBe(200);
  });

  test("add, edit and remove change endpoints without a request, and a snapshot stays as it was", async () => {
    let time = 1000;
    const emulator = await started({ now: () => time });
    const added = emulator.add({ ...HOOK, ip: "192.0.2.1" });
    time = 2000;
    const edited = emulator.edit(added.id, { type: "development" });
    const updatedAt = "1970-01-01T00:00:02.000Z";
    expect(edited).toEqual({ ...added, type: "development", updatedAt });
    expect([added.type, Object.isFrozen(added)]).toEqual(["production", true]);
    expect(emulator.remove(added.id)).toEqual(edited);
    expect((await call(emulator, `GET /webhooks/${added.id}`)).status).toBe(404);
    expect(() => emulator.remove(added.id)).toThrow(expect.objectContaining({ code: "EMULATOR_ARGUMENT" }));
  });
});

test("the hook answer sees the request and the right response, and replaces it after the effect", async () => {
  const seen: unknown[] = [];
  const emulator = await started({
    answer: ({ operation, account, body }, { status }) => {
      seen.push([operation, account, body, status]);
      return { status: 202, headers: { "x-odd": "yes" }, body: "as it is" };
    },
  });
  const response = await call(emulator, "POST /webhooks", { body: HOOK });
  const seenByClient = [response.status, response.headers.get("x-odd"), await response.text()];
  expect(seenByClient).toEqual([202, "yes", "as it is"]);
  expect(seen).toEqual([["register", "default", HOOK, 201]]);
  expect(emulator.endpoints()).toHaveLength(1);
  expect(emulator.requests[0]?.status).toBe(202);
});

describe("the Host of a request", () => {
  const list = async (host: string, own = "127.0.0.1") => {
    const emulator = await started({ host: own });
    emulator.add(HOOK);
    const headers = { host, "x-api-key": emulator.apiKey };
    return { emulator, ...(await visit(emulator, "/webhooks", { headers })) };
  };

  test.each([
    "localhost",
    "LOCALHOST:80",
    "127.0.0.1:8787",
    "[::1]:8787",
    "192.0.2.1",
    "emulator:8787",
    "a.localhost",
  ])("the API responds to %s, which no other site can have", async (host) => {
    expect((await list(host)).status).toBe(200);
  });

  test.each(["evil.example", "127.0.0.1.evil.example:8787", "evil.localhost.example"])(
    "the API refuses %s, as in DNS rebinding, before any fault, and shows no endpoint",
    async (host) => {
      const { status, body, emulator } = await list(host);
      expect([status, JSON.parse(body).error]).toEqual([421, "misdirected"]);
      expect(body).not.toContain(HOOK.url);
      emulator.fault({ operation: "any", kind: "empty" });
      expect((await visit(emulator, "/webhooks", { headers: { host } })).status).toBe(421);
      expect(emulator.requests.map(({ fault }) => fault)).toEqual([undefined, undefined]);
    },
  );

  test("with a host of its own, the API responds there, its url leads to this machine, and the page stays here", async () => {
    const { status, emulator } = await list("0.0.0.0:8787", "0.0.0.0");
    expect([status, emulator.url]).toEqual([200, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)]);
    const headers = { host: "emulator:8787" };
    expect((await visit(emulator, "/_emulator/", { headers })).status).toBe(403);
  });
});
