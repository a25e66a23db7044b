import { FAULT_KINDS } from "../../../src/emulator";
import { verifyDetailed } from "../../../src/signature";
import { type Reaction, receiver } from "../receiver";
import { call, HOOK, outcome, patience, started, until } from "../support";
import { readPage, submit, visit } from "./visit";

describe("the address", () => {
  test("a browser that opens the emulator's address is sent to the page, and an API client is not", async () => {
    const emulator = await started({ basePath: "/api/v1" });
    for (const path of ["/", "/api/v1", "/api/v1/", "/_emulator"]) {
      const { status, headers } = await visit(emulator, path);
      expect([path, status, headers.location]).toEqual([path, 303, "/_emulator/"]);
    }
    expect((await visit(emulator, "/", { headers: { accept: "application/json" } })).status).toBe(404);
    const list = await visit(emulator, "/api/v1/webhooks", { headers: { "x-api-key": emulator.apiKey } });
    expect([list.status, list.body]).toEqual([200, "[]"]);
  });

  test("a base path that would hide the page is refused", async () => {
    await expect(started({ basePath: "/_emulator" })).rejects.toThrow(/basePath.*_emulator/);
  });

  test("the page needs no API key, meets no fault, and is not in the request log", async () => {
    const emulator = await started();
    emulator.fault({ operation: "any", kind: "refuse", times: Number.POSITIVE_INFINITY });
    expect((await visit(emulator)).status).toBe(200);
    expect(emulator.requests).toEqual([]);
  });

  test.each([
    ["GET", "nothing", 404],
    ["GET", "jobs", 404],
    ["POST", "nothing", 404],
    ["POST", "__proto__", 404],
    ["DELETE", "", 405],
  ])("%s /_emulator/%s is answered with %i", async (method, path, status) => {
    const emulator = await started();
    const headers = { origin: emulator.url };
    expect((await visit(emulator, `/_emulator/${path}`, { method, headers })).status).toBe(status);
  });

  test("the script, the style and the icon are served", async () => {
    const emulator = await started();
    for (const [name, type] of [
      ["script.js", "text/javascript"],
      ["style.css", "text/css"],
      ["icon.svg", "image/svg+xml"],
    ]) {
      const { status, headers } = await visit(emulator, `/_emulator/${name}`);
      expect([status, headers["content-type"]]).toEqual([200, `${type}; charset=utf-8`]);
    }
  });
});

