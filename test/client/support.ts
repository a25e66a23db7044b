import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { WebhooksClient, type WebhooksClientOptions } from "../../src/client";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Handles one request of a scripted server, after all of it has arrived. */
export type Step = (response: ServerResponse, received: Received) => void;

export const apiKey = "key-that-must-not-show";

/** Responds with a status, a body and headers. A string is sent as it is, and anything else as JSON. */
export function reply(
  statusCode: number,
  body?: unknown,
  headers: Record<string, string | string[]> = {},
): Step {
  return (response) => {
    response.writeHead(statusCode, { "content-type": "application/json", ...headers });
    const raw = typeof body === "string" || body === undefined;
    response.end(raw ? body : JSON.stringify(body));
  };
}

/** Resets the connection without a response. */
export const reset: Step = (response) => response.socket?.resetAndDestroy();

/** Never responds. */
export const hang: Step = () => {};

/** Sends the head and a part of the body, and then ends the connection. */
export function cutShort(statusCode: number): Step {
  return (response) => {
    response.writeHead(statusCode, { "content-length": "100" });
    response.write('{"id":"', () => response.socket?.destroy());
  };
}

export const endpoint = {
  id: "wh_1",
  url: "https://hooks.example.com/secret-path?token=secret-token",
  type: "production" as const,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-02T00:00:00Z",
};

export interface Scripted {
  readonly baseUrl: string;
  readonly port: number;
  readonly received: Received[];
  /** Resolves when so many requests have arrived. */
  arrived(count: number): Promise<void>;
  /** Returns a client of this server, as `clientOf` does. */
  client(options?: Partial<WebhooksClientOptions>): WebhooksClient;
}

const cleanups: (() => Promise<unknown>)[] = [];

/**
 * Ends everything that a test started; for `afterEach`. A cleanup that fails keeps no other from running, because an open
 * server would keep Jest from ending. All run at once: a client waits for operations that end when their server closes.
 */
export async function cleanUp(): Promise<void> {
  const results = await Promise.allSettled(cleanups.splice(0).map(async (cleanup) => cleanup()));
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `cleaning up failed: ${errors.join("; ")}`);
}

export function onCleanUp(cleanup: () => Promise<unknown>): void {
  cleanups.push(cleanup);
}

/** Listens on a free port of this machine until `cleanUp`, which closes its connections too. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onCleanUp(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** Returns a client whose backoffs take no time. */
export function clientOf(baseUrl: string, options: Partial<WebhooksClientOptions> = {}): WebhooksClient {
  const client = new WebhooksClient({ baseUrl, apiKey, ...options }, { random: () => 0 });
  onCleanUp(() => client.close());
  return client;
}

/** Starts a server that takes one step for each request, and repeats the last step. */
export async function serve(...steps: [Step, ...Step[]]): Promise<Scripted> {
  const received: Received[] = [];
  const arrivals = new EventEmitter();
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, headers, body };
    const step = steps[Math.min(received.push(one), steps.length) - 1] ?? steps[0];
    arrivals.emit("arrival");
    step(response, one);
  });
  const port = await listen(server);
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    baseUrl,
    port,
    received,
    arrived: async (count) => {
      while (received.length < count) await once(arrivals, "arrival");
    },
    client: (options) => clientOf(baseUrl, options),
  };
}

/** Returns the error that a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("the promise did not reject");
}
