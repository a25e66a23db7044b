import type { IncomingMessage } from "node:http";

/** The most that is read of a request's body, in bytes: as much as a receiver reads by default. */
export const LARGEST_BODY = 1024 * 1024;
/** How much of a body that nobody wants is read and dropped, so that its sender reads the response, and for how long. */
const MOST_DROPPED = 16 * 1024 * 1024;
const LONGEST_DROP_MS = 2_000;

/** Reads a body, of one that is too large only the beginning, which is longer than `LARGEST_BODY`. Rejects if it ends early. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > LARGEST_BODY) break;
  }
  return Buffer.concat(chunks);
}

/** Drops what is left of a body, and ends the connection of one that has no end. Without this, Node.js would read on for minutes. */
export function dropBody(request: IncomingMessage): void {
  if (request.complete) return;
  let left = MOST_DROPPED;
  const timer = setTimeout(() => request.destroy(), LONGEST_DROP_MS).unref();
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
  request.on("error", () => undefined).once("close", () => clearTimeout(timer));
}
