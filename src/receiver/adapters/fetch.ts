import type { LazyReceiver, Receiver, Refusal } from "../types";
import { startTimer } from "../waiting";
import {
  BodyBytes,
  type BodyLimits,
  type BodyTimeoutOptions,
  checkedBodyTimeout,
  DRAIN_MS,
  dropper,
} from "./body";
import { responder } from "./responder";

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
  const respond = responder("fetchHandler", receiver, REMEDY, (upload: Upload, { maxBodyBytes }) => ({
    method: upload.request.method,
    headers: upload.request.headers,
    bytes: Number(upload.request.headers?.get("content-length")),
    read: () => readBody(upload, { maxBytes: maxBodyBytes, timeoutMs }),
  }));
  return async (request) => {
    const upload: Upload = { request, isOpen: Boolean(request.body) };
    const { status, headers, body } = await respond(upload);
    // A body that came too late has had its time.
    if (upload.isOpen && status !== 408) await drop(upload);
    // Asks the server to end the connection. Not by cancelling the stream: some, such as h3 1, then throw where nobody can catch it.
    const last = upload.isOpen && { connection: "close" };
    return new Response(body, { status, headers: { ...headers, ...last } });
  };
}

/** A request whose body may be arriving. */
interface Upload {
  readonly request: Request;
  /** Whether there may be more of the body than was read. */
  isOpen: boolean;
  reader?: ReadableStreamDefaultReader<Uint8Array> | undefined;
}

async function readBody(upload: Upload, { maxBytes, timeoutMs }: BodyLimits): Promise<Uint8Array | Refusal> {
  const { body, bodyUsed } = upload.request;
  if (bodyUsed || body?.locked) {
    upload.isOpen = false;
    return "parsed-body";
  }
  const bytes = new BodyBytes(maxBytes);
  const end = await readUntil(upload, timeoutMs, (chunk) => bytes.add(chunk));
  if (end !== "end") return end === "late" ? "incomplete-body" : "size";
  return bytes.whole();
}

/** Drops the rest of a refused body, so that its sender can read the response. */
async function drop(upload: Upload): Promise<void> {
  // What breaks off here was reported when it was refused.
  await readUntil(upload, DRAIN_MS, dropper()).catch(() => {});
}

/** Reads until the body ends, `take` has had enough, or it is late. */
function readUntil(
  upload: Upload,
  milliseconds: number,
  take: (chunk: Uint8Array) => boolean,
): Promise<"end" | "enough" | "late"> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const stopTimer = startTimer(milliseconds, () => {
      isLate = true;
      resolve("late");
    });
    async function readAll(): Promise<"end" | "enough"> {
      upload.reader ??= upload.request.body?.getReader();
      const { reader } = upload;
      for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
        if (isLate || !take(read.value)) return "enough";
      upload.isOpen = false;
      return "end";
    }
    void readAll().then(resolve, reject).then(stopTimer);
  });
}
