import type { HeadersLike } from "../../signature/headers";
import { checkNumber, LONGEST_TIMER_MS } from "../limits";
import { responseTo } from "../responses";
import type { Receiver, ReceiverResponse, Refusal } from "../types";

const DEFAULT_BODY_TIMEOUT_MS = 10_000;
/** So many chunks are joined: a sender may send a million chunks of one byte, and each costs a hundred bytes. */
const MOST_CHUNKS = 10_000;

/** Options of an adapter. */
export interface BodyTimeoutOptions {
  /** How long a body may take to arrive, in milliseconds. Default: 10,000. */
  readonly bodyTimeoutMs?: number | undefined;
}

/** A request of any platform. */
export interface Sent {
  readonly method: string | undefined;
  readonly headers: HeadersLike;
  /**
   * Reads the whole body as it was sent, or returns the reason why it is not available.
   * @throws what the platform reports when the body breaks off
   */
  readonly read: () => Uint8Array | Refusal | Promise<Uint8Array | Refusal>;
}

/**
 * Returns a function that responds to a request of a platform. It never rejects, whatever the request is.
 * @param remedy what to change where something else reads the body first
 * @param look reads what the platform has as its request
 * @throws TypeError for anything but a receiver, such as a promise of one: each delivery would get 500
 */
export function responder<Request>(
  adapter: string,
  receiver: Receiver,
  remedy: string,
  look: (request: Request) => Sent,
) {
  if (typeof receiver?.handle !== "function")
    throw new TypeError(
      `${adapter} did not get a receiver. Pass what createReceiver returns, or await receiverFromStack first.`,
    );
  const advice = `${adapter}: the request body was read before its signature could be verified, and a signature covers the bytes as sent. ${remedy}`;

  return async (request: Request): Promise<ReceiverResponse> => {
    try {
      const { method, headers, read } = look(request);
      if (method !== "POST") return await receiver.refuse("method");
      let body: Uint8Array | Refusal;
      try {
        body = await read();
      } catch (error) {
        return await receiver.refuse("incomplete-body", { error });
      }
      if (typeof body !== "string") return await receiver.handle({ method, headers, body });
      return await receiver.refuse(body, body === "parsed-body" ? { advice } : {});
    } catch (error) {
      console.error(`${adapter}: the receiver failed, so the response is 500.`, error);
      return responseTo("failed");
    }
  };
}

export type BodyLimits = ReturnType<typeof limitsOf>;

/** Returns how large a body may be, and how long it may take to arrive. @throws RangeError */
export function limitsOf(
  { maxBodyBytes: maxBytes }: Receiver,
  { bodyTimeoutMs: timeoutMs = DEFAULT_BODY_TIMEOUT_MS }: BodyTimeoutOptions,
) {
  checkNumber("bodyTimeoutMs", timeoutMs, { least: 1, most: LONGEST_TIMER_MS });
  return { maxBytes, timeoutMs };
}

/** Collects the bytes of a body, up to a limit. */
export class BodyBytes {
  readonly #most: number;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns false, and drops the chunk, if it would exceed the limit. Only a simulated request has strings. */
  add(sent: Uint8Array | string): boolean {
    const chunk = typeof sent === "string" ? Buffer.from(sent) : sent;
    if (this.#length + chunk.length > this.#most) return false;
    this.#length += chunk.length;
    if (this.#chunks.length === MOST_CHUNKS) this.#chunks = [this.whole()];
    this.#chunks.push(chunk);
    return true;
  }

  whole(): Uint8Array {
    const [first] = this.#chunks;
    // Most bodies arrive in one chunk, which is not copied.
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
  }
}
