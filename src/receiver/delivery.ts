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
  declare readonly signal: AbortSignal;
  #controller: AbortController | undefined;
  #expired: Error | undefined;

  // An own property, so that a copy by spreading has it, as its type says. The controller is made when first asked for: most
  // handlers never do, and it costs more than the rest of the delivery.
  static readonly #SIGNAL: PropertyDescriptor & ThisType<VerifiedDelivery> = {
    enumerable: true,
    get() {
      this.#controller ??= new AbortController();
      if (this.#expired !== undefined) this.#controller.abort(this.#expired);
      return this.#controller.signal;
    },
  };

  constructor({ id, timestamp, event, jobId, data, rawBody }: Source) {
    this.id = id;
    this.timestamp = timestamp;
    this.event = event;
    this.jobId = jobId;
    this.data = data;
    this.rawBody = rawBody;
    Object.defineProperty(this, "signal", VerifiedDelivery.#SIGNAL);
  }

  /** Whether the handler asked for the signal, and so may have stopped when it fired. */
  get isWatched(): boolean {
    return this.#controller !== undefined;
  }

  expire(reason: Error): void {
    this.#expired = reason;
    this.#controller?.abort(reason);
  }
}
