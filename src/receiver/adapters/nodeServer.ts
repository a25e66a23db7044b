import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { isRecord } from "../../shared/json";
import type { HeadersLike } from "../../signature/headers";
import { GrowingBytes } from "../bytes";
import { startTimer } from "../deadline";
import { warnerOnce } from "../reports";
import type { Receiver, ReceiverResponse, Refusal } from "../types";
import { checkReceiver, guarded } from "./adapter";

/** A request of Node's http, https or http2 server. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** A response of Node's http, https or http2 server. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

interface NodeServerOptions {
  readonly timeoutMs: number;
  /** What to change if something read the body before. */
  readonly advice: string;
}

/** How long the rest of a refused body is read and dropped, so that the sender can read its answer. */
const LINGER_MS = 1_000;

const warn = warnerOnce();

/** Makes a receiver a request handler of Node's servers, for this adapter. @throws TypeError for anything but a receiver */
export function serveNode(
  adapter: string,
  receiver: Receiver,
  { timeoutMs, advice }: NodeServerOptions,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  checkReceiver(adapter, receiver);

  async function answer(request: NodeRequest): Promise<ReceiverResponse> {
    const method = request.method ?? "";
    if (method !== "POST") return receiver.refuse("method");
    const body = await readBody(request, { maxBytes: receiver.maxBodyBytes, timeoutMs });
    if (typeof body === "string") return receiver.refuse(body, body === "parsed-body" ? advice : undefined);
    return await receiver.handle({ method, headers: headersOf(request), body });
  }

  return (request, response) => {
    if (!isRecord(request) || !isRecord(response) || !("rawHeaders" in request && "writeHead" in response))
      throw new TypeError(
        `${adapter} did not get a request and a response of Node's http. Pass both: in Koa, ctx.req and ctx.res, with ctx.respond = false. A route that is given a Request, as in Next.js or Hono, takes fetchHandler; Fastify, also below NestJS, takes fastifyPlugin.`,
      );
    return guarded(adapter, answer(request)).then((answered) =>
      send(request, response, { adapter, answered }),
    );
  };
}

// Not `req.headers`, which joins or drops a header that was sent twice, nor `req.headersDistinct`, which some versions of Node
// make throw on a header named `__proto__`. A simulated request, such as that of serverless-http, has parsed headers only.
function headersOf(request: NodeRequest): HeadersLike {
  const { rawHeaders } = request;
  if (rawHeaders.length === 0) return request.headers;
  const pairs: [string, string | undefined][] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) pairs.push([rawHeaders[i] ?? "", rawHeaders[i + 1]]);
  return pairs;
}

/** Writes the answer, to its end. Never rejects: if that fails, as when a middleware has wrapped `writeHead`, only this connection ends. */
async function send(
  request: NodeRequest,
  given: NodeResponse,
  { adapter, answered }: { readonly adapter: string; readonly answered: ReceiverResponse },
): Promise<void> {
  const { status, headers, body } = answered;
  // Everything used here is the same in http2's responses.
  const response = given as ServerResponse;
  if (response.headersSent) {
    const { statusCode } = response;
    warn(
      `${adapter}: something answered with ${statusCode} before the receiver with ${status}. Await the promise of the ${adapter}; in Koa, also set ctx.respond = false.`,
    );
    return;
  }
  if (response.destroyed) return;

  try {
    const length = { "content-length": Buffer.byteLength(body) };
    const isLast = isClosing(request);
    const whole = { ...headers, ...length, ...(isLast && !isHttp2(request) && { connection: "close" }) };
    if (isLast && isHttp2(request)) request.stream.session?.close();
    // A simulated request, such as that of Fastify's `inject`, ends without ever being complete.
    if (request.complete || request.readableEnded) {
      response.writeHead(status, whole);
      response.end(body);
      return;
    }
    // The sender is still sending. Closing the connection now would reset it, and the answer would be lost: so answer, and
    // read and drop the rest for a moment.
    response.writeHead(status, isHttp2(request) ? whole : { ...whole, connection: "close" });
    if (isHttp2(request)) response.end(body);
    else response.write(body);
    let timer: NodeJS.Timeout | undefined;
    await new Promise((resolve) => {
      timer = setTimeout(resolve, LINGER_MS).unref();
      (request as IncomingMessage)
        .once("end", resolve)
        .once("close", resolve)
        .once("error", resolve)
        .resume();
    });
    clearTimeout(timer);
    // RFC 9113, section 8.1: a reset without an error tells the sender to stop and to use the answer.
    if (isHttp2(request)) request.stream.close(0);
    else response.end();
  } catch (error) {
    console.error(`${adapter}: the answer could not be written, so its connection was closed.`, error);
    if (isHttp2(request)) request.stream.destroy();
    else response.destroy();
  }
}

/** Returns whether the server no longer listens: `server.close()` ends idle connections only, and waits for the others. */
function isClosing(request: NodeRequest): boolean {
  const { server } = (request.socket ?? {}) as { readonly server?: { readonly listening?: unknown } };
  return server?.listening === false;
}

interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/**
 * Reads the whole body as it was sent, or returns the reason why it is not available. Keeps at most about three times
 * `maxBytes` in memory. Never rejects.
 */
function readBody(
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
function isHttp2(request: NodeRequest): request is Http2ServerRequest {
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
