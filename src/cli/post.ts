import { setMaxListeners } from "node:events";
import { type Dispatcher, request } from "undici";
import { failureName } from "../validation/post";

/** How long a receiver may take to answer, in milliseconds: as long as the default deadline of its handlers. */
const ANSWER_TIMEOUT_MS = 15_000;
/** The longest answer that is read, in bytes. The rest is dropped. */
const LONGEST_ANSWER_BYTES = 64 * 1024;

export interface DeliveryRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly dispatcher: Dispatcher;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

/** What came back. */
export type DeliveryAnswer =
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      /** The first 64 KiB. */
      readonly body: Buffer;
    }
  | {
      readonly status: null;
      /** A code, such as `ECONNREFUSED`. It does not repeat the url. */
      readonly failure: string;
    };

/** Sends a delivery and reads the answer. Redirects are not followed. Never rejects. */
export async function postDelivery({
  url,
  headers,
  body,
  dispatcher,
  signal,
}: DeliveryRequest): Promise<DeliveryAnswer> {
  if (signal) setMaxListeners(0, signal);
  const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  try {
    const answer = await request(url, {
      method: "POST",
      headers,
      body,
      dispatcher,
      // An idle connection that the receiver has closed would look like a failed delivery.
      reset: true,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer.body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= LONGEST_ANSWER_BYTES) break;
    }
    const read = Buffer.concat(chunks).subarray(0, LONGEST_ANSWER_BYTES);
    return { status: answer.statusCode, headers: answer.headers, body: read };
  } catch (error) {
    return { status: null, failure: failureName(error) };
  }
}
