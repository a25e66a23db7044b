import { readEvent } from "../signature/event";
import type { Delivery } from "./types";

/** A verified delivery, as its handler gets it. Its deadline, and whether the handler may know of it, are the receiver's. */
export class TrackedDelivery implements Delivery {
  readonly event: string | undefined;
  readonly jobId: string | undefined;
  /** The schema of the event replaces it. */
  data: unknown;
  declare readonly signal: AbortSignal;
  #controller: AbortController | undefined;
  #expired: Error | undefined;

  /**
   * The controller is made when the handler, or a copy (`{ ...delivery }`), first asks for it: most never do, and it is expensive. So is
   * a getter of each delivery's own.
   */
  static readonly #SIGNAL: PropertyDescriptor & ThisType<TrackedDelivery> = {
    enumerable: true,
    get() {
      this.#controller ??= new AbortController();
      if (this.#expired !== undefined) this.#controller.abort(this.#expired);
      return this.#controller.signal;
    },
  };

  constructor(
    readonly id: string,
    readonly timestamp: number,
    readonly rawBody: Uint8Array,
  ) {
    const { event, jobId, data } = readEvent(rawBody);
    this.event = event;
    this.jobId = jobId;
    this.data = data;
    Object.defineProperty(this, "signal", TrackedDelivery.#SIGNAL);
  }

  /** Whether the handler has looked at the signal, and so may have stopped when it fired. */
  isWatched(): boolean {
    return this.#controller !== undefined;
  }

  /** Gives the delivery up, and fires its signal. */
  expire(reason: Error): void {
    this.#expired = reason;
    this.#controller?.abort(reason);
  }

  /** @throws the reason for which the delivery was given up, if it was */
  throwIfExpired(): void {
    if (this.#expired !== undefined) throw this.#expired;
  }
}

/** Handles a delivery that has been taken. */
export type Work = (delivery: TrackedDelivery) => unknown;
