import type { ReadEvent } from "./event";
import type { Delivery } from "./types";

interface Source extends ReadEvent {
  readonly id: string;
  readonly timestamp: number;
  readonly rawBody: Uint8Array;
}

/** A delivery, and the means to fire its signal. */
export class VerifiedDelivery implements Delivery {
  readonly id: string;
  readonly timestamp: number;
  readonly event: string | undefined;
  readonly jobId: string | undefined;
  readonly data: unknown;
  readonly rawBody: Uint8Array;
  #abort: AbortController | undefined;
  #expired: Error | undefined;

  constructor({ id, timestamp, event, jobId, data, rawBody }: Source) {
    this.id = id;
    this.timestamp = timestamp;
    this.event = event;
    this.jobId = jobId;
    this.data = data;
    this.rawBody = rawBody;
  }

  // Made when first asked for: most handlers never do, and a controller costs more than the rest of the delivery.
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#expired !== undefined) this.#abort.abort(this.#expired);
    return this.#abort.signal;
  }

  /** Whether the handler asked for the signal, and so may have stopped at it. */
  get isWatched(): boolean {
    return this.#abort !== undefined;
  }

  expire(reason: Error): void {
    this.#expired = reason;
    this.#abort?.abort(reason);
  }
}
