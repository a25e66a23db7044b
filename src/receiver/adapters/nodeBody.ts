import type { IncomingMessage } from "node:http";
import type { Refusal } from "../types";
import { GrowingBytes } from "./growingBytes";

export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** The whole body as it was sent, or why it cannot be had. Keeps at most about three times `maxBytes` in memory. Never rejects. */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Uint8Array | Refusal> {
  const { rawBody, body } = request as { rawBody?: unknown; body?: unknown };
  const kept = rawBody instanceof Uint8Array ? rawBody : body;
  if (kept instanceof Uint8Array) return kept;
  if (request.destroyed && !request.complete) return "aborted";
  if (request.readableDidRead || request.readableEnded || request.readableEncoding !== null)
    return sentNone(request) ? new Uint8Array() : "parsed-body";
  if (Number(request.headers["content-length"]) > limits.maxBytes) return "size";
  return collect(request, limits);
}

function sentNone({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

function collect(
  request: IncomingMessage,
  { maxBytes, timeoutMs }: BodyLimits,
): Promise<Uint8Array | Refusal> {
  return new Promise((resolve) => {
    const bytes = new GrowingBytes();
    const timer = setTimeout(() => settle("timeout"), timeoutMs);
    const onData = (chunk: Uint8Array) => {
      if (bytes.length + chunk.length > maxBytes) settle("size");
      else bytes.add(chunk);
    };
    const onEnd = () => settle(bytes.whole());
    const onAbort = () => settle("aborted");
    function settle(result: Uint8Array | Refusal): void {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("close", onAbort);
      // The listener of "error" stays: a connection that breaks later must not be an uncaught error.
      resolve(result);
    }
    request.on("data", onData).on("end", onEnd).on("close", onAbort).on("error", onAbort).resume();
  });
}
