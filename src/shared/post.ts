import { setMaxListeners } from "node:events";
import { type Dispatcher, request } from "undici";
import { openDispatcher } from "./dispatcher";

/** Longer than the default deadline of a receiver's handlers: the answer of a receiver whose handler hangs is not missed. */
const ANSWER_TIMEOUT_MS = 20_000;
const LONGEST_ANSWER_BYTES = 64 * 1024;

export interface DeliveryRequest {
  readonly url: string;
  /** One with a list is sent once for each value. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array;
  readonly dispatcher: Dispatcher;
  /** How long the answer may take, in milliseconds. Default: 20,000. */
  readonly timeoutMs?: number;
  /** How much of the answer's body is read, in bytes. The rest is dropped. Default: 64 KiB. */
  readonly longestAnswer?: number;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
}

/** What came back. */
export type DeliveryAnswer = {
  /** From the request's start to the end of the answer, in whole milliseconds. */
  readonly durationMs: number;
} & (
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      readonly body: Buffer;
      /** Why the body did not end. Absent if it did, or if it was longer than what is read. */
      readonly failure?: string;
    }
  | {
      readonly status: null;
      /** The system's or TLS's code, such as `ECONNREFUSED`. It does not repeat the url. */
      readonly failure: string;
    }
);

/** Opens the way to a receiver. @throws ProxyError */
export function openWayTo(url: string): Dispatcher {
  return openDispatcher(new URL(url));
}

/** Sends a delivery on a connection of its own, and reads the answer. Redirects are not followed. Never rejects. */
export async function postDelivery({
  url,
  headers,
  body,
  dispatcher,
  timeoutMs = ANSWER_TIMEOUT_MS,
  longestAnswer = LONGEST_ANSWER_BYTES,
  signal,
}: DeliveryRequest): Promise<DeliveryAnswer> {
  if (signal) setMaxListeners(0, signal);
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  // It takes whole milliseconds only.
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    // Otherwise undici would connect first, and leave that connection open.
    signal?.throwIfAborted();
    const answer = await request(url, {
      method: "POST",
      headers,
      body,
      dispatcher,
      // A connection that is kept would hide a new release behind the old one; and one that the receiver has closed would look like a
      // failed delivery.
      reset: true,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const { statusCode: status, headers: answered } = answer;
    const read =
      longestAnswer > 0 ? await beginningOf(answer.body, longestAnswer) : { body: Buffer.alloc(0) };
    answer.body.on("error", () => undefined).destroy();
    return { status, headers: answered, ...read, durationMs: durationMs() };
  } catch (error) {
    return { status: null, failure: failureName(error), durationMs: durationMs() };
  }
}

/** Reads what comes. An answer that breaks off has said its status, and the receiver goes by that. */
async function beginningOf(
  answer: AsyncIterable<Buffer>,
  bytes: number,
): Promise<{ readonly body: Buffer; readonly failure?: string }> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of answer) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= bytes) break;
    }
  } catch (error) {
    return { body: Buffer.concat(chunks), failure: failureName(error) };
  }
  return { body: Buffer.concat(chunks).subarray(0, bytes) };
}

/** The code of a failure. Not its message, which may repeat the url. */
function failureName(error: unknown): string {
  const { code, name, message, errors } = error as Partial<NodeJS.ErrnoException & AggregateError>;
  if (name === "TimeoutError") return "timed out";
  // undici's words for a proxy that makes no tunnel.
  const [, ofProxy] = /^Proxy response \((\d{3})\)/.exec(message ?? "") ?? [];
  if (ofProxy) return `the proxy answered ${ofProxy}`;
  // Its code is a number.
  if (name === "AbortError") return name;
  // Node tries each address of a name, and reports the failures of all.
  return code ?? (errors?.[0] === undefined ? (name ?? "no reason given") : failureName(errors[0]));
}
