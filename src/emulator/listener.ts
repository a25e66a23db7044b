import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { EmulatorError } from "./errors";

/** How long an idle connection stays open. Longer than any test, so that none closes just as a client sends. */
const KEEP_ALIVE_MS = 120_000;

interface Listener {
  readonly port: number;
  /** Listens again on the same port. @throws EmulatorError when another program has taken the port */
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
      throw new EmulatorError("EMULATOR_LISTEN", message, { cause });
    }
    bound = (server.address() as AddressInfo).port;
  };

  const close = () =>
    new Promise<void>((resolve) => {
      if (!server.listening) return resolve();
      server.close(() => resolve());
      server.closeAllConnections();
    });

  await open();
  return {
    get port() {
      return bound;
    },
    open,
    close,
  };
}
