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
  "Express 4": onExpress(express4),
  // Its types differ in parts that this does not use.
  "Express 5": onExpress(express5 as unknown as typeof express4),
  Connect: ({ receiver, bodyTimeoutMs }) =>
    listen(http.createServer(connect().use("/hooks", nodeHandler(receiver, { bodyTimeoutMs })))),
  "Fastify 4": (mounted) => onFastify(fastify4({ forceCloseConnections: true }), mounted),
  "Fastify 5": (mounted) => onFastify(fastify5({ forceCloseConnections: true }), mounted),
  "Hono on Node": ({ receiver, bodyTimeoutMs }) => {
    const app = new Hono();
    const handler = fetchHandler(receiver, { bodyTimeoutMs });
    app.all("/hooks", (c) => handler(c.req.raw));
    return listen(serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as http.Server);
  },
};

function onExpress(express: typeof express4): Start {
  return ({ receiver, bodyTimeoutMs }) => {
    const app = express();
    app.all("/hooks", nodeHandler(receiver, { bodyTimeoutMs }));
    app.use(express.json());
    return listen(http.createServer(app));
  };
}

/** What versions 4 and 5 have in common. */
interface AnyFastify {
  readonly server: http.Server;
  register(plugin: typeof fastifyPlugin, options: object): unknown;
  listen(options: object): Promise<unknown>;
  close(): PromiseLike<unknown>;
}

async function onFastify(app: AnyFastify, mounted: Mounted): Promise<Running> {
  await app.register(fastifyPlugin, { ...mounted, path: "/hooks" });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return { port: portOf(app.server), close: async () => app.close() };
}

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
