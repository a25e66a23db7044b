import { createHash, randomUUID } from "node:crypto";
import type { Claim, DedupeStore } from "./store";

/** What is used of a client of node-redis, versions 4 to 6: of `createClient`, `createCluster`, `createSentinel`, or a pool. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): unknown;
  eval(script: string, options: { keys: string[]; arguments: string[] }): unknown;
}

/** What is used of a client of ioredis, versions 5 and 6: of `Redis` or `Cluster`. */
export interface IoredisClient {
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): unknown;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): unknown;
}

export interface RedisDedupeOptions {
  /** A connected client of node-redis or ioredis: yours to configure, to watch for errors and to close. */
  readonly client: NodeRedisClient | IoredisClient;
  /**
   * What each key begins with. Default `webhook-delivery:`. Receivers that stand in for each other share it; those that
   * each want the same event, such as staging and production on one Redis, need one of their own.
   */
  readonly prefix?: string | undefined;
}

// A key holds the token of who has it, for a lease; then "=" and that token, for as long as it is remembered. A client may
// send again what a connection lost on the way, so each answers the same token the same way twice.

/** -1: claimed, -2: completed, otherwise the milliseconds that another's lease still runs. */
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
 * Dedupes the deliveries of all processes that share one Redis (4 or later), a cluster included: one key a delivery, of
 * fixed length, kept for the lease while it is handled and for max(2 x tolerance, 3 days) afterwards.
 *
 * ```ts
 * const client = new Redis(process.env.REDIS_URL, { enableOfflineQueue: false, maxRetriesPerRequest: 1 }); // ioredis
 * const client = createClient({ url: process.env.REDIS_URL, disableOfflineQueue: true });                  // node-redis
 * client.on("error", (error) => logger.warn({ error }, "redis"));
 *
 * createReceiver({ secrets, dedupe: redisDedupe({ client, prefix: "billing:" }), handlers });
 * ```
 *
 * While Redis cannot be reached, deliveries are answered 503 and come again: at once with a client that does not queue while
 * it is disconnected, as above, and otherwise after five seconds. A Redis that evicts keys (`maxmemory-policy`) or loses its
 * last writes in a failover forgets deliveries, and may let one be handled twice.
 *
 * @throws TypeError when the client is of neither kind
 */
export function redisDedupe({ client, prefix = "webhook-delivery:" }: RedisDedupeOptions): DedupeStore {
  const claim = script(client, CLAIM);
  const complete = script(client, COMPLETE);
  const release = script(client, RELEASE);
  // Of fixed length, whatever a sender or `dedupeKey` makes the key.
  const keyOf = (key: string) => prefix + createHash("sha256").update(key).digest("base64url");

  return {
    async claim(key, leaseMs): Promise<Claim> {
      const token = randomUUID();
      const answer = await claim(keyOf(key), token, String(leaseMs));
      if (answer === -1) return { state: "claimed", token };
      return answer === -2 ? { state: "completed" } : { state: "held", retryAfterMs: answer };
    },
    // Also where the lease ran out and nobody has taken over: it was handled.
    complete: async (key, token, keepMs) => (await complete(keyOf(key), token, String(keepMs))) === 1,
    release: async (key, token) => (await release(keyOf(key), token)) === 1,
  };
}

type Script = (key: string, ...args: string[]) => Promise<number>;

/** A script by its hash, which Redis knows from the first call on, until it restarts or another node takes over. */
function script(client: NodeRedisClient | IoredisClient, text: string): Script {
  const sha1 = createHash("sha1").update(text).digest("hex");
  const { byHash, byText } = callsOf(client, { sha1, text });
  return async (key, ...args) => {
    try {
      return integer(await byHash(key, args));
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return integer(await byText(key, args));
    }
  };
}

function callsOf(client: NodeRedisClient | IoredisClient, { sha1, text }: { sha1: string; text: string }) {
  if ("evalSha" in client && typeof client.evalSha === "function") {
    const given = (key: string, args: string[]) => ({ keys: [key], arguments: args });
    return {
      byHash: (key: string, args: string[]) => client.evalSha(sha1, given(key, args)),
      byText: (key: string, args: string[]) => client.eval(text, given(key, args)),
    };
  }
  if ("evalsha" in client && typeof client.evalsha === "function") {
    return {
      byHash: (key: string, args: string[]) => client.evalsha(sha1, 1, key, ...args),
      byText: (key: string, args: string[]) => client.eval(text, 1, key, ...args),
    };
  }
  throw new TypeError("redisDedupe: client is neither a node-redis client (4 or later) nor an ioredis one.");
}

/** Clients can be set to give integers as text. */
function integer(answer: unknown): number {
  const number = Number(answer);
  if (answer !== null && Number.isSafeInteger(number)) return number;
  throw new TypeError(
    `redisDedupe: the client gave ${answer === null ? "null" : `a value of type ${typeof answer}`} where Redis answers an integer.`,
  );
}
