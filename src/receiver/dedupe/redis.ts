import { randomUUID } from "node:crypto";
import { digestOf } from "../digest";
import { requireMethods } from "../optionChecks";
import type { Claim, DedupeStore } from "./store";

/** The part of a client of node-redis that is used, versions 4 to 6, also of a cluster, a sentinel or a pool. */
export interface NodeRedisClient {
  /** Tells it from a client of ioredis. */
  readonly evalSha: unknown;
  /** Runs a script. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): unknown;
}

/** The part of a client of ioredis that is used, versions 5 and 6: `Redis` or `Cluster`. */
export interface IoredisClient {
  /** Runs a script. */
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): unknown;
}

/** Options of `redisDedupe`. */
export interface RedisDedupeOptions {
  /** A client of node-redis or ioredis. Configuring it, listening for its errors and closing it is up to you. */
  readonly client: NodeRedisClient | IoredisClient;
  /**
   * The prefix of each key. Default `webhook-delivery:`. Receivers that stand in for each other share it. Two applications on one
   * Redis, or staging and production, need different ones: with one prefix, each event reaches only one of them.
   */
  readonly prefix?: string | undefined;
}

// A key holds the token of its claim during the lease, and then "=" and that token while it is remembered. A client may repeat a
// command after a lost connection, so each script gives the same token the same result twice.

/** Returns -1 if claimed, -2 if completed, and otherwise the milliseconds that another worker's lease still runs. */
const CLAIM = `local held = redis.call("GET", KEYS[1])
if held and held ~= ARGV[1] then
  if string.sub(held, 1, 1) == "=" then return -2 end
  return math.max(0, redis.call("PTTL", KEYS[1]))
end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return -1`;

const COMPLETE = `local held = redis.call("GET", KEYS[1])
if held and held ~= ARGV[1] and held ~= "=" .. ARGV[1] then return 0 end
redis.call("SET", KEYS[1], "=" .. ARGV[1], "PX", ARGV[2])
return 1`;

const RELEASE = `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])`;

/**
 * Dedupes the deliveries of all processes that share one Redis (4 or later) or one cluster. Each delivery has one key of fixed
 * length, kept for the lease while it is handled and for three days afterwards.
 *
 * ```ts
 * const client = new Redis(process.env.REDIS_URL, options); // of ioredis
 * client.on("error", (error) => logger.warn({ error }, "redis"));
 *
 * createReceiver({ secrets, dedupe: redisDedupe({ client, prefix: "billing:" }), handlers });
 * ```
 *
 * Which options each client needs, and why, is in `docs/deduplication.md`, "Options of the client". While Redis cannot be reached, deliveries get
 * 503, after five seconds at the latest. A Redis that evicts keys (`maxmemory-policy`) or loses its last writes in a
 * failover forgets deliveries, and a retry of one may be handled twice.
 *
 * @throws TypeError if the client is neither a node-redis nor an ioredis client, nor looks like one of ioredis
 */
export function redisDedupe({ client, prefix = "webhook-delivery:" }: RedisDedupeOptions): DedupeStore {
  requireMethods(
    client,
    ["eval"],
    "redisDedupe: pass { client }, a client of node-redis (version 4 or later) or ioredis.",
  );
  // Redis's own clients emit events of their connection. One over HTTP has none, and takes the keys as a list. Not `in`, which does not
  // see through a Proxy, such as kv of @vercel/kv.
  const { evalsha, on }: Readonly<Record<string, unknown>> = Object(client);
  if (evalsha !== undefined && on === undefined)
    throw new TypeError(
      "redisDedupe: this client has no connection to Redis, as @upstash/redis. Pass it as { client: { eval: (script, n, ...args) => " +
        "client.eval(script, args.slice(0, n), args.slice(n)) } }.",
    );

  async function run(script: string, key: string, ...args: string[]): Promise<number> {
    // Hashed to a fixed length: senders and `dedupeKey` choose the key.
    const name = prefix + digestOf(key);
    const result = await ("evalSha" in client
      ? client.eval(script, { keys: [name], arguments: args })
      : client.eval(script, 1, name, ...args));
    // Clients can be configured to return integers as strings.
    if (/^-?\d+$/.test(String(result))) return Number(result);
    throw new TypeError(`redisDedupe: the client returned ${typeof result} instead of Redis's integer.`);
  }

  return {
    async claim(key, leaseMs): Promise<Claim> {
      const token = randomUUID();
      const result = await run(CLAIM, key, token, String(leaseMs));
      if (result === -1) return { state: "claimed", token };
      return result === -2 ? { state: "completed" } : { state: "held", retryAfterMs: result };
    },
    // Succeeds after the lease, too, unless another worker took over: the delivery was handled.
    complete: async (key, token, keepMs) => (await run(COMPLETE, key, token, String(keepMs))) === 1,
    release: async (key, token) => (await run(RELEASE, key, token)) === 1,
  };
}
