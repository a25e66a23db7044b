import { setMaxListeners } from "node:events";
import { type Dispatcher, request } from "undici";
import { openDispatcher } from "./dispatcher";

/** In milliseconds. Longer than the default deadline of a receiver's handlers, so that its 503 arrives. */
const ANSWER_TIMEOUT_MS = 20_000;
const LONGEST_ANSWER_BYTES = 64 * 1024;

export interface DeliveryRequest {
  readonly url: string;
  /** A header with a list is sent once for each value. */
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
  | ({
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    } & AnswerBody)
  | {
      readonly status: null;
      /** The system's or TLS's code, such as `ECONNREFUSED`. It does not repeat the url. */
      readonly failure: string;
    }
);

interface AnswerBody {
  readonly body: Buffer;
  /** Why the body broke off. */
  readonly failure?: string;
}

/** Opens the way to a receiver. @throws ProxyError */
export function openWayTo(url: string): Dispatcher {
  return openDispatcher(new URL(url));
}

/** Sends a delivery on a connection of its own, and reads the answer. Redirects are not followed. Never rejects. */
export async function postDelivery(delivery: DeliveryRequest): Promise<DeliveryAnswer> {
  const { url, headers, body, dispatcher, signal } = delivery;
  const { timeoutMs = ANSWER_TIMEOUT_MS, longestAnswer = LONGEST_ANSWER_BYTES } = delivery;
  if (signal) setMaxListeners(0, signal);
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    // Otherwise undici would connect first, and leave that connection open.
    signal?.throwIfAborted();
    const answer = await request(url, {
      method: "POST",
      headers,
      body,
      dispatcher,
      // A connection that is kept could lead to an old release of the receiver, or be closed already.
      reset: true,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const read = await beginningOf(answer.body, longestAnswer);
    answer.body.on("error", () => undefined).destroy();
    return { status: answer.statusCode, headers: answer.headers, ...read, durationMs: durationMs() };
  } catch (error) {
    return { status: null, failure: failureName(error), durationMs: durationMs() };
  }
}

/** Reads so much of a body. If it breaks off, its status has arrived all the same. */
async function beginningOf(answer: AsyncIterable<Buffer>, bytes: number): Promise<AnswerBody> {
  let body = Buffer.alloc(0);
  if (bytes === 0) return { body };
  try {
    for await (const chunk of answer) {
      body = Buffer.concat([body, chunk]);
      if (body.length >= bytes) break;
    }
  } catch (error) {
    return { body, failure: failureName(error) };
  }
  return { body: body.subarray(0, bytes) };
}

/** Returns the code of a failure. Its message may repeat the url. */
function failureName(error: unknown): string {
  const { code, name, message, errors } = error as Partial<NodeJS.ErrnoException & AggregateError>;
  if (name === "TimeoutError") return "timed out";
  // undici's words for a proxy that makes no tunnel.
  const [, proxyStatus] = /^Proxy response \((\d{3})\)/.exec(message ?? "") ?? [];
  if (proxyStatus) return `the proxy answered ${proxyStatus}`;
  // Its code is a number.
  if (name === "AbortError") return name;
  // Node tries each address of a name, and reports the failures of all.
  return code ?? (errors?.[0] === undefined ? (name ?? "no reason given") : failureName(errors[0]));
}
