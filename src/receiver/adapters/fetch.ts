import type { LazyReceiver, Receiver, Refusal } from "../types";
import {
  BodyBytes,
  type BodyLimits,
  type BodyTimeoutOptions,
  checkedBodyTimeout,
  responder,
  type Sent,
} from "./body";

export type { BodyTimeoutOptions } from "./body";

const REMEDY =
  "Pass the request on before anything calls request.json(), text(), formData() or arrayBuffer(), or pass a request.clone() " +
  "made before that; in Hono pass c.req.raw.";

/**
 * Makes a receiver a function from a `Request` to a `Response`: for Hono, Next.js route handlers, Bun, Deno and Cloudflare Workers.
 *
 * ```ts
 * const onFetch = fetchHandler(receiver);
 * app.post("/hooks/jobs", (c) => onFetch(c.req.raw)); // Hono
 *
 * // Next.js: app/hooks/jobs/route.ts. The build runs this file, too, and the first request creates the receiver.
 * export const POST = fetchHandler(() => receiverFromEnv({ variable: "WEBHOOK_RECEIVER" }, options));
 * ```
 *
 * If something has read the body before, the response is 500, and `console.error` says what to change.
 *
 * @throws TypeError for anything but a receiver or a function that creates one; RangeError when `bodyTimeoutMs` is not a positive integer
 */
export function fetchHandler(
  receiver: Receiver | LazyReceiver,
  options: BodyTimeoutOptions = {},
): (request: Request) => Promise<Response> {
  const timeoutMs = checkedBodyTimeout(options);
  const respond = responder("fetchHandler", receiver, REMEDY, (request: Request, { maxBodyBytes }) => ({
    method: request.method,
    headers: request.headers,
    read: () => readBody(request, { maxBytes: maxBodyBytes, timeoutMs }),
  }));
  return async (request) => {
    const { status, headers, body } = await respond(request);
    return new Response(body, { status, headers });
  };
}

function readBody(request: Request, { maxBytes, timeoutMs }: BodyLimits): ReturnType<Sent["read"]> {
  if (request.bodyUsed || request.body?.locked) return "parsed-body";
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  return new Promise((resolve, reject) => {
    let bytes: BodyBytes | undefined = new BodyBytes(maxBytes);
    function settle(result: Uint8Array | Refusal): void {
      clearTimeout(timer);
      bytes = undefined;
      resolve(result);
    }
    const timer = setTimeout(settle, timeoutMs, "incomplete-body");
    if (Number(request.headers.get("content-length")) > maxBytes) settle("size");
    // What is refused is read to its end and dropped. Some servers, such as h3 1, enqueue whatever arrives: they fail where nobody can
    // catch it once their stream is cancelled, and hold in memory what nobody reads. Others end the connection before the response is sent.
    async function readAll(): Promise<void> {
      for (let read = await reader.read(); !read.done; read = await reader.read())
        if (bytes?.add(read.value) === false) settle("size");
      if (bytes !== undefined) settle(bytes.whole());
    }
    readAll()
      .catch(reject)
      .finally(() => clearTimeout(timer));
  });
}
