import { createHash } from "node:crypto";
import { type Claim, memoryDedupe, type RedisDedupeOptions, redisDedupe } from "../../src/receiver";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe("memoryDedupe", () => {
  const tokenOf = (claim: Claim | Promise<Claim>) => (claim as { token: string }).token;
  const pass = (milliseconds: number) => jest.advanceTimersByTime(milliseconds);

  test("a claim lasts until its lease ends, and then only the new one can be completed", () => {
    const store = memoryDedupe();
    const old = tokenOf(store.claim("a", 1_000));
    pass(400);
    expect(store.claim("a", 1_000)).toEqual({ state: "held", retryAfterMs: 600 });
    pass(600);
    const token = tokenOf(store.claim("a", 1_000));
    expect(store.complete("a", old, 1_000)).toBe(false);
    expect(store.release("a", old)).toBe(false);
    expect(store.complete("a", token, 1_000)).toBe(true);
    expect(store.claim("a", 1_000)).toEqual({ state: "completed" });
    pass(1_000);
    expect(store.claim("a", 1_000)).toMatchObject({ state: "claimed" });
  });

  test("a released key can be claimed at once, and a claim can be completed after its lease if nobody took over", () => {
    const store = memoryDedupe();
    expect(store.release("a", tokenOf(store.claim("a", 10)))).toBe(true);
    const token = tokenOf(store.claim("a", 10));
    pass(20);
    expect(store.complete("a", token, 1_000)).toBe(true);
    expect(store.claim("a", 10)).toEqual({ state: "completed" });
  });

  test("a full store forgets the oldest completed key first, and never a running claim", () => {
    const store = memoryDedupe({ maxEntries: 3 });
    for (const key of ["a", "b"]) void store.complete(key, tokenOf(store.claim(key, 10)), 1_000);
    const running = tokenOf(store.claim("c", 1_000));
    expect(store.claim("d", 1_000)).toMatchObject({ state: "claimed" });
    expect(store.claim("b", 1_000)).toEqual({ state: "completed" });
    expect(store.claim("e", 1_000)).toMatchObject({ state: "claimed" });
    expect(store.claim("f", 1_000)).toEqual({ state: "held", retryAfterMs: 1_000 });
    expect(store.complete("c", running, 1_000)).toBe(true);
    pass(1_000);
    expect(store.claim("f", 1_000)).toMatchObject({ state: "claimed" });
  });

  test("a full store takes about as long for a delivery as one that fills up", () => {
    const store = memoryDedupe({ maxEntries: 200_000 });
    let keys = 0;
    const cpuOf = (deliveries: number) => {
      const before = process.cpuUsage();
      for (const last = keys + deliveries; keys < last; keys++)
        void store.complete(String(keys), tokenOf(store.claim(String(keys), 10)), 1_000);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    // The median: whatever else the machine does slows some of them down.
    const usualCpu = () =>
      Array.from({ length: 100 }, () => cpuOf(2_000)).sort((a, b) => a - b)[50] ?? Number.NaN;
    const filling = usualCpu();
    expect(usualCpu()).toBeLessThan(8 * filling);
  });

  test.each([0, -1, 1.5, "10"])("maxEntries %p throws a RangeError", (maxEntries) => {
    expect(() => memoryDedupe({ maxEntries: maxEntries as number })).toThrow(RangeError);
  });
});

describe("redisDedupe", () => {
  /** Answers as Redis does, through the API of either client. */
  const clients = (answer: unknown) => ({
    ioredis: { eval: jest.fn(async () => answer) },
    "node-redis": { evalSha: () => {}, eval: jest.fn(async () => answer) },
  });
  const key = `p:${createHash("sha256").update("a").digest("base64url")}`;

  test.each([
    [-1, { state: "claimed", token: expect.any(String) }],
    [-2, { state: "completed" }],
    [700, { state: "held", retryAfterMs: 700 }],
    ["700", { state: "held", retryAfterMs: 700 }],
  ])("an answer of %p to a claim means %p, with either client", async (answer, claim) => {
    for (const client of Object.values(clients(answer)))
      expect(await redisDedupe({ client, prefix: "p:" }).claim("a", 5)).toEqual(claim);
  });

  test("each client gets its own form of the arguments, with the key hashed behind the prefix", async () => {
    const { ioredis, "node-redis": nodeRedis } = clients(1);
    expect(await redisDedupe({ client: ioredis, prefix: "p:" }).complete("a", "t", 7)).toBe(true);
    expect(ioredis.eval).toHaveBeenCalledWith(expect.stringContaining("redis.call"), 1, key, "t", "7");
    expect(await redisDedupe({ client: nodeRedis, prefix: "p:" }).release("a", "t")).toBe(true);
    const given = { keys: [key], arguments: ["t"] };
    expect(nodeRedis.eval).toHaveBeenCalledWith(expect.stringContaining("redis.call"), given);
  });

  test.each([null, undefined, "OK", true, 1.5, {}])(
    "an answer of %p makes the claim fail",
    async (answer) => {
      for (const client of Object.values(clients(answer)))
        await expect(redisDedupe({ client }).claim("a", 5)).rejects.toThrow(/instead of Redis's integer/);
    },
  );

  test("what is no client throws a TypeError that says what to pass", () => {
    for (const wrong of [{}, { client: {} }, { client: Promise.resolve() }, clients(1).ioredis])
      expect(() => redisDedupe(wrong as RedisDedupeOptions)).toThrow(
        /pass \{ client \}, a client of node-redis/,
      );
  });
});
