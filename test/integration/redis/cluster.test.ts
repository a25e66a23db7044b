import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { type RedisDedupeOptions, redisDedupe } from "../../../src/receiver";
import { type RedisCluster, startCluster } from "./cluster";

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.dispose());

/** Enough deliveries for each node to hold some. */
const KEYS = Array.from({ length: 40 }, (_, index) => `msg_${index}`);

async function handlesEachOnce(client: RedisDedupeOptions["client"], prefix: string): Promise<void> {
  const store = redisDedupe({ client, prefix });
  for (const key of KEYS) {
    const claim = await store.claim(key, 60_000);
    expect(claim.state).toBe("claimed");
    expect((await store.claim(key, 60_000)).state).toBe("held");
    const token = claim.state === "claimed" ? claim.token : "";
    expect(await store.release(key, `not ${token}`)).toBe(false);
    expect(await store.complete(key, token, 60_000)).toBe(true);
    expect((await store.claim(key, 60_000)).state).toBe("completed");
  }
}

test("node-redis dedupes on a cluster, each delivery on the node of its key", async () => {
  const rootNodes = cluster.nodes.map(({ host, port }) => ({ socket: { host, port } }));
  const client = createCluster({ rootNodes });
  await client.connect();
  await handlesEachOnce(client, "node-redis:");
  client.destroy();
});

test("a claim waits while a cluster client of node-redis connects, and works from then on", async () => {
  const rootNodes = cluster.nodes.map(({ host, port }) => ({ socket: { host, port } }));
  const client = createCluster({ rootNodes, defaults: { disableOfflineQueue: true } });
  const connecting = client.connect();
  await handlesEachOnce(client, "connecting:");
  await connecting;
  client.destroy();
});

test("ioredis dedupes on a cluster, each delivery on the node of its key", async () => {
  const client = new Cluster([...cluster.nodes]);
  await handlesEachOnce(client, "ioredis:");
  client.disconnect();
});
