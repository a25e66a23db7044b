import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import tls from "node:tls";
import { removeFolders, startApp } from "../../receiver/readme/app";
import { codeOf } from "../../receiver/readme/page";
import { delivered, secret } from "../../receiver/support";
import { startRedis } from "../stores/redis";
import type { Store } from "../stores/store";

const folder = mkdtempSync(join(tmpdir(), "tls-"));
const certificate = join(folder, "certificate.pem");
const key = join(folder, "key.pem");

let redis: Store;
beforeAll(async () => {
  redis = await startRedis();
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", key, "-out", certificate];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...files, ...subject],
    {
      stdio: "ignore",
    },
  );
});
afterAll(async () => {
  removeFolders();
  rmSync(folder, { recursive: true });
  await redis.dispose();
});

/** The network between a function and Redis: a millisecond each way. What arrives while the function is frozen waits for it. */
async function startNetwork({ isEncrypted = false } = {}) {
  let isFrozen = false;
  const held: (() => void)[] = [];
  const connections = new Set<net.Socket>();
  const pass = (deliver: () => void) => void setTimeout(() => (isFrozen ? held.push(deliver) : deliver()), 1);
  function connect(near: net.Socket): void {
    connections.add(near);
    const far = net.connect(redis.url);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (data) => pass(() => to.write(data)));
      from.on("close", () => pass(() => to.destroy()));
      from.on("error", () => {});
    }
  }
  const server = isEncrypted
    ? tls.createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, connect)
    : net.createServer(connect);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as net.AddressInfo;
  return {
    url: isEncrypted ? `rediss://localhost:${port}` : `redis://127.0.0.1:${port}`,
    freeze() {
      isFrozen = true;
    },
    thaw() {
      isFrozen = false;
      for (const deliver of held.splice(0)) deliver();
    },
    endConnections() {
      for (const each of connections) each.destroy();
      connections.clear();
    },
    close() {
      this.endConnections();
      server.close();
    },
  };
}

const handler = codeOf("AWS Lambda: API Gateway, function URL, load balancer");
const withRedis = codeOf("receiver.ts with Redis, for several processes");
/** What differs with node-redis: its client. */
const withNodeRedis = withRedis
  .replace(/import \{ Redis \}.*/, 'import { client } from "./redis.js";')
  .replace(/const client = new Redis.*?\n\}\);\nclient.on.*?\n/s, "");
const recipe = readFileSync(resolve(__dirname, "../../../examples/recipes/sqs/worker.ts"), "utf8");
/** Calls the worker as AWS does for a batch of three. */
const asWorker = `
import http from "node:http";
import { buffer } from "node:stream/consumers";
import { handler } from "./worker.js";
http.createServer(async (request, response) => {
  const { id, body } = JSON.parse(await buffer(request));
  const Records = ["a", "b", "c"].map((each) => {
    const delivery = { version: 1, id: id + each, key: id + each, timestamp: 1, body };
    return { messageId: each, body: JSON.stringify(delivery) };
  });
  const { batchItemFailures } = await handler({ Records });
  response.writeHead(batchItemFailures.length === 0 ? 200 : 503).end();
}).listen();`;

interface Scenario {
  readonly files: Readonly<Record<string, string>>;
  /** The client, and the folder that has this version of it. */
  readonly client: readonly [name: string, folder: string];
  readonly isEncrypted?: boolean;
  /** What happens between two calls, one after the other: how long the function is frozen, in milliseconds, or what else. */
  readonly between: readonly (number | "its connection ends" | "a forged delivery")[];
}

const GAPS = [200, 200, 2_500, 200] as const;
const inLambda = { "app.ts": handler, "receiver.ts": withRedis };
const nodeRedis = {
  "app.ts": handler,
  "receiver.ts": withNodeRedis,
  "redis.ts": codeOf("redis.ts with node-redis"),
};
const scenarios: Readonly<Record<string, Scenario>> = {
  "the page's receiver": { files: inLambda, client: ["ioredis", "ioredis"], between: [...GAPS, 11_000] },
  "the page's receiver, with ioredis 5": { files: inLambda, client: ["ioredis", "ioredis-5"], between: GAPS },
  "the page's receiver, with node-redis": { files: nodeRedis, client: ["redis", "redis"], between: GAPS },
  "the worker of the recipe for SQS": {
    files: { "app.ts": asWorker, "worker.ts": recipe },
    client: ["ioredis", "ioredis"],
    between: [...GAPS, 11_000],
  },
  "a function whose connection is encrypted": {
    files: inLambda,
    client: ["ioredis", "ioredis"],
    isEncrypted: true,
    between: GAPS,
  },
  "a function whose connection ends meanwhile": {
    files: inLambda,
    client: ["ioredis", "ioredis"],
    between: [200, "its connection ends", 200, "its connection ends", 2_500],
  },
  "a function that refuses a forged delivery meanwhile": {
    files: inLambda,
    client: ["ioredis", "ioredis"],
    between: ["a forged delivery", 200, "a forged delivery", 2_500],
  },
};

async function statusesOf({
  files,
  client: [name, from],
  isEncrypted = false,
  between,
}: Scenario): Promise<number[]> {
  const network = await startNetwork({ isEncrypted });
  const packages = { [name]: `test/integration/node_modules/${from}` };
  const app = await startApp(
    { files, packages },
    {
      WEBHOOK_RECEIVER: JSON.stringify({ version: 1, secrets: [secret] }),
      REDIS_URL: network.url,
      NODE_EXTRA_CA_CERTS: certificate,
    },
  );
  const isOfQueue = "worker.ts" in files;
  /** Thaws the function for one call. */
  async function call({ headers, body } = delivered()): Promise<number> {
    process.kill(app.pid, "SIGCONT");
    network.thaw();
    const sent = isOfQueue
      ? JSON.stringify({ id: headers["webhook-id"], body: body.toString("base64") })
      : body;
    const status = await new Promise<number>((done, failed) => {
      const request = http.request(
        app.url,
        { method: "POST", agent: false, headers: { ...headers } },
        (response) => {
          response.resume().on("end", () => done(response.statusCode ?? 0));
        },
      );
      request.on("error", failed).end(sent);
    });
    freeze();
    return status;
  }
  function freeze(): void {
    process.kill(app.pid, "SIGSTOP");
    network.freeze();
  }
  freeze();
  try {
    const statuses = [await call()];
    for (const what of between) {
      if (what === "its connection ends") network.endConnections();
      if (what === "a forged delivery")
        expect(await call({ ...delivered(), body: Buffer.from("{}") })).toBe(401);
      await sleep(typeof what === "number" ? what : 200);
      statuses.push(await call());
    }
    return statuses;
  } finally {
    await app.stop("SIGKILL");
    network.close();
  }
}

// At the same time: most of it is waiting.
test("a function that is frozen between calls handles each delivery, with the options of the page and of each recipe", async () => {
  const running = Object.entries(scenarios).map(async ([what, scenario]) => [
    what,
    await statusesOf(scenario),
  ]);
  const expected = Object.entries(scenarios).map(([what, { between }]) => [
    what,
    Array(between.length + 1).fill(200),
  ]);
  expect(await Promise.all(running)).toEqual(expected);
});
