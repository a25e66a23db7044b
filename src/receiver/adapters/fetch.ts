import { readBefore } from "../answers";
import type { Receiver, ReceiverResponse, Refusal } from "../types";
import { BodyBytes, type BodyTimeoutOptions, bodyTimeoutOf, checkReceiver, guarded } from "./body";

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
 * what to change. It rejects only if it gets anything but a `Request`.
 *
 * @throws TypeError for anything but a receiver, and for an unknown option; RangeError when `bodyTimeoutMs` is not a positive integer
 */
export function fetchHandler(
  receiver: Receiver,
  options: FetchHandlerOptions = {},
): (request: Request) => Promise<Response> {
  checkReceiver("fetchHandler", receiver);
  const timeoutMs = bodyTimeoutOf("fetchHandler", options);

  async function answer(request: Request): Promise<ReceiverResponse> {
    if (request.method !== "POST") return receiver.refuse("method");
    const body = await readBody(request, { maxBytes: receiver.maxBodyBytes, timeoutMs });
    if (typeof body === "string") return receiver.refuse(body, body === "parsed-body" ? ADVICE : undefined);
    return receiver.handle({ method: request.method, headers: request.headers, body });
  }

  return async (request) => {
    // A framework's own object would be refused as if the sender had sent no POST, or no body.
    if (typeof request?.arrayBuffer !== "function" || typeof request.headers?.get !== "function")
      throw new TypeError(
        "fetchHandler did not get a Request. Pass the one that the framework's object holds: in Hono c.req.raw, in Remix and SvelteKit " +
          "the property request. Express, NestJS and Node's own servers take nodeHandler.",
      );
    const { status, headers, body } = await guarded("fetchHandler", answer(request));
    return new Response(body, { status, headers: { ...headers } });
  };
}

/** Reads the whole body as it was sent, or returns the reason why it is not available. Never rejects. */
async function readBody(
  request: Request,
  { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
): Promise<Uint8Array | Refusal> {
  if (request.bodyUsed || request.body?.locked) return "parsed-body";
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  let refusal: Refusal | undefined;
  const refuse = (reason: Refusal) => {
    refusal ??= reason;
    // Ends a pending read.
    reader.cancel().catch(() => {});
  };
  if (Number(request.headers.get("content-length")) > maxBytes) refuse("size");
  const timer = setTimeout(refuse, timeoutMs, "timeout");
  const bytes = new BodyBytes(maxBytes);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      if (!bytes.add(read.value)) refuse("size");
  } catch {
    refuse("aborted");
  } finally {
    clearTimeout(timer);
  }
  return refusal ?? bytes.whole();
}
