import { readBefore } from "../answers";
import type { Receiver } from "../types";
import { type BodyTimeoutOptions, bodyTimeoutOf } from "./adapter";
import { type NodeRequest, type NodeResponse, serveNode } from "./nodeServer";

export type { NodeResponse };

/** Options of `nodeHandler`. */
export interface NodeHandlerOptions extends BodyTimeoutOptions {}

const ADVICE = readBefore(
  "nodeHandler",
  'Express: mount nodeHandler before app.use(express.json()), or give this route express.raw({ type: "*/*", limit: "1mb" }), or keep the bytes ' +
    'with express.json({ limit: "1mb", verify: (req, res, bytes) => { req.rawBody = bytes; } }). Next.js pages: export const config = { api: { bodyParser: false } }. ' +
    "Koa: before any middleware that parses bodies.",
);

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
 * to change. It never calls `next`, and never throws on anything that a sender controls. Its promise resolves when the answer is written, and
 * never rejects: return it, or await it, where a framework answers by itself once a route is done.
 *
 * @throws TypeError for anything but a receiver, and for an unknown option; RangeError when `bodyTimeoutMs` is not a positive integer
 */
export function nodeHandler(
  receiver: Receiver,
  options: NodeHandlerOptions = {},
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const timeoutMs = bodyTimeoutOf("nodeHandler", options);
  return serveNode("nodeHandler", receiver, { timeoutMs, advice: ADVICE });
}
