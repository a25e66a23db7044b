import { setTimeout as sleep } from "node:timers/promises";
import { startRedisOnPort } from "../stores/redis";
import { clients } from "./clients";

export interface RedisCluster {
  readonly host: string;
  readonly port: number;
  dispose(): Promise<void>;
}

const host = "127.0.0.1";
const SLOTS = Array.from({ length: 16_384 }, (_, slot) => String(slot));

/** Starts a cluster of one real node, which has all slots. A command for keys of several slots fails as on a larger one. */
export async function startCluster(): Promise<RedisCluster> {
  const cluster = ["--cluster-enabled", "yes", "--cluster-announce-ip", host];
  const { port, server } = await startRedisOnPort(...cluster);
  const connection = await clients["node-redis 6"](server.url);
  try {
    await connection.send("CLUSTER", "ADDSLOTS", ...SLOTS);
    while (!String(await connection.send("CLUSTER", "INFO")).includes("cluster_state:ok")) await sleep(50);
  } finally {
    await connection.close();
  }
  return { host, port, dispose: () => server.dispose() };
}
