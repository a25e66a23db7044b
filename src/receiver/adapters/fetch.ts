import type { Receiver, Refusal } from "../types";
import { answering, BodyBytes, type BodyTimeoutOptions, bodyTimeoutOf } from "./body";

export type { BodyTimeoutOptions } from "./body";

const REMEDY =
  "Pass the request on before anything calls request.json(), text(), formData() or arrayBuffer(), or pass a request.clone() " +
  "made before that; in Hono pass c.req.raw.";

/**
 * Makes a receiver a function from a `Request` to a `Response`: for Hono, Next.js route handlers, Remix, Bun, Deno and workers.
 *
 * ```ts
 * export const POST = fetchHandler(receiver); // Next.js: app/hooks/jobs/route.ts
 *
 * app.all("/hooks/jobs", (c) => handler(c.req.raw)); // Hono
 * ```
 *
 * If something has read the body before, the answer is 500 and a warning says what to change.
 *
 * @throws TypeError for anything but a receiver; RangeError when `bodyTimeoutMs` is not a positive integer
 */
export function fetchHandler(
  receiver: Receiver,
  options: BodyTimeoutOptions = {},
): (request: Request) => Promise<Response> {
  const answer = answering("fetchHandler", receiver, REMEDY);
  const limits = { maxBytes: receiver.maxBodyBytes, timeoutMs: bodyTimeoutOf(options) };
  return async (request) => {
    const { method } = request;
    const read = () => readBody(request, limits);
    const { status, headers, body } = await answer({ method, headers: request.headers, read });
    return new Response(body, { status, headers });
  };
}

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
  const timer = setTimeout(refuse, timeoutMs, "incomplete-body");
  const bytes = new BodyBytes(maxBytes);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      if (!bytes.add(read.value)) refuse("size");
  } catch {
    refuse("incomplete-body");
  } finally {
    clearTimeout(timer);
  }
  return refusal ?? bytes.whole();
}
