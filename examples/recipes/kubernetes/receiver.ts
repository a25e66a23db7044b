import http from "node:http";
import { nodeHandler } from "pulumi-webhook-endpoints/receiver/node";
import { receiverFromFile } from "pulumi-webhook-endpoints/stack";

/** Reads the file again when the Secret changed: a rotation restarts nothing. */
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

// What is under way is answered; what comes later goes to another container, or is sent again.
process.once("SIGTERM", () => server.close());
