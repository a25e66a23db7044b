/** A verified delivery as a queue stores it: plain JSON. Later versions of the package read it, too. */
export interface QueuedDelivery {
  /** The version of this format. A worker rejects any other. */
  readonly version: 1;
  /** `webhook-id`: the same in each retry of the sender. */
  readonly id: string;
  /**
   * What identifies the event: what `dedupeKey` returned, or the id. A key that is longer than 256 characters or not printable ASCII
   * is replaced by its hash. A queue that has had this key in the last three days must not take it again.
   */
  readonly key: string;
  /** When it was sent, in unix seconds. */
  readonly timestamp: number;
  /** The event's name, for people: the worker reads it from the body. Absent unless it is short, printable ASCII. */
  readonly event?: string | undefined;
  /** The job's id, for people, as `event`. */
  readonly jobId?: string | undefined;
  /** The exact bytes of the body, in base64. */
  readonly body: string;
}

/** A queue that deliveries are handed to. */
export interface DeliveryQueue {
  /**
   * Adds a delivery, unless the queue has or had one with the same `key`. Resolve once the queue has stored it: the sender then gets
   * 202 and does not send it again. If it rejects, the sender gets 503 and sends it again.
   */
  add(delivery: QueuedDelivery): PromiseLike<unknown>;
  /** The largest body that fits into a message, in bytes. A receiver refuses larger ones with 413. Default: no limit. */
  readonly maxBodyBytes?: number | undefined;
}
