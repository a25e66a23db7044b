import { readBefore } from "../answers";
import { checkOptions } from "../checks";
import type { Receiver } from "../types";
import { type BodyTimeoutOptions, bodyTimeoutOf } from "./adapter";
import { type NodeRequest, type NodeResponse, serveNode } from "./nodeServer";

/** Options of `fastifyPlugin`. */
export interface FastifyPluginOptions extends BodyTimeoutOptions {
  /** The receiver that handles the requests. */
  readonly receiver: Receiver;
  /** The route that deliveries are sent to, below the plugin's prefix. Default: `/`. */
  readonly path?: string | undefined;
}

/** The parts of a Fastify instance that are used. */
interface Fastify {
  addHook(name: "onRoute", hook: (route: Route) => void): unknown;
  all(
    path: string,
    options: { onRequest(request: Request, reply: Reply): void },
    handler: () => void,
  ): unknown;
}
interface Route {
  onRequest?: unknown;
}
interface Request {
  readonly raw: NodeRequest;
}
interface Reply {
  readonly raw: NodeResponse;
  hijack(): unknown;
}

/** The plugin's own, and those of Fastify's `register`. */
const OPTIONS = ["receiver", "path", "bodyTimeoutMs", "prefix", "logLevel", "logSerializers"];
const ADVICE = readBefore(
  "fastifyPlugin",
  "An onRequest hook of the application, or a server in front of Fastify, read it: exclude this route there, or store " +
    "the bytes in request.raw.rawBody.",
);

/**
 * Makes a receiver a plugin of Fastify 4 and 5.
 *
 * ```ts
 * await app.register(fastifyPlugin, { receiver, path: "/hooks/jobs" });
 * ```
 *
 * It takes each request before Fastify parses the body, so the application's parsers, body limit and error handler do not apply.
 * Its `onRequest` hooks, such as that of a rate limit, and its `onResponse` hooks run; `onSend` hooks do not.
 *
 * @throws TypeError for anything but a receiver, and for an unknown option; RangeError when `bodyTimeoutMs` is not a positive integer
 */
export async function fastifyPlugin(fastify: Fastify, options: FastifyPluginOptions): Promise<void> {
  checkOptions("fastifyPlugin", options, OPTIONS);
  const { receiver, path = "/", bodyTimeoutMs } = options;
  const timeoutMs = bodyTimeoutOf("fastifyPlugin", { bodyTimeoutMs });
  const handle = serveNode("fastifyPlugin", receiver, { timeoutMs, advice: ADVICE });
  const onRequest = (request: Request, reply: Reply) => {
    reply.hijack();
    void handle(request.raw, reply.raw);
  };
  // Behind the hooks that other plugins give each route, such as @fastify/rate-limit. They may also wrap the handler, or the hook.
  fastify.addHook("onRoute", (route) => {
    const hooks = [route.onRequest ?? []].flat();
    if (hooks.includes(onRequest))
      route.onRequest = [...hooks.filter((hook) => hook !== onRequest), onRequest];
  });
  // The handler is never reached, because onRequest answers each request.
  fastify.all(path, { onRequest }, () => {});
}
