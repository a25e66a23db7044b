import { createHash } from "node:crypto";
import { asBuffer } from "../delivery";
import { inTime, isThenable } from "../limits";
import { checkResult, type Processed } from "../process";
import type { Warn } from "../reports";
import type { Delivery } from "../types";

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

/** What every queue can store: PostgreSQL and SQS refuse some characters, and SQS has a largest size. */
const PLAIN = /^[\x20-\x7e]{1,256}$/;

function queuedDelivery({ id, timestamp, event, jobId, rawBody }: Delivery, key: string): QueuedDelivery {
  return {
    version: 1,
    id,
    key: PLAIN.test(key) ? key : `sha256=${digestOf(key)}`,
    timestamp,
    event: PLAIN.test(event ?? "") ? event : undefined,
    jobId: PLAIN.test(jobId ?? "") ? jobId : undefined,
    body: asBuffer(rawBody).toString("base64"),
  };
}

/** Returns 43 characters that stand for a string: letters, digits, `-` and `_`. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Hands a delivery to a queue, and waits until the queue has confirmed it. Never rejects. */
export async function enqueue(
  delivery: Delivery,
  key: string,
  { queue, timeoutMs, warn }: { queue: DeliveryQueue; timeoutMs: number; warn: Warn },
): Promise<Processed> {
  try {
    const adding = queue.add(queuedDelivery(delivery, key));
    // A forgotten `return` or `await` would acknowledge what the queue has not confirmed.
    if (!isThenable(adding))
      throw new TypeError("The queue's add must return a promise that resolves once the delivery is stored.");
    // It may be stored after all: the sender's retry then has the same key.
    const added = await inTime("Adding the delivery to the queue", timeoutMs, adding);
    checkResult(added, "the queue's add", warn);
    return { outcome: "queued" };
  } catch (error) {
    return { outcome: "queue-unavailable", error };
  }
}
