import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { createReceiver } from "../../src/receiver";
import { nodeHandler } from "../../src/receiver/adapters/node";

/** A receiver of this package; `handled` is called by its handlers. */
export function ours(secrets: string | string[], handled: () => void = () => {}): RequestListener {
  const receiver = createReceiver({ secrets, handlers: {}, onUnhandled: handled, onRejected: () => {} });
  return nodeHandler(receiver);
}

/** A receiver as the documentation of `standardwebhooks` writes one. */
export function standard(secret: string): RequestListener {
  return receiverOf(secret, (raw) => raw);
}

/** The same behind a parser: it verifies what it serializes again. */
export function parsing(secret: string): RequestListener {
  return receiverOf(secret, (raw) => JSON.stringify(JSON.parse(raw)));
}

function receiverOf(secret: string, read: (raw: string) => string): RequestListener {
  const webhook = new Webhook(secret);
  return async (request, response) => {
    const raw = (await buffer(request)).toString("utf8");
    try {
      webhook.verify(read(raw), request.headers as Record<string, string>);
      response.writeHead(204).end();
    } catch {
      response.writeHead(400).end();
    }
  };
}

/** Accepts an id that it has seen before it verifies anything. */
export function dedupingFirst(secret: string): RequestListener {
  const verify = standard(secret);
  const seen = new Set<unknown>();
  return (request, response) => {
    const id = request.headers["webhook-id"];
    if (seen.has(id)) return always(200)(request, response);
    seen.add(id);
    verify(request, response);
  };
}

/** Responds to everything with this. */
export function always(status: number, headers: Record<string, string> = {}): RequestListener {
  return (request, response) => {
    request.resume();
    response.writeHead(status, headers).end();
  };
}

/**
 * Responds to a genuine and a broken delivery with these statuses, as something in front of a receiver may do. Null drops the
 * connection.
 */
export function respondsWith(
  secret: string,
  { genuine, broken }: Readonly<Record<"genuine" | "broken", number | null>>,
): RequestListener {
  const webhook = new Webhook(secret);
  return async (request, response) => {
    const raw = (await buffer(request)).toString("utf8");
    let status = genuine;
    try {
      webhook.verify(raw, request.headers as Record<string, string>);
    } catch {
      status = broken;
    }
    if (status === null) request.socket.destroy();
    else response.writeHead(status).end();
  };
}

const servers: Server[] = [];

/** Listens on a free port of 127.0.0.1. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?token=t0ken`;
}

/** Ends all servers. */
export async function closeServers(): Promise<void> {
  const closed = servers.splice(0).map(
    (server) =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  await Promise.all(closed);
}
