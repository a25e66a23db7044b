import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../types";
import { type NodeHandlerOptions, nodeHandler } from "./node";

export interface FastifyPluginOptions extends NodeHandlerOptions {
  readonly receiver: Receiver;
  /** Where deliveries arrive, below the plugin's prefix. Default `/`. */
  readonly path?: string | undefined;
}

/** What of a Fastify instance is used. */
interface Fastify {
  all(
    path: string,
    options: { onRequest(request: Request, reply: Reply): void },
    handler: () => void,
  ): unknown;
}
interface Request {
  readonly raw: IncomingMessage;
}
interface Reply {
  readonly raw: ServerResponse;
  hijack(): unknown;
}

const ADVICE =
  "fastifyPlugin: the request body was read before its signature could be verified, and a signature covers the bytes as sent. " +
  "An onRequest hook of the application, or what runs in front of Fastify, reads it: keep that from this route, or have it keep " +
  "the bytes in request.raw.rawBody.";

/**
 * A receiver as a plugin of Fastify 4 and 5.
 *
 * ```ts
 * await app.register(fastifyPlugin, { receiver, path: "/hooks/jobs" });
 * ```
 *
 * It takes each request before Fastify parses its body, so no parser, body limit or error handler of the application is in
 * its way. Hooks of the application that ran before (`onRequest`) and `onResponse` do; `onSend` does not.
 *
 * @throws RangeError when `bodyTimeoutMs` is no positive whole number
 */
export async function fastifyPlugin(fastify: Fastify, options: FastifyPluginOptions): Promise<void> {
  const { receiver, path = "/", bodyTimeoutMs } = options;
  const advising: Receiver = {
    maxBodyBytes: receiver.maxBodyBytes,
    handle: (request) => receiver.handle(request),
    refuse: (reason) => receiver.refuse(reason, reason === "parsed-body" ? ADVICE : undefined),
  };
  const handle = nodeHandler(advising, { bodyTimeoutMs });
  const onRequest = (request: Request, reply: Reply) => {
    reply.hijack();
    handle(request.raw, reply.raw);
  };
  // Never reached: each request was answered before.
  fastify.all(path, { onRequest }, () => {});
}
