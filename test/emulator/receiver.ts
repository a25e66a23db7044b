import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver's reaction: a status (perhaps from a function, or with a body), a reset, an end, no response, or half of one, with or without an end. */
export type Reaction =
  | number
  | { status: number; headers: Record<string, string>; body?: string }
  | "reset"
  | "end"
  | "hang"
  | "hang-in-body"
  | "end-in-body"
  | (() => number);

export interface LocalReceiver {
  readonly url: string;
  readonly received: readonly Received[];
}

const servers: Server[] = [];

/** Starts a local receiver. Its nth request gets the nth reaction, later ones get 204. */
export async function receiver(...reactions: Reaction[]): Promise<LocalReceiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    // The sender has given up.
    if (body === undefined) return;
    const next = reactions[received.length] ?? 204;
    received.push({ headers: request.headers, body });
    const reaction = typeof next === "function" ? next() : next;
    if (reaction === "reset") return request.socket.resetAndDestroy();
    if (reaction === "end") return request.socket.destroy();
    if (reaction === "hang") return;
    if (reaction === "hang-in-body") return void response.writeHead(200).write("half");
    if (reaction === "end-in-body")
      return void response.writeHead(200).write("half", () => request.socket.destroy());
    const given = typeof reaction === "number" ? { status: reaction, headers: {} } : reaction;
    response.writeHead(given.status, given.headers).end(given.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
  };
}

afterEach(() => Promise.all(servers.splice(0).map(closed)));

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
