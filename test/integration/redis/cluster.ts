import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startRedis } from "../stores/redis";
import type { Store } from "../stores/store";
import { clients } from "./clients";

export interface RedisCluster {
  readonly host: string;
  readonly port: number;
  dispose(): Promise<void>;
}

const host = "127.0.0.1";
const SLOTS = Array.from({ length: 16_384 }, (_, slot) => String(slot));
/** A node's cluster bus listens on the port 10,000 higher. */
const HIGHEST_PORT = 55_535;

/** Starts a cluster of one real node, which has all slots. A command for keys of several slots fails as on a larger one. */
export async function startCluster(): Promise<RedisCluster> {
  const { port, server } = await startNode();
  const connection = await clients["node-redis 6"](server.url);
  try {
    await connection.send("CLUSTER", "ADDSLOTS", ...SLOTS);
    while (!String(await connection.send("CLUSTER", "INFO")).includes("cluster_state:ok")) await sleep(50);
  } finally {
    await connection.close();
  }
  return { host, port, dispose: () => server.dispose() };
}

/** Another process may take the port, or that of the cluster bus, before the node listens. */
async function startNode(attempts = 10): Promise<{ readonly port: number; readonly server: Store }> {
  const port = await freePort();
  try {
    const cluster = ["--cluster-enabled", "yes", "--cluster-announce-ip", host];
    const server = await startRedis(...cluster, "--bind", host, "--port", String(port));
    return { port, server };
  } catch (error) {
    if (attempts === 1) throw error;
    return startNode(attempts - 1);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port <= HIGHEST_PORT ? port : freePort();
}
