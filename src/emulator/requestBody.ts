import type { IncomingMessage } from "node:http";

/** The largest body that is accepted. */
const MAX_BYTES = 64 * 1024;
/** A larger body is read and dropped up to here, so that its sender receives the refusal. */
const DRAINED_BYTES = 16 * MAX_BYTES;

/** The body; or `tooLarge`; or `gone` when the client disconnected first. */
export type RequestBody = { readonly text: string } | "tooLarge" | "gone";

/** Reads a whole request body as UTF-8. */
export function readBody(request: IncomingMessage): Promise<RequestBody> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BYTES) chunks.push(chunk);
      else chunks = [];
      if (bytes > DRAINED_BYTES) resolve("tooLarge");
    });
    request.on("end", () => {
      resolve(bytes > MAX_BYTES ? "tooLarge" : { text: Buffer.concat(chunks).toString("utf8") });
    });
    request.on("error", () => resolve("gone"));
    request.on("close", () => resolve("gone"));
  });
}
