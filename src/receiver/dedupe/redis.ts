import { createHash, randomUUID } from "node:crypto";
import { checkOptions } from "../checks";
import type { Claim, DedupeStore } from "./store";

/** The part of a node-redis client that is used, versions 4 to 6: `createClient`, `createCluster`, `createSentinel`, or a pool. */
export interface NodeRedisClient {
  /** Runs a script that the server has, by its hash. */
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): unknown;
  /** Runs a script by its source. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): unknown;
}

/** The part of an ioredis client that is used, versions 5 and 6: `Redis` or `Cluster`. */
export interface IoredisClient {
  /** Runs a script that the server has, by its hash. */
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): unknown;
  /** Runs a script by its source. */
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): unknown;
}

/** Options of `redisDedupe`. */
export interface RedisDedupeOptions {
  /** A connected client of node-redis or ioredis. Configuring it, listening for its errors and closing it is up to you. */
  readonly client: NodeRedisClient | IoredisClient;
  /**
   * The prefix of each key. Default `webhook-delivery:`. Receivers that stand in for each other share it. Receivers that each
   * handle the same events, such as two applications, or staging and production, on one Redis, need different ones: with one prefix, each
   * event reaches only one of them.
   */
  readonly prefix?: string | undefined;
}

// A key holds the token of its claim during the lease, and then "=" and that token while it is remembered. A client may repeat a
// command after a lost connection, so each script gives the same token the same answer twice.

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
 * const client = new Redis(process.env.REDIS_URL, { enableOfflineQueue: false, maxRetriesPerRequest: 1 }); // ioredis
 * const client = createClient({ url: process.env.REDIS_URL, disableOfflineQueue: true });                  // node-redis
 * client.on("error", (error) => logger.warn({ error }, "redis"));
 *
 * createReceiver({ secrets, dedupe: redisDedupe({ client, prefix: "billing:" }), handlers });
 * ```
 *
 * A claim waits for the client's first attempt to connect. While Redis cannot be reached, deliveries are answered 503, so that their senders retry: at once with a client that does not queue
 * commands while it is disconnected, as above, and otherwise after five seconds. node-redis before 5.11, and 6 before 6.2, may stay
 * disconnected after Redis restarts (redis/node-redis#3104). If Redis fails between the claim and the completion,
 * the receiver tries the completion again while the lease lasts, and calls `onUnrecorded` when it gives up. A Redis that evicts keys
 * (`maxmemory-policy`) or loses its last writes in a failover forgets deliveries, and a retry of one may be handled twice.
 *
 * @throws TypeError if the client is neither a node-redis nor an ioredis client, or an option is unknown or of the wrong type
 */
export function redisDedupe(options: RedisDedupeOptions): DedupeStore {
  if (isClient(options))
    throw new TypeError(
      "redisDedupe: expected an object, not the client itself. Use redisDedupe({ client }).",
    );
  checkOptions("redisDedupe", options, ["client", "prefix"]);
  const { client, prefix = "webhook-delivery:" } = options;
  if (typeof prefix !== "string") throw new TypeError("redisDedupe: prefix must be a string.");
  const claim = script(client, CLAIM);
  const complete = script(client, COMPLETE);
  const release = script(client, RELEASE);
  const connected = firstConnection(client);
  // Hashed to a fixed length: senders and `dedupeKey` choose the key.
  const keyOf = (key: string) => prefix + createHash("sha256").update(key).digest("base64url");

  return {
    async claim(key, leaseMs): Promise<Claim> {
      await connected();
      const token = randomUUID();
      const answer = await claim(keyOf(key), token, String(leaseMs));
      if (answer === -1) return { state: "claimed", token };
      return answer === -2 ? { state: "completed" } : { state: "held", retryAfterMs: answer };
    },
    // Succeeds after the lease, too, unless another worker took over: the delivery was handled.
    complete: async (key, token, keepMs) => (await complete(keyOf(key), token, String(keepMs))) === 1,
    release: async (key, token) => (await release(keyOf(key), token)) === 1,
  };
}

/** Less than a receiver waits for its store, so that the client's own error is reported. */
const LONGEST_WAIT_MS = 4_000;
const POLL_MS = 20;

/**
 * Returns a function that waits for the end of the client's first attempt to connect: without a queue of its own, it refuses commands until
 * then, and a function of AWS Lambda gets its first delivery as soon as it is loaded. No event tells of that end with all clients.
 */
function firstConnection(client: object): () => Promise<void> | undefined {
  let waiting: Promise<void> | undefined;
  const isConnecting = () => {
    const { status, isOpen, isReady } = client as Partial<Record<"status" | "isOpen" | "isReady", unknown>>;
    return status === "connecting" || status === "connect" || (isOpen === true && isReady === false);
  };
  const wait = async () => {
    const until = performance.now() + LONGEST_WAIT_MS;
    while (isConnecting() && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  };
  return () => {
    if (isConnecting()) waiting ??= wait();
    return waiting;
  };
}

type Script = (key: string, ...args: string[]) => Promise<number>;

/** Calls a script by its hash. Redis knows it after the first call, until it restarts or another node takes over. */
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

function isClient(value: object | undefined): boolean {
  const { evalsha, evalSha } = (value ?? {}) as { evalsha?: unknown; evalSha?: unknown };
  return typeof evalsha === "function" || typeof evalSha === "function";
}

function callsOf(client: NodeRedisClient | IoredisClient, { sha1, text }: { sha1: string; text: string }) {
  // Upstash's client has createScript, and an evalsha that takes lists. That of node-redis 3, with internal_send_command, takes a callback.
  if (!isClient(client) || "createScript" in client || "internal_send_command" in client)
    throw new TypeError(
      "redisDedupe: client must be a node-redis client (version 4 or later) or an ioredis client.",
    );
  if ("evalSha" in client) {
    const given = (key: string, args: string[]) => ({ keys: [key], arguments: args });
    return {
      byHash: (key: string, args: string[]) => client.evalSha(sha1, given(key, args)),
      byText: (key: string, args: string[]) => client.eval(text, given(key, args)),
    };
  }
  return {
    byHash: (key: string, args: string[]) => client.evalsha(sha1, 1, key, ...args),
    byText: (key: string, args: string[]) => client.eval(text, 1, key, ...args),
  };
}

/** Clients can be configured to return integers as strings. */
function integer(answer: unknown): number {
  const number = typeof answer === "boolean" ? Number.NaN : Number(answer);
  if (answer !== null && Number.isSafeInteger(number)) return number;
  throw new TypeError(
    `redisDedupe: the client returned ${answer === null ? "null" : `a value of type ${typeof answer}`} instead of Redis's integer.`,
  );
}
