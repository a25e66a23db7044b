import IORedis from "ioredis";
import IORedis5 from "ioredis-5";
import * as redis from "redis";
import { type RedisDedupeOptions, redisDedupe } from "../../../src/receiver";
import { startRedis } from "../stores/redis";
import type { Store } from "../stores/store";
import { type Connection, clients } from "./clients";

const LEASE = 60_000;
const KEEP = 3_600_000;
const PREFIX = "webhook-delivery:";

let server: Store;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.dispose());

describe.each(Object.keys(clients))("%s", (name) => {
  let connection: Connection;
  let other: Connection;
  const connect = () => clients[name]?.(server.url) ?? Promise.reject(new Error(`no client ${name}`));

  beforeEach(async () => {
    connection = await connect();
    other = await connect();
    await connection.send("FLUSHALL");
  });
  afterEach(async () => {
    await connection.close();
    await other.close();
  });

  const keys = async () => (await connection.send("KEYS", "*")) as string[];
  const onlyKey = async () => {
    const [key = "", ...others] = await keys();
    expect(others).toEqual([]);
    return key;
  };
  const millisecondsLeft = async () => Number(await connection.send("PTTL", await onlyKey()));
  /** Ends a lease, as time would. */
  const expire = async () => connection.send("DEL", await onlyKey());

  function stores(options: { prefix?: string } = {}) {
    const store = redisDedupe({ client: connection.client, ...options });
    const rival = redisDedupe({ client: other.client, ...options });
    const claim = async (from = store, key = "a") => {
      const claimed = await from.claim(key, LEASE);
      return claimed.state === "claimed" ? claimed.token : claimed.state;
    };
    return { store, rival, claim };
  }

  test("of many workers that claim one delivery at once, one gets it for the time of its lease", async () => {
    const { store, rival } = stores();
    const wanting = Array.from({ length: 50 }, (_, index) => (index % 2 ? store : rival).claim("a", LEASE));
    const claims = await Promise.all(wanting);
    expect(claims.filter(({ state }) => state === "claimed")).toHaveLength(1);
    const waits = claims.flatMap((claim) => (claim.state === "held" ? [claim.retryAfterMs] : []));
    expect(waits).toHaveLength(49);
    for (const wait of waits) {
      expect(wait).toBeGreaterThan(LEASE - 30_000);
      expect(wait).toBeLessThanOrEqual(LEASE);
    }
  });

  test("what was completed is completed for everybody, and remembered as long as was asked for", async () => {
    const { store, rival, claim } = stores();
    expect(await store.complete("a", await claim(), KEEP)).toBe(true);
    expect(await rival.claim("a", LEASE)).toEqual({ state: "completed" });
    expect(await millisecondsLeft()).toBeGreaterThan(KEEP - 30_000);
    expect(await millisecondsLeft()).toBeLessThanOrEqual(KEEP);
  });

  test("a released key can be claimed at once", async () => {
    const { store, rival, claim } = stores();
    expect(await store.release("a", await claim())).toBe(true);
    expect(await keys()).toEqual([]);
    expect((await rival.claim("a", LEASE)).state).toBe("claimed");
  });

  test("a worker whose lease ran out can neither complete nor release the claim of its successor", async () => {
    const { store, rival, claim } = stores();
    const late = await claim();
    await expire();
    const token = await claim(rival);
    expect(await store.complete("a", late, KEEP)).toBe(false);
    expect(await store.release("a", late)).toBe(false);
    expect(await claim()).toBe("held");
    expect(await rival.complete("a", token, KEEP)).toBe(true);
    expect(await store.complete("a", late, KEEP)).toBe(false);
    expect(await store.release("a", late)).toBe(false);
    expect(await claim()).toBe("completed");
  });

  test("a claim can be completed after its lease if nobody took over", async () => {
    const { store, claim } = stores();
    const token = await claim();
    await expire();
    expect(await store.complete("a", token, KEEP)).toBe(true);
    expect(await claim()).toBe("completed");
  });

  test("another worker can claim a key when its lease ends", async () => {
    const { store, rival } = stores();
    await store.claim("a", 50);
    let claimed = await rival.claim("a", LEASE);
    while (claimed.state === "held") {
      await new Promise((wake) => setTimeout(wake, claimed.state === "held" ? claimed.retryAfterMs : 0));
      claimed = await rival.claim("a", LEASE);
    }
    expect(claimed.state).toBe("claimed");
  });

  test("the scripts are sent again to a Redis that has forgotten them", async () => {
    const { store, claim } = stores();
    await connection.send("SCRIPT", "FLUSH");
    const token = await claim();
    await connection.send("SCRIPT", "FLUSH");
    expect(await store.complete("a", token, KEEP)).toBe(true);
    await connection.send("SCRIPT", "FLUSH");
    expect(await claim()).toBe("completed");
  });

  test("every Redis key has the same length, whatever the delivery's key is", async () => {
    const { claim } = stores();
    for (const key of ["a", "a".repeat(100_000), "job.succeeded:{7}\r\n\0", "__proto__", "ü", "\ud800"])
      await claim(undefined, key);
    const lengths = (await keys()).map((key) => key.length);
    expect(lengths).toEqual(Array(6).fill(PREFIX.length + 43));
  });

  test("receivers with different prefixes do not share deliveries", async () => {
    const billing = stores({ prefix: "billing:" });
    const shipping = stores({ prefix: "shipping:" });
    await billing.store.complete("a", await billing.claim(), KEEP);
    expect(await shipping.claim()).not.toBe("completed");
    expect(await billing.claim(billing.rival)).toBe("completed");
    expect((await keys()).map((key) => key.split(":")[0]).sort()).toEqual(["billing", "shipping"]);
  });

  test("the errors of Redis reach the caller", async () => {
    const { store, claim } = stores();
    await claim();
    const key = await onlyKey();
    await connection.send("DEL", key);
    await connection.send("LPUSH", key, "not ours");
    await expect(store.claim("a", LEASE)).rejects.toThrow("WRONGTYPE");
  });
});

