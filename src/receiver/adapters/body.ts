import { checkNumber, LONGEST_TIMER_MS } from "../optionChecks";

const DEFAULT_BODY_TIMEOUT_MS = 10_000;
/** So many chunks are joined: a sender may send a million chunks of one byte, and each costs a hundred bytes. */
const MOST_CHUNKS = 10_000;
/** How much of a refused body is read and dropped, and for how long, so that its sender can read the response. Then its connection ends. */
const DRAIN_BYTES = 16 * 1024 * 1024;
export const DRAIN_MS = 1_000;

/** Options of an adapter. */
export interface BodyTimeoutOptions {
  /** How long a body may take to arrive, in milliseconds. Default: 10,000. */
  readonly bodyTimeoutMs?: number | undefined;
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

/** Returns a function that drops the chunks of a refused body. It returns false once they were too many. */
export function dropper(): (chunk: { readonly length: number }) => boolean {
  let left = DRAIN_BYTES;
  return ({ length }) => {
    left -= length;
    return left > 0;
  };
}
