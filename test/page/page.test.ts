import type { EmulatorOptions } from "../../src/emulator";
import { deliveriesOf, type ShownAttempt, stateOf, toneOf } from "../../src/page/deliveries";
import { verify } from "../../src/signature";
import { type Reaction, receiver } from "../emulator/receiver";
import { A } from "../emulator/signing";
import { started, until, withReceiver } from "../emulator/support";
import { readPage, submit, visit } from "./visit";

/** An emulator with an endpoint at a receiver, and what its page shows. */
async function withPage(reactions: readonly Reaction[] = [], options: EmulatorOptions = {}) {
  const parts = await withReceiver(reactions, { retryDelaysMs: [60_000], ...options });
  return { ...parts, read: (query = "") => readPage(parts.emulator, `/_emulator/${query}`) };
}

describe("the address of the page", () => {
  test("a browser that opens the emulator's address gets the page, and an API client does not", async () => {
    const emulator = await started();
    const { status, headers } = await visit(emulator, "/");
    expect([status, headers.location]).toEqual([303, "/_emulator/"]);
    expect((await fetch(emulator.url)).status).toBe(404);
    expect(emulator.requests.map(({ path }) => path)).toEqual(["/"]);
  });

  test.each(["nothing", "attempts/1/x", "style", "__proto__"])("the page has nothing at %s", async (name) => {
    expect((await visit(await started(), `/_emulator/${name}`)).status).toBe(404);
    expect((await submit(await started(), name)).status).toBe(404);
  });

  test("the tab, the delivery, the text and the status are in the address", async () => {
    const { emulator, id, read } = await withPage([200, 500]);
    await emulator.deliver({ event: "job.running", retryDelaysMs: [] });
    await emulator.deliver({ event: "job.failed", retryDelaysMs: [], data: { jobId: "job_7" } });
    expect(await read()).toMatch(
      /2 of 2 deliveries failed job.failed .* delivered job.running .* job.failed failed Id/,
    );
    expect(await read("?d=1")).toMatch(/job.running delivered Id/);
    expect(await read("?q=JOB_7")).toMatch(/1 of 2 deliveries/);
    expect(await read("?status=delivered")).toMatch(/1 of 2 deliveries delivered job.running/);
    expect(await read("?q=nowhere")).toMatch(/0 of 2 deliveries/);
    expect(await read("?tab=endpoints")).toMatch(new RegExp(`Endpoints production ${id} Delete http`));
    expect(await read("?tab=setup")).toMatch(/production whsec_\S+ fingerprint [0-9a-f]{12}\b/);
    const { body } = await visit(emulator, "/_emulator/?q=job&d=2");
    expect(body).toContain('href="./?q=job&#38;d=1"');
    expect(body).toMatch(/<a id="d2" href="[^"]*" aria-current="true">/);
  });

  test("the list has the latest hundred deliveries", async () => {
    const { emulator, read } = await withPage();
    for (let n = 1; n <= 101; n += 1) await emulator.deliver({ event: `n${n}.` });
    const text = await read();
    expect(text).toMatch(/100 of 101 deliveries delivered n101\./);
    expect([text.includes(" n2."), text.includes(" n1. ")]).toEqual([true, false]);
  });
});

describe("the state of a delivery", () => {
  const attempt = (number: number, status: number | null | undefined, more: object = {}): ShownAttempt => ({
    ...{ number, at: 0, id: "msg_1", endpointId: "wh_1", event: "job.running", url: "http://a/" },
    ...{ attempt: 1, headers: {}, body: "{}", ...(status === undefined ? {} : { status }), ...more },
  });
  const tampered = { tampered: true };
  test.each<[string, ShownAttempt[]]>([
    ["sending", [attempt(1, undefined)]],
    ["sending", [attempt(1, 500), attempt(2, undefined)]],
    ["delivered", [attempt(1, 500), attempt(2, 204)]],
    ["delivered", [attempt(1, 204), attempt(2, 500, { replayed: true })]],
    ["delivered", [attempt(1, 204), attempt(2, 401, tampered)]],
    ["failed", [attempt(1, 500)]],
    ["failed", [attempt(1, null, { error: "ECONNREFUSED" })]],
    ["failed", [attempt(1, 500), attempt(2, 204, { replayed: true })]],
    ["retrying", [attempt(1, 500, { retryInMs: 2_000 })]],
    ["forgery refused", [attempt(1, 401, tampered)]],
    ["failed", [attempt(1, 404, tampered)]],
    ["failed", [attempt(1, null, tampered)]],
    ["forgery accepted", [attempt(1, 204), attempt(2, 204, tampered)]],
  ])("a delivery is %s after its attempts", (state, attempts) => {
    expect(deliveriesOf(attempts).map(stateOf)).toEqual([state]);
  });

  test.each([
    [undefined, "busy", "busy"],
    [204, "good", "bad"],
    [401, "bad", "good"],
    [404, "bad", "bad"],
    [500, "bad", "bad"],
    [null, "bad", "bad"],
  ])("the status %s is %s for an attempt, and %s for a forgery", (status, genuine, forged) => {
    expect([attempt(1, status), attempt(1, status, tampered)].map(toneOf)).toEqual([genuine, forged]);
  });
});

