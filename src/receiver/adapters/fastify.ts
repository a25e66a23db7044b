import type { LazyReceiver, Receiver } from "../types";
import type { BodyTimeoutOptions } from "./body";
import { type NodeRequest, type NodeResponse, nodeHandler } from "./node";

/** Options of `fastifyPlugin`. */
export interface FastifyPluginOptions extends BodyTimeoutOptions {
  /** The receiver that handles the requests, or a function that creates it at the first one. */
  readonly receiver: Receiver | LazyReceiver;
  /** The route that deliveries are sent to, below the plugin's prefix. Default: `/`. */
  readonly path?: string | undefined;
}

/** The parts of a Fastify instance that are used. */
interface Fastify {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: "*",
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  post(path: string, handler: (request: { readonly raw: NodeRequest }, reply: Reply) => void): unknown;
}
interface Reply {
  readonly raw: NodeResponse;
  hijack(): unknown;
}

/**
 * Makes a receiver a plugin of Fastify 4 and 5.
 *
 * ```ts
 * await app.register(fastifyPlugin, { receiver, path: "/hooks/jobs" });
 * ```
 *
 * The receiver reads the bytes: its route has no body parser and no body limit of Fastify's own. The application's hooks run, but for
 * `onSend`. The route takes POST only: other methods of the path are the application's, and get its 404 if it has none.
 *
 * @throws TypeError for anything but a receiver or a function that creates one; RangeError when `bodyTimeoutMs` is not a positive integer
 */
export async function fastifyPlugin(
  fastify: Fastify,
  { receiver, path = "/", bodyTimeoutMs }: FastifyPluginOptions,
): Promise<void> {
  const handle = nodeHandler(receiver, { bodyTimeoutMs });
  // Both hold for this plugin's route only, as Fastify encapsulates plugins.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser("*", (_request, _payload, done) => done(null));
  fastify.post(path, (request, reply) => {
    reply.hijack();
    void handle(request.raw, reply.raw);
  });
}
