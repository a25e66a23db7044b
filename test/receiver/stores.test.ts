import { createHash } from "node:crypto";
import {
  type Claim,
  type DedupeStore,
  memoryDedupe,
  type RedisDedupeOptions,
  redisDedupe,
} from "../../src/receiver";
import { brokenRules } from "./support";

describe("memoryDedupe", () => {
  test("keeps the rules of a store", async () => {
    expect(await brokenRules(memoryDedupe())).toEqual([]);
  });

  const tokenOf = (claim: Claim | Promise<Claim>) => (claim as { token: string }).token;
  test("a full store forgets the oldest completed key first, and never a running claim", () => {
    const now = jest.spyOn(performance, "now").mockReturnValue(0);
    const store = memoryDedupe({ maxEntries: 3 });
    for (const key of ["a", "b"]) void store.complete(key, tokenOf(store.claim(key, 10)), 1_000);
    const running = tokenOf(store.claim("c", 1_000));
    expect(store.claim("d", 1_000)).toMatchObject({ state: "claimed" });
    expect(store.claim("b", 1_000)).toEqual({ state: "completed" });
    expect(store.claim("e", 1_000)).toMatchObject({ state: "claimed" });
    expect(store.claim("f", 1_000)).toEqual({ state: "held", retryAfterMs: 1_000 });
    expect(store.complete("c", running, 1_000)).toBe(true);
    now.mockReturnValue(1_000);
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

afterEach(() => void jest.restoreAllMocks());

/** Stores that break a rule, and the rule. */
const flaws: readonly [rule: RegExp, change: (store: DedupeStore) => Partial<DedupeStore>][] = [
  [
    /one of many workers/,
    ({ claim }) => {
      const keys = new Set<string>();
      // Not atomic: it looks, and then takes.
      async function claimLater(key: string, leaseMs: number): Promise<Claim> {
        const isNew = !keys.has(key);
        await new Promise(setImmediate);
        keys.add(key);
        return isNew ? { state: "claimed", token: "1" } : claim(key, leaseMs);
      }
      return { claim: claimLater };
    },
  ],
  [/completed for every worker/, ({ release }) => ({ complete: release })],
  [/is forgotten/, ({ complete }) => ({ complete: (key, token) => complete(key, token, 1e9) })],
  [/a released delivery/, () => ({ release: () => true })],
  [/when its lease ends/, ({ claim }) => ({ claim: (key) => claim(key, 1e9) })],
  [
    /if nobody took over/,
    ({ claim, complete }) => {
      const hasEnded = async (key: string) => (await claim(key, 1)).state === "claimed";
      return { complete: async (key, ...given) => !(await hasEnded(key)) && complete(key, ...given) };
    },
  ],
  [/of its successor/, ({ complete }) => ({ complete: (...given) => complete(...given) || true })],
  [/whatever their keys/, ({ claim }) => ({ claim: (key, leaseMs) => claim(key.trim(), leaseMs) })],
];

test("the tests that authors of a store copy refuse one that forgets, never releases, is not atomic, or breaks another rule", async () => {
  const broken = flaws.map(([, change]) => {
    const store = memoryDedupe();
    return brokenRules({ ...store, ...change(store) });
  });
  const rules = flaws.map(([rule]) => expect.arrayContaining([expect.stringMatching(rule)]));
  expect(await Promise.all(broken)).toEqual(rules);
});

describe("redisDedupe", () => {
  /** Replies as Redis does, through the API of either client. */
  const clients = (reply: unknown) => ({
    ioredis: { eval: jest.fn(async () => reply) },
    "node-redis": { evalSha: () => {}, eval: jest.fn(async () => reply) },
  });
  const key = `p:${createHash("sha256").update("a").digest("base64url")}`;

  test.each([
    [-1, { state: "claimed", token: expect.any(String) }],
    [-2, { state: "completed" }],
    [700, { state: "held", retryAfterMs: 700 }],
    ["700", { state: "held", retryAfterMs: 700 }],
  ])("a reply of %p to a claim means %p, with either client", async (reply, claim) => {
    for (const client of Object.values(clients(reply)))
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

  test.each([null, undefined, "OK", true, 1.5, {}])("a reply of %p makes the claim fail", async (reply) => {
    for (const client of Object.values(clients(reply)))
      await expect(redisDedupe({ client }).claim("a", 5)).rejects.toThrow(/instead of Redis's integer/);
  });

  test("what is no client throws a TypeError that says what to pass", () => {
    for (const wrong of [{}, { client: {} }, { client: Promise.resolve() }, clients(1).ioredis])
      expect(() => redisDedupe(wrong as RedisDedupeOptions)).toThrow(
        /pass \{ client \}, a client of node-redis/,
      );
  });
});
