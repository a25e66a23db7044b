import type { ReadEvent } from "./event";
import type { Delivery } from "./types";
import { watchedController } from "./watchedSignal";

interface Source extends Omit<ReadEvent, "message"> {
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
  /** Replaced by what the schema of its event makes of it, before a handler is called. */
  data: unknown;
  readonly rawBody: Uint8Array;
  declare readonly signal: AbortSignal;
  #controller: AbortController | undefined;
  #expired: Error | undefined;
  #isWatched = false;

  // An own property, so that a copy by spreading has it, as its type says. The controller is made when first asked for: most
  // handlers never do, and it costs more than the rest of the delivery.
  static readonly #SIGNAL: PropertyDescriptor & ThisType<VerifiedDelivery> = {
    enumerable: true,
    get() {
      this.#controller ??= watchedController(() => {
        this.#isWatched = true;
      });
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

  /** Whether the handler used the signal, and so may have stopped when it fired. A copy of the delivery has the same signal. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  expire(reason: Error): void {
    this.#expired = reason;
    this.#controller?.abort(reason);
  }
}
