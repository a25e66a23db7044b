import type { ReadEvent } from "./event";
import type { Delivery } from "./types";

interface Source extends ReadEvent {
  readonly id: string;
  readonly timestamp: number;
  readonly rawBody: Uint8Array;
}

/** The signal of one delivery. */
export class Expiry {
  #controller: AbortController | undefined;
  #reason: Error | undefined;

  // Made when first asked for: most handlers never do, and a controller costs more than the rest of the delivery.
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** Whether the handler asked for the signal, and so may have stopped when it fired. */
  get isWatched(): boolean {
    return this.#controller !== undefined;
  }

  expire(reason: Error): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

export function deliveryOf({ id, timestamp, event, jobId, data, rawBody }: Source, expiry: Expiry): Delivery {
  return {
    id,
    timestamp,
    event,
    jobId,
    data,
    rawBody,
    // An own property, so that a copy by spreading has it, as its type says.
    get signal() {
      return expiry.signal;
    },
  };
}