describe("deliveries", () => {
  test("a job that is run from the page reaches the endpoints of every account", async () => {
    const [first, second] = await Promise.all([receiver(204), receiver(204)]);
    const emulator = await started({ accounts: { "another-key-of-it": "bob" } });
    emulator.add({ ...HOOK, url: first.url });
    emulator.add({ ...HOOK, url: second.url }, "bob");
    await submit(emulator, "jobs", {});
    await until(() => first.received.length === 2 && second.received.length === 2);
  });

  test("a job that is run from the page shows each attempt: headers, body, answer and next try", async () => {
    const { url, received } = await receiver({ status: 503, headers: { "retry-after": "60" } });
    const emulator = await started();
    emulator.add({ ...HOOK, url });
    const { status, headers } = await submit(emulator, "jobs", { outcome: "failed" });
    expect([status, headers.location]).toEqual([303, "/_emulator/#deliveries"]);

    await until(() => emulator.deliveries.length === 2);
    const page = await readPage(emulator);
    const signed = received[0]?.headers ?? {};
    expect(page).toMatch(
      /retrying job.running .* Attempt 1 [\d:. ]+→ 503 \d+ ms next [\d:. ]+ Request POST http/,
    );
    expect(page).toMatch(/delivered job.failed .* Attempt 1 [\d:. ]+→ 204 \d+ ms Request/);
    for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
      expect(page).toContain(`${name}: ${signed[name]}`);
    }
    expect(page).toContain(received[0]?.body);
    expect(page).toMatch(/Answer Status 503 after \d+ ms retry-after: 60/);
  });

  test("the page shows what a receiver answered, and why there was no answer", async () => {
    const { url } = await receiver(
      { status: 401, headers: {}, body: '{"error":"signature-mismatch"}' },
      "reset",
    );
    const emulator = await started({ retryDelaysMs: [] });
    const { id } = emulator.add({ ...HOOK, url });
    for (const type of ["job.running", "job.failed"])
      await submit(emulator, "events", { endpointId: id, type });
    expect(emulator.deliveries[0]?.answer).toBe('{"error":"signature-mismatch"}');
    const page = await readPage(emulator);
    expect(page).toMatch(/failed job.failed .* → ECONNRESET .* Answer None: ECONNRESET/);
    expect(page).toMatch(
      /failed job.running .* Status 401 .* Raw: 30 bytes \{"error":"signature-mismatch"\}/,
    );
  });

  test("an attempt that waits for its answer is shown", async () => {
    const { url, received } = await receiver("hang");
    const emulator = await started();
    emulator.add({ ...HOOK, url });
    const job = emulator.runJob();
    await until(() => received.length === 1);
    expect(await readPage(emulator)).toMatch(/sending job.running .* Attempt 1 [\d:. ]+→ waiting/);
    await emulator.close();
    await job;
  });

  test("an event goes to one endpoint only, genuine or tampered", async () => {
    const [one, other] = [await receiver(204, 401), await receiver()];
    const emulator = await started();
    const { id: endpointId } = emulator.add({ ...HOOK, url: one.url });
    emulator.add({ ...HOOK, url: other.url });
    await submit(emulator, "events", { endpointId, type: "job.succeeded" });
    await submit(emulator, "events", { endpointId, type: "job.succeeded", tamper: "yes" });
    const secret = emulator.secrets();
    expect(one.received.map(({ body, headers }) => verifyDetailed(body, headers, secret).ok)).toEqual([
      true,
      false,
    ]);
    expect(other.received).toEqual([]);
    expect(await readPage(emulator)).toMatch(/forgery refused job.succeeded .* delivered job.succeeded/);
  });

  test.each<Reaction>([404, 429, 500, "end"])("a forgery that meets %j was not refused", async (reaction) => {
    const { url } = await receiver(reaction);
    const emulator = await started();
    const { id: endpointId } = emulator.add({ ...HOOK, url });
    await submit(emulator, "events", { endpointId, type: "job.succeeded", tamper: "yes" });
    const page = await readPage(emulator);
    expect([page.includes("failed job.succeeded"), page.includes("refused job.succeeded")]).toEqual([
      true,
      false,
    ]);
  });

  test("a delivery can be replayed byte for byte and sent again tampered, at its own endpoint", async () => {
    const [one, other] = [await receiver(204, 204, 200), await receiver()];
    const emulator = await started({ webhookIds: "per-event" });
    const { id: endpointId } = emulator.add({ ...HOOK, url: one.url });
    emulator.add({ ...HOOK, url: other.url });
    const { id } = await emulator.deliver({ type: "job.succeeded", data: { jobId: "job_1" } });
    const number = String(emulator.deliveries.find((attempt) => attempt.endpointId === endpointId)?.number);
    await submit(emulator, "replays", { number });
    await submit(emulator, "forgeries", { number });

    const [first, replayed, forged] = one.received;
    expect([replayed?.body, replayed?.headers["webhook-signature"]]).toEqual([
      first?.body,
      first?.headers["webhook-signature"],
    ]);
    expect(forged?.headers["webhook-id"]).toBe(id);
    expect(verifyDetailed(forged?.body ?? "", forged?.headers ?? {}, emulator.secrets())).toMatchObject({
      reason: "signature-mismatch",
    });
    expect(other.received).toHaveLength(1);
    expect(await readPage(emulator)).toMatch(/Attempt 1 .* Replay of attempt 1 .* Tampered [\d:. ]+→ 200/);
  });

  test("three thousand deliveries make a page of bounded size, with older ones on further pages", async () => {
    const { url } = await receiver();
    const emulator = await started();
    const { id: endpointId } = emulator.add({ ...HOOK, url });
    await emulator.deliver({ type: "first", body: "x".repeat(1_000_000), endpointId });
    await emulator.replay();
    for (let n = 0; n < 30; n += 1) {
      await Promise.all(
        Array.from({ length: 100 }, () => emulator.deliver({ type: "job.running", endpointId })),
      );
    }
    const { body } = await visit(emulator);
    expect(body.match(/<article class="card" data-key="msg_/g)).toHaveLength(25);
    expect(body.length).toBeLessThan(100_000);
    expect(body).toContain("3001 in total");
    const last = await visit(emulator, "/_emulator/?page=999999");
    expect(last.body.match(/<article class="card" data-key="msg_/g)).toHaveLength(1);
    expect(last.body).toContain("… and 996000 more characters");
    expect(last.body).toMatch(/Page 121 of 121/);
    for (const page of ["0", "-1", "1.5", "x", "Infinity"]) {
      expect((await visit(emulator, `/_emulator/?page=${page}`)).status).toBe(200);
    }
  });

  test("a browser gets the page again only when something changed", async () => {
    const { url } = await receiver();
    const emulator = await started();
    const first = await visit(emulator);
    const again = () =>
      visit(emulator, undefined, { headers: { "if-none-match": first.headers.etag ?? "" } });
    expect(await again()).toMatchObject({ status: 304, body: "" });
    emulator.add({ ...HOOK, url });
    expect((await again()).status).toBe(200);
  });
});

describe("secrets and faults", () => {
  test("the page rotates the signing secret and finishes the rotation", async () => {
    const emulator = await started();
    const [old = ""] = emulator.secrets();
    await submit(emulator, "rotations");
    expect(emulator.secrets()).toEqual([expect.not.stringContaining(old), old]);
    const [secret = ""] = emulator.secrets();
    expect(await readPage(emulator)).toMatch(/new whsec_\S+ old whsec_/);
    await submit(emulator, "finished-rotations");
    expect([emulator.secrets(), emulator.secrets("development")]).toEqual([[secret], [secret]]);
    expect((await readPage(emulator)).includes(old)).toBe(false);
  });

  test.each(FAULT_KINDS)("the page plants a %s fault, which applies once", async (kind) => {
    const emulator = await started();
    const fields = { operation: "list", kind, times: "1", status: "502", delayMs: "20", effect: "on" };
    expect((await submit(emulator, "faults", fields)).headers.location).toBe("/_emulator/#faults");
    expect(await readPage(emulator)).toMatch(
      new RegExp(`Break the service 1 planted ${kind}.* list: 1 more, 0 so far`),
    );
    const silent = /^(hang|late)/.test(kind);
    await outcome(call(emulator, "GET /webhooks", silent ? { signal: patience(emulator) } : {}));
    expect(emulator.requests[0]?.fault).toBe(kind);
    const page = await readPage(emulator);
    expect(page).toContain("works as it should");
    expect(page).toMatch(new RegExp(`API requests [\\d:. ]+(GET /later .*)?GET /webhooks ${kind}`));
  });

  test("a fault without a number of times stays until it is removed, alone or with the others", async () => {
    const emulator = await started();
    const status = async () => (await call(emulator, "GET /webhooks")).status;
    const plant = (code: string) =>
      submit(emulator, "faults", { operation: "any", kind: "status", status: code, times: "" });
    await plant("500");
    await plant("501");
    expect([await status(), await status()]).toEqual([500, 500]);
    await submit(emulator, "removed-faults", { number: "1" });
    expect(await status()).toBe(501);
    await plant("502");
    await submit(emulator, "removed-faults");
    expect(await status()).toBe(200);
  });

  test.each([
    ["faults", { operation: "any", kind: "explode", times: "1" }, "kind must be one of"],
    ["faults", { operation: "constructor", kind: "empty", times: "1" }, "operation must be one of"],
    ["faults", { operation: "any", kind: "empty", times: "0" }, "times must be at least 1"],
    ["faults", { operation: "any", kind: "empty", times: "1e3" }, "times must be at least 1"],
    ["faults", { operation: "any", kind: "status", times: "1", status: "99" }, "status must be from 200"],
    ["faults", { operation: "any", kind: "delay", times: "1", delayMs: "soon" }, "delayMs must be"],
    ["jobs", {}, "no endpoint is registered"],
    ["events", { endpointId: "wh_1", type: "job.running" }, "not registered"],
    ["events", { endpointId: "wh_1", body: "{}" }, "not registered"],
    ["replays", { number: "7" }, "Cannot find attempt 7"],
    ["forgeries", {}, "Cannot find attempt"],
    ["endpoints", { url: "example.com", type: "production" }, "url must be"],
    ["endpoints", { url: "https://example.com/", type: "staging" }, "type must be"],
    ["endpoints", { url: "https://example.com/", type: "production", ip: "here" }, "ip must be"],
    ["deleted-endpoints", { endpointId: "wh_1" }, "Cannot delete endpoint wh_1"],
  ])("a form to %s with %j is answered with the page and the reason", async (action, fields, reason) => {
    const { status, body } = await submit(await started(), action, fields as Record<string, string>);
    expect(status).toBe(400);
    expect(/role="alert"><p>([^<]*)/.exec(body)?.[1]).toContain(reason);
    expect(body).toContain("works as it should");
  });

  test("a form that is too large is refused", async () => {
    const emulator = await started();
    expect((await submit(emulator, "jobs", { outcome: "x".repeat(2_000_000) })).status).toBe(413);
  });
});

describe("hostile content", () => {
  /** The tags of a page with the names of their attributes: what a browser makes of it. */
  const structure = (page: string) =>
    [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/="[^"]*"/g, "=…"));

  const pageOf = async (value: (place: string) => string) => {
    const { url } = await receiver({ status: 500, headers: {}, body: value("answer") });
    const emulator = await started({ retryDelaysMs: [], newId: () => value("endpoint id") });
    emulator.add({ url: value("url"), type: "production", ip: value("ip") });
    emulator.edit(value("endpoint id"), { url: `${url}?${value("query")}` });
    await emulator.deliver({ type: value("type"), body: value("body"), id: "msg_1" });
    emulator.edit(value("endpoint id"), { url: value("url") });
    await emulator.deliver({ type: value("type"), body: value("body"), id: "msg_2" });
    await visit(emulator, "/%22%3E", { headers: { accept: "*/*" } });
    return visit(emulator);
  };

  test.each([
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    "</pre></details><form action=https://evil.example>",
    "javascript:alert(1)",
    "<!-- \u202e ]]> &lt;script&gt;",
  ])("%s in a url, id, type, body or answer is shown as it is and never becomes markup", async (hostile) => {
    const harmless = await pageOf((place) => `http://127.0.0.1:1/${place}`);
    const attacked = await pageOf(() => hostile);
    expect(structure(attacked.body)).toEqual(structure(harmless.body));
    expect(attacked.body).not.toMatch(/(href|src|action)="(?!\.\/|#)/);
  });
});