/** Sends each command twice, as a client does that lost its connection before the answer came. */
function sendingTwice<Client extends object>(client: Client): Client {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        await value.apply(target, args);
        return value.apply(target, args);
      };
    },
  });
}

test("a command that a client sends twice has the effect and the answer of one", async () => {
  const connection = await clients["node-redis 6"]?.(server.url);
  if (connection === undefined) throw new Error("no client");
  await connection.send("FLUSHALL");
  const store = redisDedupe({ client: sendingTwice(connection.client) });
  const claim = await store.claim("a", LEASE);
  expect(claim.state).toBe("claimed");
  expect(await store.complete("a", claim.state === "claimed" ? claim.token : "", KEEP)).toBe(true);
  expect(await store.claim("a", LEASE)).toEqual({ state: "completed" });
  await connection.close();
});

test("redisDedupe throws TypeError for anything but a node-redis or an ioredis client", () => {
  const client = { evalsha: "no function" } as unknown as Connection["client"];
  expect(() => redisDedupe({ client })).toThrow(TypeError);
});

test.each<[string, (path: string) => Connecting]>([
  [
    "ioredis 6",
    (path) =>
      new IORedis({ path, enableOfflineQueue: false, maxRetriesPerRequest: 1, disconnectTimeout: 50 }),
  ],
  [
    "ioredis 5",
    (path) =>
      new IORedis5({ path, enableOfflineQueue: false, maxRetriesPerRequest: 1, disconnectTimeout: 50 }),
  ],
  [
    "node-redis 6",
    (path) => opened(redis.createClient({ socket: { path, tls: false }, disableOfflineQueue: true })),
  ],
])(
  "a claim waits for the first connection of %s, which takes no command before, and fails if there is none",
  async (_name, open) => {
    for (const [path, isThere] of [
      [server.url, true],
      [`${server.url}.not`, false],
    ] as const) {
      const client = open(path);
      client.on("error", () => {});
      const store = redisDedupe({ client });
      const claims = await Promise.allSettled([store.claim("first", LEASE), store.claim("second", LEASE)]);
      expect(claims.map(({ status }) => status)).toEqual(Array(2).fill(isThere ? "fulfilled" : "rejected"));
      await (client.destroy ?? client.disconnect)?.call(client);
    }
  },
);

type Connecting = RedisDedupeOptions["client"] & {
  on(event: "error", listener: () => void): unknown;
  disconnect?(): unknown;
  destroy?(): unknown;
};

/** The command that opens a client of node-redis is not awaited. */
function opened<Client extends { connect(): Promise<unknown> }>(client: Client): Client {
  client.connect().catch(() => {});
  return client;
}
