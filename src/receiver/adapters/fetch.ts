import type { Receiver, Refusal } from "../types";
import { checkBodyTimeout } from "./bodyTimeout";
import { GrowingBytes } from "./growingBytes";

export interface FetchHandlerOptions {
  /** How long a body may take to arrive, in milliseconds. Default 10,000. */
  readonly bodyTimeoutMs?: number | undefined;
}

const ADVICE =
  "fetchHandler: the request body was read before its signature could be verified, and a signature covers the bytes as sent. " +
  "Give it the request before anything calls request.json(), text(), formData() or arrayBuffer(), or give it request.clone() " +
  "made before that; in Hono pass c.req.raw.";

/**
 * A receiver as a function from a `Request` to a `Response`: Hono, Next's route handlers, Remix, Bun, Deno, workers.
 *
 * ```ts
 * export const POST = fetchHandler(receiver); // Next: app/hooks/jobs/route.ts
 *
 * app.all("/hooks/jobs", (c) => handler(c.req.raw)); // Hono
 * ```
 *
 * It reads the body itself, up to `receiver.maxBodyBytes`; where something has read it before, the answer is 500 and a
 * warning says what to change. It never rejects.
 *
 * @throws RangeError when `bodyTimeoutMs` is no positive whole number
 */
export function fetchHandler(
  receiver: Receiver,
  { bodyTimeoutMs = 10_000 }: FetchHandlerOptions = {},
): (request: Request) => Promise<Response> {
  checkBodyTimeout("fetchHandler", bodyTimeoutMs);

  return async (request) => {
    const { status, headers, body } = await answer(request);
    return new Response(body, { status, headers: { ...headers } });
  };

  async function answer(request: Request) {
    if (request.method !== "POST") return receiver.refuse("method");
    if (request.bodyUsed) return receiver.refuse("parsed-body", ADVICE);
    const body = await readBody(request, { maxBytes: receiver.maxBodyBytes, timeoutMs: bodyTimeoutMs });
    if (typeof body === "string") return receiver.refuse(body, body === "parsed-body" ? ADVICE : undefined);
    return receiver.handle({ method: request.method, headers: request.headers, body });
  }
}

/** The whole body as it was sent, or why it cannot be had. Never rejects. */
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
    // Ends a read that waits.
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
