import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { EmulatorError } from "./errors";

/** How long an idle connection stays open, in milliseconds: longer than any test, so that none closes just as a client sends. */
const KEEP_ALIVE_MS = 120_000;

/** An answer of the service. */
export interface Answer {
  /** The HTTP status. */
  readonly status: number;
  /** Besides those of the content. */
  readonly headers?: OutgoingHttpHeaders;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

interface Listener {
  readonly port: number;
  /** Listens again on the same port. @throws EmulatorError when another program has taken it */
  open(): Promise<void>;
  /** Frees the port and ends every connection, even those that hang. */
  close(): Promise<void>;
}

/** Starts an HTTP server that can go offline and come back. @throws EmulatorError when the port is not available */
export async function listen(host: string, port: number, handle: RequestListener): Promise<Listener> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handle);
  let bound = port;

  const open = async () => {
    if (server.listening) return;
    try {
      await once(server.listen({ host, port: bound, exclusive: true }), "listening");
    } catch (cause) {
      const problem = `The emulator cannot listen on ${host}:${bound} (${(cause as NodeJS.ErrnoException).code}).`;
      const message = `${problem} Choose another host or port; port 0 takes any free port.`;
      throw new EmulatorError("PORT_UNAVAILABLE", message, { cause });
    }
    bound = (server.address() as AddressInfo).port;
  };
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  await open();
  return { port: bound, open, close };
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

/** Reads a body as UTF-8. Rejects when the client disconnects first. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

export function send(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, headersOf(answer));
  response.end(textOf(answer));
}

export function headersOf(answer: Answer): OutgoingHttpHeaders {
  const text = textOf(answer);
  if (text === "") return { ...answer.headers };
  const type = "application/json; charset=utf-8";
  return { "content-type": type, ...answer.headers, "content-length": Buffer.byteLength(text) };
}

/** Returns the content of an answer. A 204 and a 304 have none. */
export function textOf({ status, body = "" }: Answer): string {
  if (status === 204 || status === 304) return "";
  return typeof body === "string" ? body : JSON.stringify(body);
}
