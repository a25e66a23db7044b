import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue, Worker } from "bullmq";
import IORedis from "ioredis";
import IORedis5 from "ioredis-5";
import * as ts from "typescript";
import { createReceiver, type Receiver, type RedisDedupeOptions, redisDedupe } from "../../../src/receiver";
import { bullmqQueue, queueWorker } from "../../../src/receiver/queues";
import { codeOf } from "../../receiver/readme/page";
import { delivered, jobSucceeded, secret } from "../../receiver/support";
import { startRedisOnPort } from "../stores/redis";
import { type Connection, clients } from "./clients";
import { ioredisOptions, queueOptions, workerOptions } from "./options";

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** A primary and its replica, behind one address. */
async function startPair() {
  // A replica otherwise waits five seconds for others.
  const primary = await startRedisOnPort("--repl-diskless-sync-delay", "0");
  closing.push(() => primary.server.dispose());
  const replica = await startRedisOnPort("--replicaof", "127.0.0.1", String(primary.port));
  closing.push(() => replica.server.dispose());
  const [toPrimary, toReplica] = await Promise.all(
    [primary, replica].map(({ server }) => clients["node-redis 6"](server.url)),
  );
  closing.push(
    () => toPrimary?.close(),
    () => toReplica?.close(),
  );
  const isSynced = async () =>
    String(await toReplica?.send("INFO", "replication")).includes("link_status:up");
  while (!(await isSynced())) await sleep(20);

  let target = primary.port;
  const sockets = new Set<net.Socket>();
  const address = net.createServer((near) => {
    const far = net.connect(target, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const each of [near, far]) sockets.add(each.on("error", () => {}));
  });
  await new Promise<void>((listening) => address.listen(0, "127.0.0.1", listening));
  closing.push(() => {
    for (const each of sockets) each.destroy();
    address.close();
  });
  return {
    url: `redis://127.0.0.1:${(address.address() as net.AddressInfo).port}`,
    /** The connections stay: they lead to what is a replica now. */
    async failOver() {
      await (toReplica as Connection).send("REPLICAOF", "NO", "ONE");
      await (toPrimary as Connection).send("REPLICAOF", "127.0.0.1", String(replica.port));
      target = replica.port;
    },
  };
}

/** Runs the module of the page for node-redis. */
function nodeRedisOf(url: string) {
  const { outputText } = ts.transpileModule(codeOf("redis.ts with node-redis"), {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const exported: { client?: RedisDedupeOptions["client"] } = {};
  let close = () => {};
  const load = () => {
    const redis = jest.requireActual<typeof import("redis")>("redis");
    return {
      createClient(options: Parameters<typeof redis.createClient>[0]) {
        const client = redis.createClient(options);
        close = () => client.destroy();
        return client;
      },
    };
  };
  const silent = { error() {} };
  new Function("require", "exports", "process", "console", outputText)(
    load,
    exported,
    { env: { REDIS_URL: url } },
    silent,
  );
  closing.push(() => close());
  return exported.client as RedisDedupeOptions["client"];
}

const quiet = { secrets: secret, onOutcome() {} };

test("after a failover that leaves the connections open, each client of the page and of the recipes goes on by itself", async () => {
  const pair = await startPair();
  const withRedis = (client: RedisDedupeOptions["client"], prefix: string): Receiver =>
    createReceiver({
      ...quiet,
      dedupe: redisDedupe({ client, prefix }),
      handlers: { "job.succeeded": () => {} },
    });
  const ioredis = [new IORedis(pair.url, ioredisOptions), new IORedis5(pair.url, ioredisOptions)].map(
    (client) => {
      client.on("error", () => {});
      closing.push(() => client.disconnect());
      return client;
    },
  );
  const queue = new Queue("webhooks", { connection: { url: pair.url, ...queueOptions } });
  queue.on("error", () => {});
  const handled: (string | undefined)[] = [];
  const working = new Worker(
    "webhooks",
    queueWorker({ handlers: { "job.succeeded": ({ jobId }) => handled.push(jobId) } }),
    { connection: { url: pair.url, ...workerOptions } },
  );
  working.on("error", () => {});
  closing.push(
    () => queue.close(),
    () => working.close(true),
  );
  const receivers: Readonly<Record<string, Receiver>> = {
    "ioredis 6": withRedis(ioredis[0] as IORedis, "6:"),
    "ioredis 5": withRedis(ioredis[1] as IORedis5, "5:"),
    "node-redis": withRedis(nodeRedisOf(pair.url), "n:"),
    BullMQ: createReceiver({ ...quiet, queue: bullmqQueue(queue) }),
  };
  const send = async (receiver: Receiver, jobId: string) =>
    (await receiver.handle(delivered({ body: jobSucceeded(jobId) }))).status;
  for (const receiver of Object.values(receivers)) expect(await send(receiver, "before")).toBeLessThan(300);
  while (!handled.includes("before")) await sleep(20);

  await pair.failOver();
  const answers = Object.entries(receivers).map(async ([name, receiver]) => {
    const statuses: number[] = [];
    while (!statuses.some((status) => status < 300) && statuses.length < 50) {
      statuses.push(await send(receiver, "after"));
      await sleep(200);
    }
    return [name, statuses.at(-1)];
  });
  expect(await Promise.all(answers)).toEqual([
    ["ioredis 6", 200],
    ["ioredis 5", 200],
    ["node-redis", 200],
    ["BullMQ", 202],
  ]);
  while (!handled.includes("after")) await sleep(20);
});
