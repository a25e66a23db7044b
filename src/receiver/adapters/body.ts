import type { HeadersLike } from "../../signature/headers";
import { checkNumber, LONGEST_TIMER_MS } from "../limits";
import { REFUSALS, responseTo } from "../responses";
import type { LazyReceiver, Receiver, ReceiverResponse, Refusal } from "../types";
import { receiverGetter } from "./start";

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
 * @throws TypeError for anything but a receiver or a function that creates one: each delivery would get 500
 */
export function responder<Request>(
  adapter: string,
  given: Receiver | LazyReceiver,
  remedy: string,
  look: (request: Request, receiver: Receiver) => Sent,
) {
  const receiverNow = receiverGetter(adapter, given);
  const advice = `${adapter}: something read the request body before its signature could be verified. ${remedy}`;

  return async (request: Request): Promise<ReceiverResponse> => {
    try {
      const found = receiverNow();
      // Awaited only once: each await costs every delivery.
      const receiver = found instanceof Promise ? await found : found;
      if (receiver === undefined) return REFUSALS["not-ready"];
      const { method, headers, read } = look(request, receiver);
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

/** Returns how long a body may take to arrive, in milliseconds. @throws RangeError */
export function checkedBodyTimeout({ bodyTimeoutMs = DEFAULT_BODY_TIMEOUT_MS }: BodyTimeoutOptions): number {
  checkNumber("bodyTimeoutMs", bodyTimeoutMs, { least: 1, most: LONGEST_TIMER_MS });
  return bodyTimeoutMs;
}

/** How large a body may be, in bytes, and how long it may take to arrive, in milliseconds. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
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
