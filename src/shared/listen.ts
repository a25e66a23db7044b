import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** How long an idle connection stays open, in milliseconds: longer than any test, so that none closes just as a client sends. */
const KEEP_ALIVE_MS = 120_000;

/** What is thrown for a port that is not available. */
type PortError = new (
  code: "PORT_UNAVAILABLE",
  message: string,
  options: { readonly cause: unknown },
) => Error;

/** Starts an HTTP server that can go offline and come back on the same port. @throws PortError */
export async function listen(host: string, port: number, handle: RequestListener, PortError: PortError) {
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
        throw new PortError("PORT_UNAVAILABLE", message, { cause });
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
