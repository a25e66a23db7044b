import { once } from "node:events";
import http, { type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { CliError } from "../errors";

export interface LocalServer {
  readonly url: string;
  /** How many requests are being answered. */
  readonly inProgress: () => number;
  /** Waits a moment for the requests in progress, and frees the port. */
  close(): Promise<void>;
}

/** Bounds the memory that senders can use, with the size of a body. */
const MOST_CONNECTIONS = 256;
/** How long requests in progress may take after the command was stopped, in milliseconds. */
export const CLOSING_MS = 2_000;

/**
 * Serves requests at every path, for this machine only.
 *
 * @param option the option that has the port
 * @throws CliError `PORT_UNAVAILABLE`
 */
export async function serveLocally(
  answer: RequestListener,
  { port, option }: { readonly port: number; readonly option: string },
): Promise<LocalServer> {
  let inProgress = 0;
  const server = http.createServer((request, response) => {
    inProgress += 1;
    response.once("close", () => {
      inProgress -= 1;
    });
    answer(request, response);
  });
  server.maxConnections = MOST_CONNECTIONS;
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(
      "PORT_UNAVAILABLE",
      `cannot listen on port ${port} (${code}). Choose another port with ${option}; 0 chooses a free one`,
    );
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    inProgress: () => inProgress,
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), CLOSING_MS);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
