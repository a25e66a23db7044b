import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { WebhooksClient, type WebhooksClientOptions } from "../../src/client";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** When it came, in milliseconds; for order and distance only. */
  readonly at: number;
}

/** What a scripted server does with one request once it has all of it. */
export type Step = (response: ServerResponse, received: Received) => void;

export const apiKey = "key-that-must-not-show";

/** Answers with a status, JSON (or text as it stands) and headers. */
export function answer(
  statusCode: number,
  body?: unknown,
  headers: Record<string, string | string[]> = {},
): Step {
  return (response) => {
    response.writeHead(statusCode, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" || body === undefined ? body : JSON.stringify(body));
  };
}

/** Ends the connection with no answer. */
export const reset: Step = (response) => response.socket?.resetAndDestroy();

/** Never answers. */
export const hang: Step = () => {};

/** Sends the head and half of a body, and then ends the connection. */
export function cutShort(statusCode: number): Step {
  return (response) => {
    response.writeHead(statusCode, { "content-length": "100" });
    response.write('{"id":"', () => setTimeout(() => response.socket?.destroy(), 20));
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
  /** A client of this server, as by `clientOf`. */
  client(options?: Partial<WebhooksClientOptions>): WebhooksClient;
}

const cleanups: (() => Promise<unknown>)[] = [];

/** To be called in `afterEach`: ends what a test started. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

export function onCleanUp(cleanup: () => Promise<unknown>): void {
  cleanups.push(cleanup);
}

/** Listens on a free port of this machine until `cleanUp`, which ends its connections too. */
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

/** A port of this machine that nobody listens on. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A client that backs off for no time and knows of no proxy, unless told otherwise. */
export function clientOf(
  baseUrl: string,
  options: Partial<WebhooksClientOptions> = {},
  env: Record<string, string> = {},
): WebhooksClient {
  const client = new WebhooksClient({ baseUrl, apiKey, ...options }, { random: () => 0, env });
  onCleanUp(() => client.close());
  return client;
}

/** A server that takes its steps one a request, and repeats the last one. */
export async function serve(...steps: [Step, ...Step[]]): Promise<Scripted> {
  const received: Received[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, headers, body, at: performance.now() };
    const step = steps[Math.min(received.push(one), steps.length) - 1] ?? steps[0];
    step(response, one);
  });
  const port = await listen(server);
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    baseUrl,
    port,
    received,
    client: (options) => clientOf(baseUrl, options),
  };
}

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}
