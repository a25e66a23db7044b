import type { IncomingMessage, ServerResponse } from "node:http";
import type { HeadersLike } from "../../signature/headers";
import { outcomeAnswer } from "../answers";
import type { Receiver, ReceiverResponse } from "../types";
import { checkBodyTimeout } from "./bodyTimeout";
import { readBody } from "./nodeBody";

export interface NodeHandlerOptions {
  /** How long a body may take to arrive, in milliseconds. Default 10,000. */
  readonly bodyTimeoutMs?: number | undefined;
}

const ADVICE =
  "nodeHandler: the request body was read before its signature could be verified, and a signature covers the bytes as sent. " +
  'Express: mount nodeHandler before app.use(express.json()), or give this route express.raw({ type: "*/*" }), or keep the bytes with ' +
  "express.json({ verify: (req, res, bytes) => { req.rawBody = bytes; } }). Next.js pages: export const config = { api: { bodyParser: false } }.";

/** How long what is left of a refused body is thrown away, so that the sender can read its answer. */
const LINGER_MS = 1_000;

/**
 * A receiver as a request handler of Node's http, https and http2 servers, Connect, and Express 4 and 5.
 *
 * ```ts
 * http.createServer(nodeHandler(receiver)).listen(8080);
 *
 * app.post("/hooks/jobs", nodeHandler(receiver)); // Express: before app.use(express.json())
 * ```
 *
 * It reads the body itself, up to `receiver.maxBodyBytes`. Where a framework has read it already, the bytes are taken from
 * `req.rawBody` or from a `req.body` of bytes (`express.raw`); without these the answer is 500 and a warning says what to change.
 * It never calls `next`, and never throws on what a sender controls.
 *
 * @throws RangeError when `bodyTimeoutMs` is no positive whole number
 */
export function nodeHandler(
  receiver: Receiver,
  { bodyTimeoutMs = 10_000 }: NodeHandlerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  async function answer(request: IncomingMessage): Promise<ReceiverResponse> {
    const method = request.method ?? "";
    if (method !== "POST") return receiver.refuse("method");
    const body = await readBody(request, { maxBytes: receiver.maxBodyBytes, timeoutMs: bodyTimeoutMs });
    if (typeof body === "string") return receiver.refuse(body, body === "parsed-body" ? ADVICE : undefined);
    return receiver.handle({ method, headers: headersOf(request), body });
  }

  checkBodyTimeout("nodeHandler", bodyTimeoutMs);

  return (request, response) => {
    answer(request).then(
      (answered) => send(request, response, answered),
      (error) => {
        console.error("nodeHandler: a request failed, and is answered 500.", error);
        send(request, response, outcomeAnswer("failed"));
      },
    );
  };
}

// Not `req.headers`, which joins or drops a header that came twice, nor `req.headersDistinct`, which a header of the name
// `__proto__` makes throw in some versions of Node. But a simulated request, such as that of serverless-http, has no others.
function headersOf({ rawHeaders, headers }: IncomingMessage): HeadersLike {
  if (rawHeaders.length === 0) return headers;
  const pairs: [string, string | undefined][] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) pairs.push([rawHeaders[i] ?? "", rawHeaders[i + 1]]);
  return pairs;
}

interface Http2Stream {
  close(code: number): void;
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: ReceiverResponse,
): void {
  if (response.headersSent || response.destroyed) return;
  const whole = { ...headers, "content-length": Buffer.byteLength(body) };
  // A simulated request, such as that of Fastify's `inject`, ends without ever being complete.
  if (request.complete || request.readableEnded) {
    response.writeHead(status, whole).end(body);
    return;
  }
  // The sender is still sending. To end the connection now would reset it, and the answer with it: answer, and throw away
  // for a moment what still comes.
  const isHttp2 = request.httpVersionMajor > 1;
  if (isHttp2) response.writeHead(status, whole).end(body);
  else response.writeHead(status, { ...whole, connection: "close" }).write(body);
  const end = () => {
    clearTimeout(timer);
    // RFC 9113, section 8.1: without an error, the sender stops and takes the answer that it has.
    if (isHttp2) (request as { stream?: Http2Stream }).stream?.close(0);
    else response.end();
  };
  const timer = setTimeout(end, LINGER_MS).unref();
  request.once("end", end).once("close", end).once("error", end).resume();
}