describe("a delivery on the page", () => {
  test("an attempt shows its request, its response, and when the next follows", async () => {
    const { emulator, read } = await withPage([{ status: 503, headers: {}, body: '{"error":"busy"}' }]);
    void emulator.deliver({ event: "job.running", data: { jobId: "job_1" } });
    await until(() => emulator.deliveries.length === 1);
    const text = await read();
    expect(text).toMatch(/Attempt 1 [\d:.]+ .*503 \d+ ms next [\d:]+/);
    expect(text).toContain(`webhook-signature: ${emulator.deliveries[0]?.headers["webhook-signature"]}`);
    expect(text).toContain('{ "type": "job.running", "data": { "jobId": "job_1" } }');
    expect(text).toContain('status: 503 { "error": "busy" }');
  });

  test("a saved delivery has everything that verifies it", async () => {
    const { emulator } = await withPage();
    await emulator.deliver({ event: "job.running", body: '{"n":1.0, "é":"\\u0041"}\n' });
    const { headers, body } = await visit(emulator, "/_emulator/attempts/1");
    expect(headers["content-disposition"]).toBe('attachment; filename="delivery-1.json"');
    expect(headers["content-type"]).toMatch(/^text\/plain/);
    const saved = JSON.parse(body);
    expect(verify(saved.body, saved.headers, A)).toBe(true);
    expect(saved).toMatchObject({ isBase64Encoded: false, body: emulator.deliveries[0]?.body });
  });

  test("replay repeats the bytes, tamper changes them under the same id, and clear empties the list", async () => {
    const { emulator, received } = await withPage([200, 200, 401]);
    const { id } = await emulator.deliver({ event: "job.running" });
    const { status, headers } = await submit(emulator, "replay?d=1&q=job", { target: "1" });
    expect([status, headers.location]).toEqual([303, "/_emulator/?d=1&q=job"]);
    await submit(emulator, "tamper", { target: "1" });
    const [first, replayed, tampered] = received;
    expect(replayed).toEqual(first);
    expect(tampered?.headers["webhook-id"]).toBe(id);
    expect(verify(tampered?.body ?? "", tampered?.headers ?? {}, A)).toBe(false);
    expect((await submit(emulator, "replay", { target: "9" })).body).toContain(
      'role="alert">This attempt is not',
    );
    await submit(emulator, "clear");
    expect(emulator.deliveries).toEqual([]);
  });
});

test("all that failed is sent again under its id, with a signature of now, and counts", async () => {
  const { emulator, received, read } = await withPage([500, 200, 500, 200, 200]);
  for (const event of ["job.running", "job.succeeded", "job.failed"])
    await emulator.deliver({ event, retryDelaysMs: [] });
  expect(await read("?status=failed")).toMatch(/2 of 3 deliveries.*Replay all failed/);
  expect((await submit(emulator, "all-failed")).status).toBe(303);
  await until(() => emulator.deliveries.length === 5);
  expect(await read("?status=delivered")).toMatch(/3 of 3 deliveries/);
  const ids = received.map(({ headers }) => headers["webhook-id"]);
  expect(ids.slice(3)).toEqual([ids[0], ids[2]]);
  for (const { body, headers } of received) expect(verify(body, headers, A)).toBe(true);
});

