import { verify } from "../../../src/signature";
import { receiver } from "../receiver";
import { HOOK, started, until } from "../support";
import { readPage, submit, visit } from "./visit";

/** The deliveries that a view of the page shows, as their state and event. */
async function shown(emulator: Awaited<ReturnType<typeof started>>, query: Record<string, string> = {}) {
  const { status, body } = await visit(emulator, `/_emulator/?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  const cards = body.split('<section id="endpoints"')[0]?.split('<article class="card"').slice(1) ?? [];
  return cards.map((card) => {
    const [, state, event] = /badge \w+">([^<]+)<\/span> <strong>([^<]+)/.exec(card) ?? [];
    return `${state} ${event}`;
  });
}

describe("the filter", () => {
  const filled = async () => {
    const one = await receiver(204, 503, { status: 401, headers: {}, body: "who are you?" });
    const emulator = await started({ retryDelaysMs: [] });
    const first = emulator.add({ ...HOOK, url: one.url });
    const { close, url } = await receiver();
    await close();
    const second = emulator.add({ ...HOOK, url });
    await emulator.deliver({ type: "job.running", data: { jobId: "job_ONE" }, endpointId: first.id });
    await emulator.deliver({ type: "job.failed", endpointId: first.id });
    await emulator.deliver({ type: "job.failed", endpointId: first.id, tamper: true });
    await emulator.deliver({ type: "job.succeeded", endpointId: second.id });
    return { emulator, first, second };
  };

  test("a filter selects by event, status, endpoint and text, alone and together", async () => {
    const { emulator, first, second } = await filled();
    const all = [
      "failed job.succeeded",
      "forgery refused job.failed",
      "failed job.failed",
      "delivered job.running",
    ];
    expect(await shown(emulator)).toEqual(all);
    for (const [query, expected] of [
      [{ event: "job.failed" }, [1, 2]],
      [{ status: "failed" }, [0, 2]],
      [{ status: "5xx" }, [2]],
      [{ status: "4xx" }, [1]],
      [{ status: "no answer" }, [0]],
      [{ endpoint: second.id }, [0]],
      [{ text: "job_one" }, [3]],
      [{ text: "WHO ARE" }, [1]],
      [{ text: " econnrefused " }, [0]],
      [{ text: first.id.slice(4) }, [1, 2, 3]],
      [{ event: "job.failed", status: "failed", endpoint: first.id, text: "503" }, [2]],
      [{ status: "nonsense" }, []],
      [{ event: "__proto__" }, []],
    ] as const) {
      expect([query, await shown(emulator, query)]).toEqual([query, expected.map((index) => all[index])]);
    }
    expect(await readPage(emulator, "/_emulator/?event=job.failed")).toMatch(/Deliveries 2 of 4 .* Show all/);
    expect(await readPage(emulator, "/_emulator/?text=nothing")).toContain("No delivery matches the filter");
  });

  test("an event with the name of a property that every object has is shown and offered like any other", async () => {
    const emulator = await started({ retryDelaysMs: [] });
    const { url } = await receiver(204);
    emulator.add({ ...HOOK, url });
    for (const type of ["__proto__", "constructor"]) await emulator.deliver({ type });
    expect(await shown(emulator)).toEqual(["delivered constructor", "delivered __proto__"]);
    const { body } = await visit(emulator, "/_emulator/");
    expect(body).toContain('<option value="constructor">constructor</option>');
  });

  test("the links to older deliveries and the actions keep the filter", async () => {
    const { url } = await receiver();
    const emulator = await started();
    const { id } = emulator.add({ ...HOOK, url });
    for (let n = 0; n < 60; n += 1) await emulator.deliver({ type: n % 2 ? "odd" : "even", data: { n } });
    const query = `event=odd&endpoint=${id}`;
    const { body } = await visit(emulator, `/_emulator/?${query}`);
    expect(body).toContain(`href="./?event=odd&amp;endpoint=${id}&amp;page=2#deliveries"`);
    expect(await shown(emulator, { event: "odd", page: "2" })).toHaveLength(5);
    const referer = `${emulator.url}/_emulator/?${query}`;
    const { headers } = await submit(emulator, "replays", { number: "2" }, { referer });
    expect(headers.location).toBe(`/_emulator/?${query}#deliveries`);
    const failed = await submit(emulator, "replays", { number: "0" }, { referer });
    expect(failed.body).toMatch(/30 of 60/);
  });

  test.each(["a\u202eb", "a\rb", "a\ud800b"])(
    "an event with an invisible character (%j) can be selected",
    async (type) => {
      const { url } = await receiver();
      const emulator = await started();
      const { id: endpointId } = emulator.add({ ...HOOK, url });
      for (const each of [type, "ab"]) await emulator.deliver({ type: each, body: "{}", endpointId });
      const [, value = ""] = /<option value="(a\\[^"]*)"/.exec((await visit(emulator)).body) ?? [];
      const { body } = await visit(emulator, `/_emulator/?${new URLSearchParams({ event: value })}`);
      expect(body).toContain("1 of 2");
      expect(body.match(/<option value="a\\[^>]*>/g)).toEqual([expect.stringContaining("selected")]);
    },
  );
});

