// One server of the comparison, in a process of its own, so that its cost is the CPU time of the process.
// argv: the variant, the secret, and the url of the store if it needs one. It answers the parent's message "cpu" with the microseconds used so far.

const http = require("node:http");
const { createRequire } = require("node:module");
const path = require("node:path");

const [variant, secret, url] = process.argv.slice(2);
/** Loads a package that the tests of queues have. */
const ofQueues = createRequire(path.join(__dirname, "../../test/integration/package.json"));
const own = {
  ...require("../../dist/receiver/index.js"),
  ...require("../../dist/receiver/adapters/node.js"),
  ...require("../../dist/receiver/queues/index.js"),
};
const ownHandlers = { "job.succeeded": async () => {} };

function bullmq() {
  const { Queue } = ofQueues("bullmq");
  const connection = { path: url, maxRetriesPerRequest: 1 };
  return new Queue(variant, { connection });
}

/** Returns a listener that reads the body, up to a size, and passes it on. */
function withBody(handle, most = Number.POSITIVE_INFINITY) {
  return (request, response) => {
    const chunks = [];
    let size = 0;
    request.on("data", (chunk) => {
      size += chunk.length;
      if (size > most) response.writeHead(413).end(() => request.destroy());
      else chunks.push(chunk);
    });
    request.on("end", () => handle(request, response, Buffer.concat(chunks)));
  };
}

const handlers = {
  /** Reads the body and drops it: the least that a server can do. */
  bare() {
    return (request, response) => {
      request.on("data", () => {});
      request.on("end", () => response.end("handled"));
    };
  },

  ours: () => own.nodeHandler(own.createReceiver({ secrets: secret, handlers: ownHandlers })),

  /** Remembers deliveries in Redis. */
  redis() {
    const { Redis } = ofQueues("ioredis");
    const dedupe = own.redisDedupe({ client: new Redis({ path: url }) });
    return own.nodeHandler(own.createReceiver({ secrets: secret, handlers: ownHandlers, dedupe }));
  },

  /** Hands deliveries to BullMQ. */
  bullmq: () => own.nodeHandler(own.createReceiver({ secrets: secret, queue: own.bullmqQueue(bullmq()) })),

  /** Hands deliveries to pg-boss. */
  async pgBoss() {
    const { PgBoss } = await import(ofQueues.resolve("pg-boss"));
    const boss = new PgBoss(url);
    await boss.start();
    await boss.createQueue("webhooks");
    return own.nodeHandler(own.createReceiver({ secrets: secret, queue: own.pgBossQueue(boss, "webhooks") }));
  },

  /** The same duties as `bullmq`, by hand: the size, verification, the job's id, retries, what is kept, the deadline and the answers. */
  byHand() {
    const { Webhook } = require("standardwebhooks");
    const webhook = new Webhook(secret);
    const queue = bullmq();
    const options = {
      attempts: 11,
      backoff: { type: "exponential", delay: 1000 },
      removeOnComplete: { age: 259_200 },
      removeOnFail: false,
    };
    async function handle(request, response, body) {
      let event;
      try {
        event = webhook.verify(body, request.headers);
      } catch {
        response.writeHead(401).end();
        return;
      }
      const id = request.headers["webhook-id"];
      const timestamp = Number(request.headers["webhook-timestamp"]);
      const { jobId } = event.data;
      const job = { version: 1, id, timestamp, event: event.type, jobId, body: body.toString("base64") };
      let timer;
      const late = new Promise((_, reject) => {
        timer = setTimeout(reject, 15_000, new Error("the queue is late"));
      });
      try {
        const adding = queue.add("delivery", job, { jobId: encodeURIComponent(id), ...options });
        await Promise.race([adding, late]);
        response.writeHead(202, { "content-type": "text/plain" }).end("queued");
      } catch {
        response.writeHead(503, { "retry-after": "5" }).end();
      } finally {
        clearTimeout(timer);
      }
    }
    return withBody(handle, 1024 * 1024);
  },

  /** The usual server around `standardwebhooks`: verification, JSON, dispatch and a set of handled ids. */
  standardwebhooks() {
    const { Webhook } = require("standardwebhooks");
    const webhook = new Webhook(secret);
    const handled = new Set();
    async function handle(request, response, body) {
      let event;
      try {
        event = webhook.verify(body, request.headers);
      } catch {
        response.writeHead(401).end();
        return;
      }
      const id = request.headers["webhook-id"];
      if (!handled.has(id)) {
        handled.add(id);
        await ownHandlers[event.type]?.(event);
      }
      response.writeHead(200, { "content-type": "text/plain" }).end("handled");
    }
    return withBody(handle);
  },
};

async function main() {
  const server = http.createServer(await handlers[variant]());
  server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
}

process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpu: user + system });
});
process.on("disconnect", () => process.exit());
void main();
