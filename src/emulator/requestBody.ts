import type { IncomingMessage } from "node:http";

const MAX_BYTES = 64 * 1024;
/** A body too large is read and dropped up to here, so that its sender gets to see the refusal. */
const DRAINED_BYTES = 16 * MAX_BYTES;

/** `text` of the body, or that it was `tooLarge`, or that the sender was `gone` before its end. */
export type RequestBody = { readonly text: string } | "tooLarge" | "gone";

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