describe("actions of the console", () => {
  test("an own body is sent as it is, with a valid signature, and its type is the event's", async () => {
    const { url, received } = await receiver();
    const emulator = await started();
    const { id: endpointId } = emulator.add({ ...HOOK, url });
    const own = '{ "type": "order.paid",\n  "amount": 1.0 }';
    await submit(emulator, "events", { endpointId, type: "job.running", body: own.replace("\n", "\r\n") });
    await submit(emulator, "events", { endpointId, type: "job.running", body: "no JSON" });
    await submit(emulator, "events", { endpointId, type: "job.running", body: "" });
    await submit(emulator, "events", { endpointId, type: "job.running", body: own, tamper: "yes" });
    expect(received.slice(0, 2).map(({ body }) => body)).toEqual([own, "no JSON"]);
    expect(JSON.parse(received[2]?.body ?? "")).toMatchObject({ type: "job.running" });
    const valid = received.map(({ body, headers }) => verify(body, headers, emulator.secrets()));
    expect(valid).toEqual([true, true, true, false]);
    expect(emulator.deliveries.map(({ type }) => type)).toEqual([
      "order.paid",
      "job.running",
      "job.running",
      "order.paid",
    ]);
  });

  test.each([" \r\n", "\u2028"])("an own body of white space (%j) is sent as it is", async (body) => {
    const { url, received } = await receiver();
    const emulator = await started();
    const { id: endpointId } = emulator.add({ ...HOOK, url });
    await submit(emulator, "events", { endpointId, type: "job.running", body });
    expect(received[0]?.body).toBe(body.replace("\r\n", "\n"));
  });

  test("an endpoint is registered and deleted", async () => {
    const emulator = await started();
    const form = { url: " https://example.com/hook ", type: "production", ip: "192.0.2.0/24" };
    expect((await submit(emulator, "endpoints", form)).headers.location).toBe("/_emulator/#endpoints");
    const [endpoint] = emulator.endpoints();
    expect(endpoint).toMatchObject({
      url: "https://example.com/hook",
      type: "production",
      ip: "192.0.2.0/24",
    });
    await submit(emulator, "endpoints", { url: "http://127.0.0.1:1/", type: "development", ip: "" });
    await submit(emulator, "deleted-endpoints", { endpointId: endpoint?.id ?? "" });
    expect(emulator.endpoints()).toMatchObject([{ url: "http://127.0.0.1:1/", ip: undefined }]);
  });

  test("the deliveries and the API requests are cleared", async () => {
    const { url } = await receiver();
    const emulator = await started();
    emulator.add({ ...HOOK, url });
    await emulator.deliver({ type: "job.running" });
    await visit(emulator, "/webhooks");
    await submit(emulator, "cleared-deliveries");
    await submit(emulator, "cleared-requests");
    expect([emulator.deliveries, emulator.requests]).toEqual([[], []]);
    expect(await shown(emulator)).toEqual([]);
  });

  test("after a tampered attempt, the buttons say which attempt they replay, and replay it", async () => {
    const { url, received } = await receiver(204, 401);
    const emulator = await started();
    emulator.add({ ...HOOK, url });
    await emulator.deliver({ type: "job.running" });
    await submit(emulator, "forgeries", { number: "1" });
    const page = await readPage(emulator);
    expect(page).toMatch(
      /Replay the tampered attempt of job.running to wh_\w+, number 2 .*Replay attempt 1 of job.running/,
    );
    await submit(emulator, "replays", { number: "1" });
    await submit(emulator, "replays", { number: "2" });
    expect(received.map(({ body }) => body.includes("tampered"))).toEqual([false, true, false, true]);
    const { body } = await visit(emulator);
    const buttons = [...body.matchAll(/<button[^>]*>(.*?)<\/button>/gs)].map(([, name = ""]) => name);
    expect(new Set(buttons).size).toBe(buttons.length);
  });

  test("an answer's headers and duration are shown, but no value that can be a secret of the receiver", async () => {
    const secret = "a-value-to-look-for";
    const headers = { "set-cookie": secret, "x-api-key": secret, "x-session-id": secret, "x-shown": "seen" };
    const { url } = await receiver({ status: 200, headers });
    const emulator = await started();
    emulator.add({ ...HOOK, url });
    await emulator.deliver({ type: "job.running" });
    const page = await readPage(emulator);
    expect(page).toMatch(/Status 200 after \d+ ms .*x-shown: seen/);
    expect(page).toContain("set-cookie: (hidden)");
    expect(page).not.toContain(secret);
    expect(emulator.deliveries[0]).toMatchObject({
      answerHeaders: { "x-shown": "seen" },
      durationMs: expect.any(Number),
    });
  });
});

test("fifty endpoints and hundreds of deliveries make a short page, with the others on further pages", async () => {
  const { url, received } = await receiver();
  const emulator = await started();
  for (let n = 0; n < 50; n += 1) emulator.add({ ...HOOK, url: `${url}?${n}` });
  for (let n = 0; n < 6; n += 1) void emulator.deliver({ type: "job.running" });
  await until(() => received.length === 300);
  const cards = async (query: string) => {
    const { body } = await visit(emulator, `/_emulator/${query}`);
    const [deliveries = "", endpoints = ""] = body.split('<section id="endpoints"');
    return [deliveries, endpoints].map((part) => part.split('<article class="card"').length - 1);
  };
  expect(await cards("")).toEqual([25, 10]);
  expect(await cards("?page=12&endpoints=5")).toEqual([25, 10]);
  const { body } = await visit(emulator, "/_emulator/?endpoints=5");
  const endpoints = body.split('<section id="endpoints"')[1];
  expect(endpoints).toContain(`${url}?0</code>`);
  expect(endpoints).not.toContain(`${url}?10</code>`);
  expect(body).toMatch(
    /<nav class="jumps" aria-label="Sections"><a href="#deliveries">.*<a href="#settings">/,
  );
});
