// Serves receivers by node:http, Express 5 and Fetch, in a process of its own: an unhandled rejection ends it. Sends the parent
// process its ports, and on each message the number of times that each delivery's handler was called and succeeded.

import http from "node:http";
import { createRequire } from "node:module";
import { buffer, text } from "node:stream/consumers";

const require = createRequire(import.meta.url);
const frameworks = createRequire(new URL("../../integration/package.json", import.meta.url));
const { createReceiver } = require("../../../dist/receiver");
const { nodeHandler } = require("../../../dist/receiver/adapters/node");
const { fetchHandler } = require("../../../dist/receiver/adapters/fetch");
const express = frameworks("express");
const { getRequestListener } = frameworks("@hono/node-server");

const DAY_MS = 86_400_000;
const { secret } = JSON.parse(process.argv[2]);
let turn = 0;

const clocks = {
  "/hooks": Date.now,
  "/parsed": Date.now,
  "/clock/steps": () => Date.now() + (turn++ % 2 === 0 ? 100_000 : -100_000),
  "/clock/ahead": () => Date.now() + DAY_MS,
  "/clock/behind": () => Date.now() - DAY_MS,
  "/clock/seconds": () => Date.now() / 1000,
  "/clock/nan": () => Number.NaN,
  "/clock/infinite": () => Number.POSITIVE_INFINITY,
  "/clock/nothing": () => undefined,
  "/clock/date": () => new Date(),
  "/clock/string": () => String(Date.now()),
  "/clock/promise": async () => Date.now(),
  "/clock/throws": () => {
    throw new Error("no clock");
  },
};

function served(adapter) {
  const calls = {};
  const handler = async ({ id, jobId }) => {
    calls[id] ??= { called: 0, succeeded: 0 };
    calls[id].called += 1;
    await new Promise(setImmediate);
    if (jobId === "fails once" && calls[id].called === 1) throw new Error("once");
    calls[id].succeeded += 1;
  };
  const hooks = { onRejected() {}, onOutcome() {} };
  const handlers = { "job.succeeded": handler };
  const routes = Object.entries(clocks).map(([path, now]) => {
    const receiver = createReceiver({ secrets: secret, handlers, now, ...hooks });
    return [path, receiver];
  });
  return { server: adapter(routes), calls };
}

function byNode(routes) {
  const byPath = new Map(routes.map(([path, receiver]) => [path, nodeHandler(receiver)]));
  return http.createServer(async (request, response) => {
    if (request.url === "/parsed") request.body = JSON.parse(String(await buffer(request)));
    byPath.get(request.url)(request, response);
  });
}

function byExpress(routes) {
  const app = express();
  app.use("/parsed", express.json());
  for (const [path, receiver] of routes) app.all(path, nodeHandler(receiver));
  return http.createServer(app);
}

function byFetch(routes) {
  const byPath = new Map(routes.map(([path, receiver]) => [path, fetchHandler(receiver)]));
  const fetch = async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/parsed") await text(request.body);
    return byPath.get(pathname)(request);
  };
  return http.createServer(getRequestListener(fetch));
}

const all = { "node:http": served(byNode), "Express 5": served(byExpress), Fetch: served(byFetch) };
const ports = {};
for (const [name, { server }] of Object.entries(all)) {
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  ports[name] = server.address().port;
}
process.on("message", (name) => process.send(all[name].calls));
process.once("disconnect", () => process.exit());
process.send(ports);
