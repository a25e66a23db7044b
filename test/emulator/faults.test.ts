import { FAULT_KINDS, type FaultKind, type FaultOptions, type Operation } from "../../src/emulator";
import { FAULTS } from "../../src/emulator/faults";
import { holdTime } from "../heldTime";
import { call, HOOK, outcome, started, timeoutAt, until } from "./support";

/** What a client sees of a registration with each kind of fault. */
const SEEN: Record<FaultKind, { fault?: object; sees: number | "failed" | "gave up" }> = {
  refuse: { sees: "failed" },
  "reset-before": { sees: "failed" },
  "reset-after": { sees: "failed" },
  "hang-before": { sees: "gave up" },
  "hang-after": { sees: "gave up" },
  delay: { fault: { delayMs: 50 }, sees: 201 },
  "late-commit": { fault: { delayMs: 50 }, sees: "gave up" },
  status: { fault: { status: 503 }, sees: 503 },
  truncated: { sees: 201 },
  malformed: { sees: 201 },
  empty: { sees: 201 },
  oversized: { sees: 201 },
};

const faultOf = (kind: FaultKind, operation: Operation) =>
  ({ operation, kind, ...SEEN[kind].fault }) as FaultOptions;

describe("a fault", () => {
  test.each(FAULT_KINDS)(
    "%s affects one registration and one deletion as documented, and is then used up",
    async (kind) => {
      const emulator = await started();
      const { sees } = SEEN[kind];
      const { effect } = FAULTS[kind];
      const limit = () => (sees === "gave up" ? { signal: timeoutAt(emulator) } : {});
      const lives = (count: number) => until(() => emulator.endpoints().length === count);
      emulator.fault(faultOf(kind, "register"));
      expect(await outcome(call(emulator, "POST /webhooks", { body: HOOK, ...limit() }))).toBe(sees);
      await lives(effect ? 1 : 0);
      expect(emulator.requests.filter(({ operation }) => operation === "register")).toEqual([
        expect.objectContaining({ fault: kind, status: typeof sees === "number" ? sees : null }),
      ]);

      emulator.clearRequests();
      const registered = await call(emulator, "POST /webhooks", { body: HOOK });
      const { id } = (await registered.json()) as { id: string };
      expect([registered.status, emulator.requests[0]?.fault]).toEqual([201, undefined]);
      await lives(effect ? 2 : 1);

      emulator.fault(faultOf(kind, "delete"));
      const seen = await outcome(call(emulator, `DELETE /webhooks/${id}`, limit()));
      expect(seen).toBe(sees === 201 ? (kind === "delay" ? 204 : 200) : sees);
      await lives(1);
      expect((await call(emulator, `GET /webhooks/${id}`)).status).toBe(effect ? 404 : 200);
    },
  );

  test("malformed, empty, oversized and truncated responses have exactly the documented body", async () => {
    const emulator = await started();
    const { id } = emulator.add(HOOK);
    const get = () => call(emulator, `GET /webhooks/${id}`);
    const whole = await (await get()).text();

    emulator.fault({ operation: "get", kind: "malformed" });
    const malformed = await (await get()).text();
    expect(whole.startsWith(malformed)).toBe(true);
    expect(() => JSON.parse(malformed)).toThrow(SyntaxError);

    emulator.fault({ operation: "get", kind: "empty" });
    expect(await (await get()).text()).toBe("");

    emulator.fault({ operation: "get", kind: "oversized" });
    const oversized = await get();
    expect(oversized.headers.get("content-length")).toBeNull();
    const padded = await oversized.text();
    expect([padded.length, padded.trimEnd()]).toEqual([32 * 1024 * 1024, whole]);

    emulator.fault({ operation: "get", kind: "truncated" });
    const truncated = await get();
    expect([truncated.status, truncated.headers.get("content-length")]).toEqual([200, String(whole.length)]);
    await expect(truncated.text()).rejects.toThrow();
  });

  test("delay postpones the response and not the effect, and late-commit both, past the client's timeout", async () => {
    const emulator = await started();
    const register = (more: object = {}) =>
      outcome(call(emulator, "POST /webhooks", { body: HOOK, ...more }));
    holdTime();
    emulator.fault({ operation: "register", kind: "delay", delayMs: 200 });
    let hasResponse = false;
    const delayed = register().finally(() => {
      hasResponse = true;
    });
    await until(() => emulator.endpoints().length === 1);
    for (let later = 0; later < 2; later += 1) await call(emulator, "GET /webhooks");
    expect(hasResponse).toBe(false);
    jest.advanceTimersByTime(200);
    expect(await delayed).toBe(201);

    emulator.fault({ operation: "register", kind: "late-commit", delayMs: 400 });
    expect(await register({ signal: timeoutAt(emulator) })).toBe("gave up");
    expect(emulator.endpoints()).toHaveLength(1);
    await until(() => {
      jest.advanceTimersByTime(400);
      return emulator.endpoints().length === 2;
    });
  });

  test.each([
    [{ status: 502, body: "<html>bad gateway</html>", effect: true }, {}, "<html>bad gateway</html>"],
    [{ status: 429, headers: { "retry-after": "7" }, body: { a: 1 } }, { "retry-after": "7" }, '{"a":1}'],
    [
      { status: 302, headers: { location: "/x" } },
      { location: "/x" },
      expect.stringContaining("fault of the emulator"),
    ],
    [{ status: 204 }, {}, ""],
  ])(
    "status responds with %j",
    async (fault: Omit<FaultOptions & { kind: "status" }, "operation" | "kind">, headers, body) => {
      const emulator = await started();
      emulator.fault({ operation: "register", kind: "status", ...fault });
      const response = await fetch(`${emulator.url}/webhooks`, {
        method: "POST",
        redirect: "manual",
        headers: { "x-api-key": emulator.apiKey },
        body: JSON.stringify(HOOK),
      });
      expect([response.status, await response.text()]).toEqual([fault.status, body]);
      expect(Object.fromEntries(response.headers)).toMatchObject(headers);
      expect(emulator.endpoints()).toHaveLength(fault.effect ? 1 : 0);
    },
  );

  test("an operation or a kind that does not exist is refused with those that do", async () => {
    const emulator = await started();
    for (const misspelt of [
      { operation: "get", kind: "dealy" },
      { operation: "gets", kind: "delay" },
    ])
      expect(() => emulator.fault(misspelt as FaultOptions)).toThrow(/one of any, register.*one of refuse, /);
  });

  test("a fault has no effect on a request that the service would refuse", async () => {
    const emulator = await started();
    emulator.fault({ operation: "register", kind: "reset-after" });
    const wrongKey = call(emulator, "POST /webhooks", { body: HOOK, key: "wrong" });
    expect(await outcome(wrongKey)).toBe("failed");
    expect(emulator.endpoints()).toEqual([]);
  });

  test("a fault can skip requests, repeat, and apply to one id only", async () => {
    const emulator = await started();
    const [first, second] = [emulator.add(HOOK), emulator.add(HOOK)];
    const when = { id: second.id, after: 1, times: 2 };
    const fault = emulator.fault({ operation: "get", kind: "status", status: 500, ...when });
    const statuses = [];
    for (const { id } of [first, second, second, first, second, second])
      statuses.push((await call(emulator, `GET /webhooks/${id}`)).status);
    expect(statuses).toEqual([200, 200, 500, 200, 500, 200]);
    expect(fault.hits).toBe(2);
  });

  test("a fault of any operation affects every request until it is removed", async () => {
    const emulator = await started();
    const fault = emulator.fault({ operation: "any", kind: "status", status: 500, times: Infinity });
    for (const request of [
      "GET /webhooks",
      "GET /webhooks/a",
      "DELETE /webhooks/a",
      "POST /webhooks",
      "GET /",
    ])
      expect((await call(emulator, request)).status).toBe(500);
    fault.remove();
    expect((await call(emulator, "GET /webhooks")).status).toBe(200);
    emulator.fault({ operation: "any", kind: "refuse", times: Infinity });
    emulator.clearFaults();
    expect((await call(emulator, "GET /webhooks")).status).toBe(200);
  });

  test("a fault that cannot be sent gets 500 with the reason, and the next request works", async () => {
    const emulator = await started();
    emulator.fault({ operation: "list", kind: "status", status: 503, headers: { "retry-after": "a\nb" } });
    const response = await call(emulator, "GET /webhooks");
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining("retry-after") });
    expect((await call(emulator, "GET /webhooks")).status).toBe(200);
  });
});
