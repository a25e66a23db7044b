import { outcomeAnswer } from "../answers";
import { checkFunctions, checkNumber, checkOptions } from "../checks";
import { LONGEST_TIMER_MS } from "../deadline";
import type { Receiver, ReceiverResponse } from "../types";

const DEFAULT_BODY_TIMEOUT_MS = 10_000;
/** So many chunks are joined: a sender may send a million chunks of one byte, and each costs a hundred bytes. */
const MOST_CHUNKS = 1_000;

export interface BodyTimeoutOptions {
  /** How long a body may take to arrive, in milliseconds. Default: 10,000. */
  readonly bodyTimeoutMs?: number | undefined;
}

/** Refuses anything but a receiver, such as a promise of one: each delivery would be answered 500. @throws TypeError */
export function checkReceiver(adapter: string, receiver: Receiver): void {
  const advice = "Pass what createReceiver returns, or await receiverFromStack first.";
  checkFunctions(`${adapter}: the receiver`, receiver, { functions: ["handle", "refuse"], advice });
}

/** Returns the timeout of an adapter. @throws TypeError for an unknown option; RangeError */
export function bodyTimeoutOf(adapter: string, options: BodyTimeoutOptions): number {
  checkOptions(adapter, options, ["bodyTimeoutMs"]);
  const { bodyTimeoutMs = DEFAULT_BODY_TIMEOUT_MS } = options;
  checkNumber(`${adapter}: bodyTimeoutMs`, bodyTimeoutMs, { least: 1, most: LONGEST_TIMER_MS });
  return bodyTimeoutMs;
}

/** Collects the bytes of a body, up to a limit. */
export class BodyBytes {
  readonly #most: number;
  readonly #joined: Uint8Array[] = [];
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns false, and drops the chunk, if it would exceed the limit. */
  add(chunk: Uint8Array): boolean {
    if (this.#length + chunk.length > this.#most) return false;
    this.#length += chunk.length;
    this.#chunks.push(chunk);
    if (this.#chunks.length === MOST_CHUNKS) {
      this.#joined.push(Buffer.concat(this.#chunks));
      this.#chunks = [];
    }
    return true;
  }

  whole(): Uint8Array {
    const chunks = [...this.#joined, ...this.#chunks];
    const [first] = chunks;
    // Most bodies arrive in one chunk, which is not copied.
    return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
  }
}

/** Returns the answer, or 500 if there is none because a part of the receiver threw. Never rejects. */
export async function guarded(
  adapter: string,
  answering: Promise<ReceiverResponse>,
): Promise<ReceiverResponse> {
  try {
    return await answering;
  } catch (error) {
    console.error(`${adapter}: the receiver failed, so the request was answered 500.`, error);
    return outcomeAnswer("failed");
  }
}
