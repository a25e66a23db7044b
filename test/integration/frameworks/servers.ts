import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import connect from "connect";
import express5 from "express";
import express4 from "express4";
import fastify5 from "fastify";
import fastify4 from "fastify4";
import { Hono } from "hono";
import type { Receiver } from "../../../src/receiver";
import { fastifyPlugin } from "../../../src/receiver/adapters/fastify";
import { fetchHandler } from "../../../src/receiver/adapters/fetch";
import { nodeHandler } from "../../../src/receiver/adapters/node";

export interface Mounted {
  readonly receiver: Receiver;
  readonly bodyTimeoutMs?: number | undefined;
}

export interface Running {
  readonly port: number;
  close(): Promise<unknown>;
}

/** Starts a server that passes each request to `/hooks` to its receiver. */
export type Start = (mounted: Mounted) => Promise<Running>;

export const frameworks: Readonly<Record<string, Start>> = {
  "node:http": ({ receiver, bodyTimeoutMs }) =>
    listen(http.createServer(nodeHandler(receiver, { bodyTimeoutMs }))),

  "Express 4": ({ receiver, bodyTimeoutMs }) => {
    const app = express4();
    app.all("/hooks", nodeHandler(receiver, { bodyTimeoutMs }));
    app.use(express4.json());
    return listen(http.createServer(app));
  },

  "Express 5": ({ receiver, bodyTimeoutMs }) => {
    const app = express5();
    app.all("/hooks", nodeHandler(receiver, { bodyTimeoutMs }));
    app.use(express5.json());
    return listen(http.createServer(app));
  },

  Connect: ({ receiver, bodyTimeoutMs }) => {
    const app = connect();
    app.use("/hooks", nodeHandler(receiver, { bodyTimeoutMs }));
    return listen(http.createServer(app));
  },

  "Fastify 4": async ({ receiver, bodyTimeoutMs }) => {
    const app = fastify4({ forceCloseConnections: true });
    await app.register(fastifyPlugin, { receiver, bodyTimeoutMs, path: "/hooks" });
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { port: portOf(app.server), close: () => app.close() };
  },

  "Fastify 5": async ({ receiver, bodyTimeoutMs }) => {
    const app = fastify5({ forceCloseConnections: true });
    await app.register(fastifyPlugin, { receiver, bodyTimeoutMs, path: "/hooks" });
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { port: portOf(app.server), close: () => app.close() };
  },

  "Hono on Node": ({ receiver, bodyTimeoutMs }) => {
    const app = new Hono();
    const handler = fetchHandler(receiver, { bodyTimeoutMs });
    app.all("/hooks", (c) => handler(c.req.raw));
    return listen(serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as http.Server);
  },
};

/** Waits until a server listens; starts it if it does not listen yet. */
async function listen(server: http.Server): Promise<Running> {
  if (!server.listening) server.listen(0, "127.0.0.1");
  if (server.address() === null) await once(server, "listening");
  return {
    port: portOf(server),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function portOf(server: http.Server): number {
  return (server.address() as AddressInfo).port;
}
