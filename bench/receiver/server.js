// One server of the comparison, in a process of its own, so that its cost is the CPU time of the process.
// argv: the variant and the secret. It answers the parent's message "cpu" with the microseconds used so far.

const http = require("node:http");

const [variant, secret] = process.argv.slice(2);

const handlers = {
  /** Reads the body and drops it: the least that a server can do. */
  bare() {
    return (request, response) => {
      request.on("data", () => {});
      request.on("end", () => response.end("handled"));
    };
  },

  ours() {
    const { createReceiver } = require("../../dist/receiver/index.js");
    const { nodeHandler } = require("../../dist/receiver/adapters/node.js");
    return nodeHandler(createReceiver({ secrets: secret, handlers: { "job.succeeded": async () => {} } }));
  },

  /** The usual server around `standardwebhooks`: verification, JSON, dispatch and a set of handled ids. */
  standardwebhooks() {
    const { Webhook } = require("standardwebhooks");
    const webhook = new Webhook(secret);
    const handled = new Set();
    const handlers = { "job.succeeded": async () => {} };
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
        await handlers[event.type]?.(event);
      }
      response.writeHead(200, { "content-type": "text/plain" }).end("handled");
    }
    return (request, response) => {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => handle(request, response, Buffer.concat(chunks)));
    };
  },
};

const server = http.createServer(handlers[variant]());
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpu: user + system });
});
process.on("disconnect", () => process.exit());
