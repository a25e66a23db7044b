import { CodedError } from "../error";
import { isThenable, LATE, within } from "./deadline";
import type { Processed } from "./process";
import { type DeliveryQueue, queuedDelivery } from "./queues/delivery";
import type { Delivery } from "./types";

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
    if ((await within(timeoutMs, Promise.resolve(adding))) === LATE) throw new QueueDeadlineError(timeoutMs);
    return QUEUED;
  } catch (error) {
    return { outcome: "queue-unavailable", error };
  }
}
