import { type Dispatcher, request } from "undici";
import type { CodedError } from "./codedError";
import { openDispatcher } from "./dispatcher";

/** In milliseconds. Longer than the default deadline of a receiver's handlers, so that its 503 arrives. */
const RESPONSE_TIMEOUT_MS = 20_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** How much of a response is shown, in characters. */
const LONGEST_TEXT = 2_000;

export interface DeliveryRequest {
  readonly url: string;
  /** A header with a list is sent once for each value. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array;
  /** Default: one for this delivery only, through the proxy that the environment names. */
  readonly dispatcher?: Dispatcher;
  /** How long the response may take, in milliseconds. Default: 20,000. */
  readonly timeoutMs?: number;
  /** How much of the response's body is read, in bytes. The rest is dropped. Default: 64 KiB. */
  readonly maxResponseBytes?: number;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
}

/** What came back. */
export interface DeliveryResponse {
  /** Null when there was no response. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Why there was no response, or why its body broke off, such as `ECONNREFUSED`. It does not repeat the url. */
  readonly failure: string | null;
  /** From the request's start to the end of the response, in whole milliseconds. */
  readonly durationMs: number;
}

/** Returns the beginning of a response's body, for somebody to read. */
export function textOf({ body }: Pick<DeliveryResponse, "body">): string {
  return body.toString("utf8").trim().slice(0, LONGEST_TEXT);
}

/** Sends a delivery on a connection of its own, and reads the response. Redirects are not followed. Never rejects. */
export async function postDelivery(delivery: DeliveryRequest): Promise<DeliveryResponse> {
  const { url, headers, body, signal, dispatcher: given } = delivery;
  const { timeoutMs = RESPONSE_TIMEOUT_MS, maxResponseBytes = MAX_RESPONSE_BYTES } = delivery;
  const startedAt = performance.now();
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  const ending = signal ? AbortSignal.any([signal, timeout]) : timeout;
  let head: Pick<DeliveryResponse, "status" | "headers"> = { status: null, headers: {} };
  let read = Buffer.alloc(0);
  let failure: string | null = null;
  let dispatcher: Dispatcher | undefined;
  try {
    // Otherwise undici would connect first.
    ending.throwIfAborted();
    dispatcher = given ?? openDispatcher(url, ending);
    const { statusCode, ...response } = await request(url, {
      method: "POST",
      headers,
      body,
      dispatcher,
      // A connection that is kept could lead to an old release of the receiver, or be closed already.
      reset: true,
      signal: ending,
    });
    head = { status: statusCode, headers: response.headers };
    response.body.on("error", () => {});
    for await (const chunk of response.body) {
      read = Buffer.concat([read, chunk]);
      if (read.length >= maxResponseBytes) break;
    }
  } catch (error) {
    failure = timeout.aborted ? "timed out" : failureName(error);
  } finally {
    if (given === undefined) await dispatcher?.destroy();
  }
  const durationMs = Math.round(performance.now() - startedAt);
  return { ...head, body: read.subarray(0, maxResponseBytes), failure, durationMs };
}

/** Returns the code of a failure. Its message may repeat the url. */
function failureName(error: unknown): string {
  const { code, detail, name, message } = error as NodeJS.ErrnoException & Partial<CodedError>;
  // undici's words for a proxy that makes no tunnel.
  const [, proxyStatus] = /^Proxy response \((\d{3})\)/.exec(message) ?? [];
  if (proxyStatus) return `the proxy responded ${proxyStatus}`;
  // Its code is a number.
  if (name === "AbortError") return name;
  return detail ?? code ?? name;
}
