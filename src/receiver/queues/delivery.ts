import { createHash } from "node:crypto";
import { CodedError } from "../../shared/codedError";
import { asBuffer } from "../bytes";
import { isThenable, LATE, within } from "../deadline";
import type { Processed } from "../process";
import { checkResult } from "../result";
import type { Delivery } from "../types";

/** A verified delivery as it stands in a queue: plain JSON. Later versions of the package read it, too. */
export interface QueuedDelivery {
  /** The version of this format. A worker refuses a later one with `DELIVERY_VERSION`. */
  readonly version: 1;
  /** `webhook-id`: the same in each retry of the sender. */
  readonly id: string;
  /**
   * What identifies the event: what `dedupeKey` returned, or the id. At most 256 printable ASCII characters: anything else is
   * replaced by its hash. A queue that has had this key in the last three days must not take it again.
   */
  readonly key: string;
  /** When it was sent, in unix seconds. */
  readonly timestamp: number;
  /** The event's name and the job's id, at most 256 characters of each, for people. The worker reads both from the body. */
  readonly event?: string;
  /** The job's id. Absent if the body has none. */
  readonly jobId?: string;
  /** The exact bytes of the body, in base64. */
  readonly body: string;
}

/** A queue that deliveries are handed to. */
export interface DeliveryQueue {
  /**
   * Adds a delivery, unless the queue has or had one with the same `key`. Resolve once the queue has stored it: the sender is then
   * answered 202, and does not send it again. If it rejects, the sender is answered 503, and sends it again.
   */
  add(delivery: QueuedDelivery): PromiseLike<unknown>;
  /** The largest body that fits into a message, in bytes. A receiver refuses larger ones with 413. Default: no limit. */
  readonly maxBodyBytes?: number | undefined;
}

const LONGEST_NAME = 256;
const PLAIN = /^[\x20-\x7e]{1,256}$/;

export function queuedDelivery(
  { id, timestamp, event, jobId, rawBody }: Delivery,
  key: string,
): QueuedDelivery {
  const body = asBuffer(rawBody).toString("base64");
  return {
    version: 1,
    id,
    key: PLAIN.test(key) ? key : `sha256=${digestOf(key)}`,
    timestamp,
    ...(event === undefined ? {} : { event: storable(event) }),
    ...(jobId === undefined ? {} : { jobId: storable(jobId) }),
    body,
  };
}

/** Returns 43 characters that stand for a string, of letters, digits, `-` and `_`. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** What PostgreSQL cannot store in JSON: NUL and lone surrogates. What SQS refuses in a message: U+FFFE and U+FFFF, too. */
const UNSTORABLE = /[\0\ufffe\uffff\p{Surrogate}]/gu;

/** Shortens a string, and replaces what a queue cannot store. */
function storable(text: string): string {
  return text.slice(0, LONGEST_NAME).replace(UNSTORABLE, "\ufffd");
}

/** A queue did not confirm a delivery in time. It may have it nevertheless: then the sender's retry is the same delivery. */
class QueueDeadlineError extends CodedError<"QUEUE_DEADLINE"> {
  override readonly name = "QueueDeadlineError";

  constructor(milliseconds: number) {
    super("QUEUE_DEADLINE", `The queue did not confirm the delivery within ${milliseconds} ms.`);
  }
}

const QUEUED: Processed = { outcome: "queued" };

/** Hands a delivery to a queue, and waits until the queue has confirmed it. Never rejects. */
export async function enqueue(
  delivery: Delivery,
  key: string,
  { queue, timeoutMs }: { queue: DeliveryQueue; timeoutMs: number },
): Promise<Processed> {
  try {
    const adding = queue.add(queuedDelivery(delivery, key));
    // A forgotten `return` or `await` would acknowledge what the queue has not confirmed.
    if (!isThenable(adding))
      throw new TypeError(
        "The queue's add must return a promise that resolves once the queue has stored the delivery.",
      );
    const added = await within(timeoutMs, Promise.resolve(adding));
    if (added === LATE) throw new QueueDeadlineError(timeoutMs);
    checkResult(added, "queue's add");
    return QUEUED;
  } catch (error) {
    return { outcome: "queue-unavailable", error };
  }
}
