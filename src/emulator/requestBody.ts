import type { IncomingMessage } from "node:http";

/** The largest body that the API accepts. */
const MAX_BYTES = 64 * 1024;
/** A body that is so many times larger than accepted is read and dropped, so that its sender receives the refusal. */
const DRAINED_TIMES = 16;

/** The body; or `tooLarge`; or `gone` when the client disconnected first. */
type RequestBody = { readonly text: string } | "tooLarge" | "gone";

/** Reads a whole request body as UTF-8. */
export function readBody(request: IncomingMessage, maxBytes = MAX_BYTES): Promise<RequestBody> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else chunks = [];
      if (bytes > DRAINED_TIMES * maxBytes) resolve("tooLarge");
    });
    request.on("end", () => {
      resolve(bytes > maxBytes ? "tooLarge" : { text: Buffer.concat(chunks).toString("utf8") });
    });
    request.on("error", () => resolve("gone"));
    request.on("close", () => resolve("gone"));
  });
}
