import { readEvent } from "./event";
import type { Delivery } from "./types";

/** A verified delivery, and whether its handler was told to stop, and may know. */
export class TrackedDelivery {
  /** What its handler gets. The data is replaced by what the schema of its event makes of it. */
  readonly delivery: Omit<Delivery, "data"> & { data: unknown };
  /** Why the delivery was given up, if it was. */
  expired: Error | undefined;
  #controller: AbortController | undefined;

  /** Reads the event out of the body. */
  constructor({ id, timestamp, rawBody }: Pick<Delivery, "id" | "timestamp" | "rawBody">) {
    const { event, jobId, data } = readEvent(rawBody);
    const signal = () => this.#signal();
    this.delivery = {
      id,
      timestamp,
      event,
      jobId,
      data,
      rawBody,
      get signal() {
        return signal();
      },
    };
  }

  /** Whether the handler has looked at the signal, and so may have stopped when it fired. */
  get isWatched(): boolean {
    return this.#controller !== undefined;
  }

  /** Gives the delivery up, and fires its signal. */
  expire(reason: Error): void {
    this.expired = reason;
    this.#controller?.abort(reason);
  }

  /** The controller is made when first asked for: most handlers never do, and it costs more than the rest of the delivery. */
  #signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.expired !== undefined) this.#controller.abort(this.expired);
    return this.#controller.signal;
  }
}