describe("a body that is there to stall the page", () => {
  const bodies: [what: string, body: string][] = [
    ["deep JSON", "[".repeat(400_000) + "]".repeat(400_000)],
    ["deep JSON that is short enough to be indented", "[".repeat(20_000) + "]".repeat(20_000)],
    ["large JSON", JSON.stringify({ first: "begins", rest: Array(200_000).fill(1) })],
  ];
  test.each(bodies)("%s is shown as it is, and only its beginning", async (_what, body) => {
    const { emulator, read } = await withPage();
    await emulator.deliver({ event: "job.running", body });
    const text = await read();
    expect(text).toContain(body.slice(0, 100));
    expect(text.length).toBeLessThan(10_000);
    expect(await read("?q=job.running")).toContain("1 of 1 deliveries");
  });

  test("a search finds what is in the first 64 KiB of a body", async () => {
    const { emulator, read } = await withPage();
    await emulator.deliver({ event: "job.running", body: `near${" ".repeat(64 * 1024)}far` });
    expect(await read("?q=NEAR")).toContain("1 of 1 deliveries");
    expect(await read("?q=far")).toContain("0 of 1 deliveries");
  });
});

describe("the other tabs", () => {
  test("an endpoint is registered, gets an event of one's own, and is deleted", async () => {
    const { url, received } = await receiver();
    const emulator = await started({ secrets: A });
    const registered = await submit(emulator, "register?tab=endpoints", { url, type: "development" });
    expect(registered.headers.location).toBe("/_emulator/?tab=endpoints");
    const target = emulator.endpoints()[0]?.id ?? "";
    for (const body of ['{"type":\r\n"own"}', "not JSON"]) await submit(emulator, "send", { target, body });
    expect(received.map(({ body }) => body)).toEqual(['{"type":\n"own"}', "not JSON"]);
    expect(emulator.deliveries.map(({ event }) => event)).toEqual(["own", "no type"]);
    expect(received.every(({ body, headers }) => verify(body, headers, A))).toBe(true);
    await submit(emulator, "delete", { target });
    expect(emulator.endpoints()).toEqual([]);
    const refused = await submit(emulator, "register", { url: "nowhere", type: "development" });
    expect([refused.status, refused.body.includes("url must be an absolute")]).toEqual([400, true]);
  });

  test("a job runs, and without an endpoint the page says that there is none", async () => {
    const { emulator, received } = await withPage();
    await submit(emulator, "run-job", { outcome: "failed" });
    expect(received.map(({ body }) => JSON.parse(body).type)).toEqual(["job.running", "job.failed"]);
    expect((await submit(await started(), "run-job")).body).toContain("no endpoint is registered");
  });

  test("a fault is added, hits, is shown with the request, and is removed", async () => {
    const { emulator, read } = await withPage();
    const fault = { operation: "list", kind: "status", status: "504", times: "" };
    await submit(emulator, "add-fault?tab=faults", fault);
    await submit(emulator, "add-fault", { operation: "any", kind: "delay", delayMs: "5", times: "2" });
    expect((await visit(emulator, "/webhooks")).status).toBe(504);
    const text = await read("?tab=faults");
    expect(text).toMatch(/status 504 list: until removed, 1 so far .* delay 5 ms any: 2 more, 0 so far/);
    expect(text).toMatch(/GET \/webhooks status 504/);
    await submit(emulator, "remove-fault", { target: "1" });
    await submit(emulator, "remove-fault", { target: "2" });
    await submit(emulator, "clear-requests");
    expect(await read("?tab=faults")).toMatch(/None: the service works as it should.* None yet\./);
  });

  test("the setup has the commands, quoted for a shell, and the secrets can be rotated", async () => {
    const emulator = await started({ apiKey: "a b", secrets: A });
    const { body } = await visit(emulator, "/_emulator/?tab=setup");
    expect(body).toContain(`baseUrl ${emulator.url}\n`);
    expect(body).toContain("apiKey &#39;a b&#39;");
    expect(body).toContain(`signingSecret ${A}`);
    await submit(emulator, "rotate");
    expect(emulator.secrets()).toEqual([expect.not.stringContaining(A), A]);
    await submit(emulator, "finish-rotation");
    expect(emulator.secrets()).toHaveLength(1);
  });
});
