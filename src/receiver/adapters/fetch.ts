import type { ServerResponse } from "node:http";
import { readBefore } from "../answers";
import { GrowingBytes } from "../bytes";
import type { Receiver, ReceiverResponse, Refusal } from "../types";
import { type BodyTimeoutOptions, bodyTimeoutOf, checkReceiver, guarded } from "./adapter";

/** Options of `fetchHandler`. */
export interface FetchHandlerOptions extends BodyTimeoutOptions {}

const ADVICE = readBefore(
  "fetchHandler",
  "Pass the request on before anything calls request.json(), text(), formData() or arrayBuffer(), or pass a request.clone() " +
    "made before that; in Hono pass c.req.raw.",
);

/**
 * Makes a receiver a function from a `Request` to a `Response`: for Hono, Next.js route handlers, Remix, Bun, Deno and workers.
 *
 * ```ts
 * export const POST = fetchHandler(receiver); // Next.js: app/hooks/jobs/route.ts
 *
 * app.all("/hooks/jobs", (c) => handler(c.req.raw)); // Hono
 * ```
 *
 * It reads the body itself, up to `receiver.maxBodyBytes`. If something has read it before, the answer is 500 and a warning says
 * what to change. It rejects only if it gets anything but a `Request`: a framework may
 * send an answer that it does not know as a success.
 *
 * @throws TypeError for anything but a receiver, and for an unknown option; RangeError when `bodyTimeoutMs` is not a positive integer
 */
export function fetchHandler(
  receiver: Receiver,
  options: FetchHandlerOptions = {},
): (request: Request) => Promise<Response> {
  checkReceiver("fetchHandler", receiver);
  const timeoutMs = bodyTimeoutOf("fetchHandler", options);

  return async (request: Request, response?: unknown) => {
    const misuse = misuseOf(request);
    // Express 4 and Node's own server wait until something ends the response, and a rejection would end the process.
    const ofNode = misuse && isOfNode(response) ? response : undefined;
    if (misuse && !ofNode) throw misuse;
    const answering = misuse ? Promise.reject(misuse) : answer(request);
    const { status, headers, body } = await guarded("fetchHandler", answering);
    ofNode?.writeHead(status, { ...headers }).end(body);
    return new Response(body, { status, headers: { ...headers } });
  };

  async function answer(request: Request): Promise<ReceiverResponse> {
    if (request.method !== "POST") return receiver.refuse("method");
    if (request.bodyUsed) return receiver.refuse("parsed-body", ADVICE);
    const body = await readBody(request, { maxBytes: receiver.maxBodyBytes, timeoutMs });
    if (typeof body === "string") return receiver.refuse(body, body === "parsed-body" ? ADVICE : undefined);
    return receiver.handle({ method: request.method, headers: request.headers, body });
  }
}

/** Returns an error for what is no request: a framework's own object would be refused as if the sender had sent no POST, or no body. */
function misuseOf(request: Request): TypeError | undefined {
  const { method, headers, arrayBuffer }: Partial<Request> = Object(request);
  if (typeof method === "string" && typeof headers?.get === "function" && typeof arrayBuffer === "function")
    return undefined;
  return new TypeError(
    "fetchHandler did not get a Request. Pass the one that the framework's object holds: in Hono `(c) => handler(c.req.raw)`, in " +
      "Remix, SvelteKit and Astro `({ request }) => handler(request)`. Express, NestJS, Koa, hapi, Nuxt and http.createServer take nodeHandler(receiver), with Node's request and response.",
  );
}

function isOfNode(response: unknown): response is ServerResponse {
  const { writeHead, end }: Partial<ServerResponse> = Object(response);
  return typeof writeHead === "function" && typeof end === "function";
}

/** Reads the whole body as it was sent, or returns the reason why it is not available. Never rejects. */
async function readBody(
  request: Request,
  { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
): Promise<Uint8Array | Refusal> {
  if (!request.body) return new Uint8Array();
  if (request.body.locked) return "parsed-body";
  const reader = request.body.getReader();
  let refusal: Refusal | undefined;
  const refuse = (reason: Refusal) => {
    refusal ??= reason;
    // Ends a pending read.
    reader.cancel().catch(() => {});
  };
  if (Number(request.headers.get("content-length")) > maxBytes) refuse("size");
  const timer = setTimeout(refuse, timeoutMs, "timeout");
  const bytes = new GrowingBytes();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (bytes.length + read.value.length > maxBytes) refuse("size");
      else bytes.add(read.value);
    }
  } catch {
    refuse("aborted");
  } finally {
    clearTimeout(timer);
  }
  return refusal ?? bytes.whole();
}
