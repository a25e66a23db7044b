import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { GrowingBytes } from "../bytes";
import { startTimer } from "../deadline";
import type { Refusal } from "../types";

/** A request of Node's http, https or http2 server. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/**
 * Reads the whole body as it was sent, or returns the reason why it is not available. Keeps at most about three times
 * `maxBytes` in memory. Never rejects.
 */
export function readBody(
  request: NodeRequest,
  limits: BodyLimits,
): Uint8Array | Refusal | Promise<Uint8Array | Refusal> {
  const { rawBody, body } = request as { rawBody?: unknown; body?: unknown };
  const kept = rawBody instanceof Uint8Array ? rawBody : body;
  if (kept instanceof Uint8Array) return kept;
  if (request.aborted || (request.destroyed && !request.complete)) return "aborted";
  if (request.readableDidRead || request.readableEnded || request.readableEncoding !== null)
    return hasNoBody(request) ? new Uint8Array() : "parsed-body";
  if (Number(request.headers["content-length"]) > limits.maxBytes) return "size";
  return collect(request, limits);
}

/** Returns whether a request announced that it has no body. */
function hasNoBody(request: NodeRequest): boolean {
  const length = request.headers["content-length"];
  if (length !== undefined) return Number(length) === 0;
  if (isHttp2(request)) return request.stream.endAfterHeaders;
  return request.headers["transfer-encoding"] === undefined;
}

/** False for a simulated request, whatever version it claims, because it has no stream. */
export function isHttp2(request: NodeRequest): request is Http2ServerRequest {
  return request.httpVersionMajor > 1 && "stream" in request;
}

function collect(request: NodeRequest, { maxBytes, timeoutMs }: BodyLimits): Promise<Uint8Array | Refusal> {
  return new Promise((resolve) => {
    const bytes = new GrowingBytes();
    const stopTimer = startTimer(timeoutMs, () => settle("timeout"));
    let isSettled = false;
    const onData = (chunk: Uint8Array) => {
      if (isSettled) return;
      if (bytes.length + chunk.length > maxBytes) settle("size");
      else bytes.add(chunk);
    };
    const onEnd = () => settle(bytes.whole());
    const onAbort = () => settle("aborted");
    function settle(result: Uint8Array | Refusal): void {
      if (isSettled) return;
      isSettled = true;
      stopTimer();
      // The listeners stay: taking them off costs more, and a connection that breaks later must not be an uncaught error.
      resolve(result);
    }
    request.on("data", onData).on("end", onEnd).on("close", onAbort).on("error", onAbort);
    // The stream of an HTTP/2 request that is reset ends as if it were complete, but "aborted" comes first.
    request.on("aborted", onAbort).resume();
  });
}
