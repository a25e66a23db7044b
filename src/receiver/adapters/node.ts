import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { HeadersLike } from "../../signature/headers";
import type { Receiver, ReceiverResponse } from "../types";
import { type BodyTimeoutOptions, bodyTimeoutOf, guarded } from "./adapter";
import { isHttp2, type NodeRequest, readBody } from "./nodeBody";

/** Options of `nodeHandler`. */
export interface NodeHandlerOptions extends BodyTimeoutOptions {}

/** A response of Node's http, https or http2 server. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

const ADVICE =
  "nodeHandler: the request body was read before its signature could be verified, and a signature covers the bytes as sent. " +
  'Express: mount nodeHandler before app.use(express.json()), or give this route express.raw({ type: "*/*" }), or keep the bytes with ' +
  "express.json({ verify: (req, res, bytes) => { req.rawBody = bytes; } }). Next.js pages: export const config = { api: { bodyParser: false } }.";

/** How long the rest of a refused body is read and dropped, so that the sender can read its answer. */
const LINGER_MS = 1_000;

/**
 * Makes a receiver the request handler of Node's http, https and http2 servers, Connect, and Express 4 and 5.
 *
 * ```ts
 * http.createServer(nodeHandler(receiver)).listen(8080);
 *
 * app.post("/hooks/jobs", nodeHandler(receiver)); // Express: before app.use(express.json())
 * ```
 *
 * It reads the body itself, up to `receiver.maxBodyBytes`. If a framework has read it already, it takes the bytes from
 * `req.rawBody`, or from `req.body` if that holds bytes (`express.raw`). Without them it answers 500, and a warning says what
 * to change. It never calls `next`, and never throws on anything that a sender controls.
 *
 * @throws RangeError when `bodyTimeoutMs` is not a positive integer
 */
export function nodeHandler(
  receiver: Receiver,
  options: NodeHandlerOptions = {},
): (request: NodeRequest, response: NodeResponse) => void {
  const timeoutMs = bodyTimeoutOf("nodeHandler", options);

  async function answer(request: NodeRequest): Promise<ReceiverResponse> {
    const method = request.method ?? "";
    if (method !== "POST") return receiver.refuse("method");
    const body = await readBody(request, { maxBytes: receiver.maxBodyBytes, timeoutMs });
    if (typeof body === "string") return receiver.refuse(body, body === "parsed-body" ? ADVICE : undefined);
    return await receiver.handle({ method, headers: headersOf(request), body });
  }

  return (request, response) => {
    void guarded("nodeHandler", answer(request)).then((answered) => send(request, response, answered));
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

/** Writes the answer. Never throws: if that fails, as when a middleware has wrapped `writeHead`, only this connection ends. */
function send(request: NodeRequest, given: NodeResponse, { status, headers, body }: ReceiverResponse): void {
  // Everything used here is the same in http2's responses.
  const response = given as ServerResponse;
  if (response.headersSent || response.destroyed) return;

  const attempt = (write: () => void) => {
    try {
      write();
    } catch (error) {
      console.error("nodeHandler: the answer could not be written, so its connection was closed.", error);
      if (isHttp2(request)) request.stream.destroy();
      else response.destroy();
    }
  };

  attempt(() => {
    const whole = { ...headers, "content-length": Buffer.byteLength(body) };
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
    const timer = setTimeout(finish, LINGER_MS).unref();
    function finish() {
      clearTimeout(timer);
      attempt(() => {
        // RFC 9113, section 8.1: a reset without an error tells the sender to stop and to use the answer.
        if (isHttp2(request)) request.stream.close(0);
        else response.end();
      });
    }
    (request as IncomingMessage).once("end", finish).once("close", finish).once("error", finish).resume();
  });
}
