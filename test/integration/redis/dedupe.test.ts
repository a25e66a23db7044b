import { setTimeout as sleep } from "node:timers/promises";
import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { type RedisDedupeOptions, redisDedupe } from "../../../src/receiver";
import { brokenRules, delivered, receiverOf } from "../../receiver/support";
import { startRedis } from "../stores/redis";
import type { Store } from "../stores/store";
import { type Connection, clients } from "./clients";
import { startCluster } from "./cluster";

const LEASE = 60_000;
const KEEP = 3_600_000;

let server: Store;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.dispose());

describe.each(Object.entries(clients))("with %s", (_name, connect) => {
  let connection: Connection;
  let other: Connection;
  beforeEach(async () => {
    connection = await connect(server.url);
    other = await connect(server.url);
    await connection.send("FLUSHALL");
  });
  afterEach(async () => {
    await connection.close();
    await other.close();
  });

  const keys = async () => (await connection.send("KEYS", "*")) as string[];

  function stores(prefix?: string) {
    const options = prefix === undefined ? {} : { prefix };
    const store = redisDedupe({ client: connection.client, ...options });
    const rival = redisDedupe({ client: other.client, ...options });
    const claim = async (from = store) => {
      const claimed = await from.claim("a", LEASE);
      return claimed.state === "claimed" ? claimed.token : claimed.state;
    };
    return { store, rival, claim };
  }

  test("workers that share a Redis keep the rules of a store", async () => {
    const { store, rival } = stores();
    expect(await brokenRules(store, rival)).toEqual([]);
  });

  test("receivers with different prefixes do not share deliveries", async () => {
    const [billing, shipping] = [stores("billing:"), stores("shipping:")];
    await billing.store.complete("a", await billing.claim(), KEEP);
    expect(await shipping.claim()).not.toBe("completed");
    expect(await billing.claim(billing.rival)).toBe("completed");
    expect((await keys()).map((key) => key.split(":")[0]).sort()).toEqual(["billing", "shipping"]);
  });

  test("errors of Redis reach the caller", async () => {
    const { store, claim } = stores();
    await claim();
    const [key = ""] = await keys();
    await connection.send("DEL", key);
    await connection.send("LPUSH", key, "not ours");
    await expect(store.claim("a", LEASE)).rejects.toThrow("WRONGTYPE");
  });

  /** Acts on a Redis of the test's own, which it may stop, and on a connection to it. */
  async function withOwnRedis(act: (redis: Store, own: Connection) => Promise<void>): Promise<void> {
    const redis = await startRedis();
    const own = await connect(redis.url);
    try {
      await act(redis, own);
    } finally {
      await own.close();
      await redis.dispose();
    }
  }

  test("a receiver answers 503 while Redis is down, and recovers by itself", () =>
    withOwnRedis(async (redis, own) => {
      const handled: string[] = [];
      const { receiver, outcomeOf } = receiverOf({
        dedupe: redisDedupe({ client: own.client }),
        handlers: { "job.succeeded": ({ id }) => handled.push(id) },
      });
      const [before, during] = [delivered(), delivered()];
      expect(await receiver.handle(before)).toMatchObject({ status: 200 });
      await redis.stop();
      const headers = { "retry-after": expect.any(String) };
      expect(await receiver.handle(during)).toMatchObject({ status: 503, headers });
      await redis.start();
      while ((await receiver.handle(during)).status !== 200) await sleep(50);
      expect(handled).toEqual([before, during].map((request) => request.headers["webhook-id"]));
      expect(await outcomeOf(during)).toBe("duplicate");
    }));

  test("a delivery that was handled while Redis restarts is recorded as soon as Redis is back", () =>
    withOwnRedis(async (redis, own) => {
      const { receiver, outcomes, outcomeOf } = receiverOf({
        dedupe: redisDedupe({ client: own.client }),
        handlers: { "job.succeeded": () => redis.stop() },
      });
      const request = delivered();
      expect(await receiver.handle(request)).toMatchObject({ status: 200 });
      expect(outcomes).toMatchObject([{ outcome: "handled", error: expect.any(Error) }]);
      await redis.start();
      const stored = () => own.send("KEYS", "*").catch(() => []) as Promise<string[]>;
      while ((await stored()).length === 0) await sleep(50);
      expect(await outcomeOf(request)).toBe("duplicate");
    }));
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
  const connection = await clients["node-redis 6"](server.url);
  await connection.send("FLUSHALL");
  await claimsOnce(sendingTwice(connection.client), ["a"]);
  await connection.close();
});

async function claimsOnce(client: RedisDedupeOptions["client"], keys: readonly string[]): Promise<void> {
  const store = redisDedupe({ client });
  for (const key of keys) {
    const claim = await store.claim(key, LEASE);
    expect(claim.state).toBe("claimed");
    expect((await redisDedupe({ client }).claim(key, LEASE)).state).toBe("held");
    const token = claim.state === "claimed" ? claim.token : "";
    expect(await store.release(key, `not ${token}`)).toBe(false);
    expect(await store.complete(key, token, KEEP)).toBe(true);
    expect((await store.claim(key, LEASE)).state).toBe("completed");
  }
}

test("node-redis and ioredis claim each delivery once on a cluster", async () => {
  const { host, port, dispose } = await startCluster();
  try {
    const client = createCluster({ rootNodes: [{ socket: { host, port } }] });
    await client.connect();
    await claimsOnce(client, ["a", "b", "c"]);
    client.destroy();
    const other = new Cluster([{ host, port }]);
    await claimsOnce(other, ["d", "e", "f"]);
    other.disconnect();
  } finally {
    await dispose();
  }
});
