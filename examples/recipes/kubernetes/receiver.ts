import http from "node:http";
import { nodeHandler } from "pulumi-webhook-endpoints/receiver/node";
import { receiverFromFile } from "pulumi-webhook-endpoints/stack";

/** Reads the file again when the Secret has changed, so a rotation needs no restart. */
const receiver = receiverFromFile(
  { path: "/etc/webhooks/receiver.json" },
  {
    handlers: {
      "job.succeeded": async ({ jobId }) => console.log(`${jobId} is done`),
      "job.failed": async ({ jobId }) => console.log(`${jobId} failed`),
    },
  },
);

const server = http.createServer(nodeHandler(receiver)).listen(8080);
// Longer than a proxy or a load balancer keeps an idle connection, which is often 60 seconds: otherwise it answers 502 now and then.
server.keepAliveTimeout = 65_000;

// Answers the requests in progress. Later ones go to another container, or are sent again.
process.once("SIGTERM", () => server.close());
