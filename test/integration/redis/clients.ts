import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Redis as UpstashRedis } from "@upstash/redis";
import IORedis from "ioredis";
import IORedis5 from "ioredis-5";
import * as redis from "redis";
import * as redis4 from "redis-4";
import * as redis5 from "redis-5";
import type { RedisDedupeOptions } from "../../../src/receiver";
import { ioredisOptions, nodeRedisOptions, nodeRedisSocket } from "./options";

export interface Connection {
  readonly client: RedisDedupeOptions["client"];
  /** Sends any command, past the store. */
  send(...command: string[]): Promise<unknown>;
  close(): unknown;
}

/** Connects to the socket of a server. */
type Connect = (path: string) => Promise<Connection>;

interface AnyNodeRedis {
  on(event: "error", listener: () => void): unknown;
  connect(): Promise<unknown>;
  sendCommand(command: string[]): Promise<unknown>;
}

async function connectNodeRedis<Client extends AnyNodeRedis & RedisDedupeOptions["client"]>(
  client: Client,
  close: (client: Client) => unknown,
): Promise<Connection> {
  client.on("error", () => {});
  await client.connect();
  return { client, send: (...command) => client.sendCommand(command), close: () => close(client) };
}

function connectIoredis(client: IORedis | IORedis5): Connection {
  client.on("error", () => {});
  return {
    client,
    send: (name = "", ...args) => client.call(name, ...args),
    close: () => client.disconnect(),
  };
}

/** Stands in for Upstash: passes each command that comes over HTTP to a Redis. */
async function connectUpstash(path: string): Promise<Connection> {
  const behind = connectIoredis(new IORedis({ path, ...ioredisOptions }));
  const server = createServer(async (request, response) => {
    const [name = "", ...args] = (await json(request)) as string[];
    const answer = await behind.send(name, ...args).then(
      (result) => ({ result }),
      (error: Error) => ({ error: error.message }),
    );
    response.writeHead("error" in answer ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { enableAutoPipelining: false, responseEncoding: false, enableTelemetry: false } as const;
  const upstash = new UpstashRedis({ url, token: "token", retry: false, ...options });
  return {
    client: {
      eval: (script: string, n: number, ...args: string[]) =>
        upstash.eval(script, args.slice(0, n), args.slice(n)),
    },
    send: behind.send,
    async close() {
      server.closeAllConnections();
      server.close();
      await behind.close();
    },
  };
}

/** The clients that `redisDedupe` supports, each configured as its documentation says. */
export const clients = {
  "node-redis 6": (path) =>
    connectNodeRedis(
      redis.createClient({ ...nodeRedisOptions, socket: { ...nodeRedisSocket, path, tls: false } }),
      (it) => it.destroy(),
    ),
  "node-redis 5": (path) =>
    connectNodeRedis(
      redis5.createClient({ ...nodeRedisOptions, socket: { ...nodeRedisSocket, path, tls: false } }),
      (it) => it.destroy(),
    ),
  "node-redis 4": (path) =>
    connectNodeRedis(
      redis4.createClient({ ...nodeRedisOptions, socket: { ...nodeRedisSocket, path } }),
      (it) => it.disconnect(),
    ),
  "ioredis 6": async (path) => connectIoredis(new IORedis({ path, ...ioredisOptions })),
  "@upstash/redis, wrapped as the documentation says": connectUpstash,
  "ioredis 5": async (path) => connectIoredis(new IORedis5({ path, ...ioredisOptions })),
} satisfies Record<string, Connect>;
