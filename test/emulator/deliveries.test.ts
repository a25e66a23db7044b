import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Webhook } from "standardwebhooks";
import { verify, verifyDetailed } from "../../src/signature";
import { receiver } from "./receiver";
import { A, B, SUCCEEDED, SUCCEEDED_BODY, verified } from "./signing";
import { HOOK, started, until, withReceiver } from "./support";

const QUICK = [1, 1, 1];

describe("a delivery", () => {
  test("a delivery is signed as Standard Webhooks specifies", async () => {
    const { emulator, id, received } = await withReceiver();
    const delivery = await emulator.deliver(SUCCEEDED);
    const [got] = received;
    expect(JSON.parse(got?.body ?? "")).toEqual(SUCCEEDED_BODY);
    expect(got?.headers["content-type"]).toBe("application/json");
    expect([verified(got), verified(got, B)]).toEqual([true, false]);
    expect(new Webhook(A).verify(got?.body ?? "", got?.headers as Record<string, string>)).toEqual(
      SUCCEEDED_BODY,
    );
    expect(delivery).toEqual({
      id: got?.headers["webhook-id"],
      event: "job.succeeded",
      delivered: true,
      endpoints: [{ endpointId: id, outcome: "delivered", attempts: 1, status: 204 }],
    });
  });

  test("an event goes to every endpoint of the account, of one type, or to one endpoint", async () => {
    const { emulator, id, url, received } = await withReceiver([], { accounts: { b: "other" } });
    const second = emulator.add({ ...HOOK, url, type: "development" });
    const foreign = emulator.add({ ...HOOK, url }, "other");
    const reached = async (target: object) =>
      (await emulator.deliver({ ...SUCCEEDED, ...target })).endpoints.map(({ endpointId }) => endpointId);
    expect(await reached({})).toEqual([id, second.id]);
    expect(await reached({ endpointType: "development" })).toEqual([second.id]);
    expect(await reached({ endpointId: foreign.id })).toEqual([foreign.id]);
    expect(await reached({ account: "other" })).toEqual([foreign.id]);
    expect(received).toHaveLength(5);
    const nowhere = { ...SUCCEEDED, account: "nobody" };
    expect(await emulator.deliver(nowhere)).toMatchObject({ delivered: false, endpoints: [] });
    await expect(reached({ endpointId: "wh_1" })).rejects.toMatchObject({ code: "EMULATOR_ARGUMENT" });
  });

  test("a delivery is retried after each kind of failure, with the same id and a fresh timestamp", async () => {
    let time = Date.now();
    const now = () => {
      time += 1000;
      return time;
    };
    const options = { now, retryDelaysMs: [1, 1, 1, 1, 1] };
    const { emulator, received } = await withReceiver([500, 302, "reset", "end", 401], options);
    const { id, delivered } = await emulator.deliver(SUCCEEDED);

    expect(delivered).toBe(true);
    expect(received.map(({ headers }) => headers["webhook-id"])).toEqual(Array(6).fill(id));
    expect(new Set(received.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(6);
    expect(received.every((got) => verify(got.body, got.headers, A, 0))).toBe(true);
    expect(
      emulator.deliveries.map((each) => [each.attempt, each.status, each.error, each.retryInMs]),
    ).toEqual([
      [1, 500, null, 1],
      [2, 302, null, 1],
      [3, null, "ECONNRESET", 1],
      [4, null, "UND_ERR_SOCKET", 1],
      [5, 401, null, 1],
      [6, 204, null, null],
    ]);
  });

  test("a delivery without a response is retried after its timeout", async () => {
    const { emulator } = await withReceiver(["hang", "hang"], { retryDelaysMs: [1], deliveryTimeoutMs: 50 });
    await emulator.deliver(SUCCEEDED);
    expect(emulator.deliveries.map((each) => [each.error, each.retryInMs])).toEqual([
      ["timed out", 1],
      ["timed out", null],
    ]);
  });

  test("a delivery fails after its last retry, also at a url that is none", async () => {
    for (const [target, error] of [
      ["http://127.0.0.1:1/", "ECONNREFUSED"],
      ["no url", "ERR_INVALID_URL"],
    ] as const) {
      const emulator = await started({ retryDelaysMs: QUICK });
      emulator.add({ ...HOOK, url: target });
      expect(await emulator.deliver(SUCCEEDED)).toMatchObject({
        delivered: false,
        endpoints: [{ outcome: "failed", attempts: 4, status: null }],
      });
      expect(emulator.deliveries.map((each) => each.error)).toEqual(Array(4).fill(error));
    }
  });

  test("a connection that is never made counts as a timeout, and is closed", async () => {
    // The TLS handshake never ends.
    const server = createServer((socket) => socket.on("error", () => undefined).resume());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const emulator = await started({ retryDelaysMs: [], deliveryTimeoutMs: 300 });
    emulator.add({ ...HOOK, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/` });
    const connected = once(server, "connection");
    const delivering = emulator.deliver(SUCCEEDED);
    const [socket] = await connected;
    await Promise.all([delivering, once(socket, "close")]);
    expect(emulator.deliveries[0]?.error).toMatch(/^(timed out|UND_ERR_CONNECT_TIMEOUT)$/);
    server.close();
  });

  test("a retry waits for the Retry-After of the receiver", async () => {
    const busy = { status: 503, headers: { "retry-after": "1" } };
    const { emulator } = await withReceiver([busy], { retryDelaysMs: QUICK });
    expect(await emulator.deliver(SUCCEEDED)).toMatchObject({ delivered: true });
    expect(emulator.deliveries[0]?.retryInMs).toBe(1000);
  });

  test("retries use an edited URL, and stop when the endpoint is deleted", async () => {
    const other = await receiver(() => {
      emulator.remove(id);
      return 500;
    });
    const move = () => {
      emulator.edit(id, { url: other.url });
      return 500;
    };
    const { emulator, id, received } = await withReceiver([move], { retryDelaysMs: QUICK });
    const { endpoints } = await emulator.deliver(SUCCEEDED);
    expect(endpoints).toMatchObject([{ outcome: "failed", attempts: 2 }]);
    expect(emulator.deliveries.at(-1)?.retryInMs).toBeNull();
    expect([received.length, other.received.length]).toEqual([1, 1]);
  });

  test("close() ends a delivery that waits for a retry and one that waits for a response", async () => {
    const { emulator, received } = await withReceiver([500, "hang"], { retryDelaysMs: [3_600_000] });
    const waits = emulator.deliver(SUCCEEDED);
    await until(() => emulator.deliveries.length === 1);
    const hangs = emulator.deliver(SUCCEEDED);
    await until(() => received.length === 2);
    await emulator.close();
    expect((await waits).endpoints).toMatchObject([{ outcome: "failed", status: 500 }]);
    expect((await hangs).endpoints).toMatchObject([{ outcome: "failed", status: null }]);
    expect((await emulator.deliver(SUCCEEDED)).endpoints).toMatchObject([{ outcome: "failed" }]);
    expect(received).toHaveLength(2);
  });

  test("a delivery can carry any body and any id", async () => {
    const { emulator, received } = await withReceiver();
    const bodies = ['{"job_id":"job_1","status":"succeeded"}', ""];
    for (const body of bodies) await emulator.deliver({ event: "flat", body, id: "msg_1" });
    expect(received.map(({ body }) => body)).toEqual(bodies);
    expect(received.every((got) => verified(got) && got.headers["webhook-id"] === "msg_1")).toBe(true);
  });
});

describe("a forged delivery", () => {
  test("a tampered delivery fails verification and is sent once", async () => {
    const { emulator, received } = await withReceiver([401, 401, 401]);
    await emulator.deliver({ ...SUCCEEDED, tamper: true });
    await emulator.deliver({ event: "text", body: "no json", tamper: true });
    await emulator.deliver({ event: "twice", body: received[0]?.body ?? "", tamper: true });
    expect(received.map(({ body, headers }) => verifyDetailed(body, headers, A))).toEqual(
      Array(3).fill({ ok: false, reason: "signature-mismatch" }),
    );
    expect(JSON.parse(received[0]?.body ?? "")).toMatchObject(SUCCEEDED_BODY);
    expect(emulator.deliveries.map(({ tampered, retryInMs }) => [tampered, retryInMs])).toEqual(
      Array(3).fill([true, null]),
    );
  });

  test("an aged delivery fails verification only because of its timestamp", async () => {
    const { emulator, received } = await withReceiver();
    await emulator.deliver({ ...SUCCEEDED, ageSeconds: 600 });
    expect(verified(received[0])).toBe(false);
    expect(verify(received[0]?.body ?? "", received[0]?.headers ?? {}, A, 0)).toBe(true);
  });

  test("a replay repeats a delivery byte for byte", async () => {
    const { emulator, received } = await withReceiver();
    await expect(emulator.replay()).rejects.toMatchObject({ code: "EMULATOR_ARGUMENT" });
    const { id } = await emulator.deliver(SUCCEEDED);
    await emulator.deliver(SUCCEEDED);
    expect(await emulator.replay(id)).toMatchObject({ id, status: 204, replayed: true });
    expect(received[2]).toEqual(received[0]);
    expect(emulator.deliveries.map(({ replayed }) => replayed)).toEqual([false, false, true]);
    emulator.clearDeliveries();
    expect(emulator.deliveries).toEqual([]);
  });
});
