import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { EmulatorError } from "./errors";

/** How long an idle connection stays open, in milliseconds: longer than any test, so that none closes just as a client sends. */
const KEEP_ALIVE_MS = 120_000;

/** An answer of the service. */
export interface Answer {
  /** The HTTP status. */
  readonly status: number;
  /** Besides those of the content. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

/** Starts an HTTP server that can go offline and come back on the same port. @throws EmulatorError when the port is not available */
export async function listen(host: string, port: number, handle: RequestListener) {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handle);
  const listener = {
    port,
    async open(): Promise<void> {
      if (server.listening) return;
      try {
        await once(server.listen({ host, port: listener.port, exclusive: true }), "listening");
      } catch (cause) {
        const problem = `Cannot listen on ${host}:${listener.port} (${(cause as NodeJS.ErrnoException).code}).`;
        const message = `${problem} Choose another host or port; port 0 takes any free port.`;
        throw new EmulatorError("PORT_UNAVAILABLE", message, { cause });
      }
      listener.port = (server.address() as AddressInfo).port;
    },
    /** Frees the port and ends every connection, even those that hang. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await listener.open();
  return listener;
}

/**
 * Returns whether the Host of a request can be this machine's own: an IP address, a name without a dot, or `host`. A website that
 * rebinds its name to this machine sends that name, which has a dot.
 */
export function isOwnHost({ headers }: IncomingMessage, host: string): boolean {
  const name = (headers.host ?? "").replace(/:\d{1,5}$/, "").toLowerCase();
  const isAddress = isIP(name.replace(/^\[|\]$/g, "")) !== 0;
  return isAddress || !name.includes(".") || name.endsWith(".localhost") || name === host.toLowerCase();
}

export function send(response: ServerResponse, { status, headers = {}, body = "" }: Answer): void {
  const content = textOf(body);
  response.statusCode = status;
  if (content !== "") response.setHeader("content-type", "application/json; charset=utf-8");
  response.setHeaders(new Map(Object.entries(headers)));
  response.end(content);
}

/** Returns the content of an answer's body. */
export function textOf(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}
