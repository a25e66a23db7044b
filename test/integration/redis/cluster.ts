import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "redis";
import { startRedis } from "../stores/redis";
import type { Store } from "../stores/store";

export interface RedisCluster {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  dispose(): Promise<void>;
}

const HOST = "127.0.0.1";
const SLOTS = 16_384;
/** A node's cluster bus listens on the port 10,000 higher. */
const HIGHEST_PORT = 55_535;

/** Starts a cluster of two real nodes, each with half of the slots. */
export async function startCluster(): Promise<RedisCluster> {
  const servers: Store[] = [];
  const dispose = async () => {
    await Promise.all(servers.map((server) => server.dispose()));
  };
  try {
    const started = [await startNode(servers), await startNode(servers)];
    for (const [index, { path }] of started.entries()) {
      const half = SLOTS / started.length;
      const slots = Array.from({ length: half }, (_, slot) => String(index * half + slot));
      await send(path, "CLUSTER", "ADDSLOTS", ...slots);
      for (const { port } of started) await send(path, "CLUSTER", "MEET", HOST, String(port));
    }
    for (const { path } of started) await joined(path);
    return { nodes: started.map(({ port }) => ({ host: HOST, port })), dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function startNode(servers: Store[]) {
  // Another process may take the port, or the one of the cluster bus, before the node listens.
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      const server = await startRedis("--cluster-enabled", "yes", "--bind", HOST, "--port", String(port));
      servers.push(server);
      return { port, path: server.url };
    } catch (error) {
      if (attempt === 10) throw error;
    }
  }
}

async function joined(path: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!String(await send(path, "CLUSTER", "INFO")).includes("cluster_state:ok")) {
    if (Date.now() > deadline) throw new Error("The nodes of the cluster did not find each other.");
    await sleep(50);
  }
}

async function send(path: string, ...command: string[]): Promise<unknown> {
  const client = createClient({ socket: { path, tls: false } });
  await client.connect();
  try {
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
}

async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    if (port <= HIGHEST_PORT) return port;
  }
}
