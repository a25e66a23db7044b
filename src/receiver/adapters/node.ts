import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { HeadersLike } from "../../signature/headers";
import type { LazyReceiver, Receiver, ReceiverResponse, Refusal } from "../types";
import { startTimer } from "../waiting";
import {
  BodyBytes,
  type BodyLimits,
  type BodyTimeoutOptions,
  checkedBodyTimeout,
  DRAIN_MS,
  dropper,
} from "./body";
import { responder, type Sent } from "./responder";

/** A request of Node's http, https or http2 server. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;
/** A response of Node's http, https or http2 server. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

export type { BodyTimeoutOptions } from "./body";

const REMEDY =
  "Express: mount nodeHandler before app.use(express.json()), or keep the bytes with express.json({ verify: (req, res, bytes) => " +
  "{ req.rawBody = bytes; } }). NestJS: app.getHttpAdapter().post(path, nodeHandler(receiver)) before app.listen. Next.js pages: export const config = " +
  "{ api: { bodyParser: false } }. Koa: before any middleware that parses bodies.";

/**
 * Makes a receiver the request handler of Node's http, https and http2 servers, Connect, and Express 4 and 5.
 *
 * ```ts
 * http.createServer(nodeHandler(receiver)).listen(8080);
 *
 * app.post("/hooks/jobs", nodeHandler(receiver)); // Express: before app.use(express.json())
 * ```
 *
 * It reads the body itself, up to `receiver.maxBodyBytes`. If a framework has read it already, it takes the bytes, or a string of
 * them, from `req.rawBody`, or from `req.body` (`express.raw`). Without them it responds with 500, and the log says what to change. It
 * never calls `next`. Its promise resolves when the response is written: return or await it where a framework responds by itself.
 *
 * @throws TypeError for anything but a receiver or a function that creates one; RangeError when `bodyTimeoutMs` is not a positive integer
 */
export function nodeHandler(
  receiver: Receiver | LazyReceiver,
  options: BodyTimeoutOptions = {},
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const timeoutMs = checkedBodyTimeout(options);
  const respond = responder("nodeHandler", receiver, REMEDY, (request: NodeRequest, { maxBodyBytes }) => ({
    method: request.method,
    headers: headersOf(request),
    bytes: Number(request.headers?.["content-length"]),
    read: () => readBody(request, { maxBytes: maxBodyBytes, timeoutMs }),
  }));
  return async (request, response) => send(request, response, await respond(request));
}

// Not `req.headers`, which joins or drops a header that was sent twice, nor `req.headersDistinct`, which some versions of Node
// make throw on a header named `__proto__`. A simulated request, such as that of serverless-http, has parsed headers only.
function headersOf({ rawHeaders, headers }: Partial<NodeRequest>): HeadersLike {
  if (!rawHeaders?.length) return headers ?? {};
  const pairs: [string, string | undefined][] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) pairs.push([rawHeaders[i] ?? "", rawHeaders[i + 1]]);
  return pairs;
}

/** Writes the response. Never throws: if that fails, as when something else has responded, only this connection ends. */
function send(request: NodeRequest, given: NodeResponse, { status, headers, body }: ReceiverResponse): void {
  // Everything used here is the same in http2's responses.
  const response = given as ServerResponse;
  // The sender has gone.
  if (response.destroyed && !response.writableEnded) return;
  try {
    const length = { "content-length": Buffer.byteLength(body) };
    response.writeHead(status, { ...headers, ...length, ...(isLast(request) && { connection: "close" }) });
    response.end(body);
    // A simulated request is no connection; that of Fastify's `inject` ends without ever being complete.
    if (request.complete !== false || request.readableEnded) return;
    // The sender is still sending. To close the connection now would reset it, and the response would be lost.
    const drop = dropper();
    request.on("data", (chunk) => drop(chunk) || request.pause()).resume();
    setTimeout(() => request.complete || endConnection(request), DRAIN_MS).unref();
  } catch (error) {
    console.error(
      "nodeHandler: the response could not be written. If something else has responded, await the promise of nodeHandler; in Koa, also set ctx.respond = false.",
      error,
    );
    if (!response.writableEnded) endConnection(request);
  }
}

/** Returns true if the server has been closed: a busy sender would keep its connection, and so the process, alive for ever. */
function isLast(request: NodeRequest): boolean {
  // HTTP/2 has no such header.
  if ("stream" in request || !request.complete) return false;
  const socket: { server?: { listening?: boolean } } & object = request.socket ?? {};
  return socket.server?.listening === false;
}

function endConnection(request: NodeRequest): void {
  // RFC 9113, section 8.1: a reset without an error tells the sender to stop and to use the response.
  if ("stream" in request) request.stream.close();
  else request.socket?.destroy();
}

function readBody(request: NodeRequest, { maxBytes, timeoutMs }: BodyLimits): ReturnType<Sent["read"]> {
  const { rawBody, body } = request as { rawBody?: unknown; body?: unknown };
  const kept = [rawBody, body].find((each) => each instanceof Uint8Array || typeof each === "string");
  if (kept instanceof Uint8Array) return kept;
  if (typeof kept === "string") return Buffer.from(kept);
  if (request.aborted || (request.destroyed && !request.complete)) return "incomplete-body";
  if (request.readableDidRead || request.readableEnded || request.readableEncoding) return "parsed-body";
  // A simulated request may be no stream: what it has as its body is all that there is.
  const isStream = typeof request.resume === "function";
  if (!isStream && (typeof request.on !== "function" || Object.keys(body ?? {}).length > 0))
    return "parsed-body";
  return new Promise((resolve, reject) => {
    const bytes = new BodyBytes(maxBytes);
    const stopTimer = startTimer(timeoutMs, () => settle("incomplete-body"));
    // The listeners stay: taking them off costs more, and a connection that breaks later must not be an uncaught error.
    function settle(result: Uint8Array | Refusal): void {
      stopTimer();
      resolve(result);
    }
    const onAbort = () => settle("incomplete-body");
    request
      .on("data", (chunk: Uint8Array | string) => {
        if (!bytes.add(chunk)) settle("size");
      })
      .on("end", () => settle(bytes.whole()))
      .on("close", onAbort)
      .on("error", (error) => {
        stopTimer();
        reject(error);
      });
    // The stream of an HTTP/2 request that is reset ends as if it were complete, but "aborted" comes first.
    if ("stream" in request) request.on("aborted", onAbort);
    if (isStream) request.resume();
  });
}
