import { asBuffer } from "../../signature/event";
import { digestOf } from "../digest";
import type { DeliveryProcessor } from "../handlerProcessor";
import { checkResult } from "../handlerResult";
import type { Log } from "../log";
import { checkedTimeout, refuseOptions, requireMethods } from "../optionChecks";
import type { QueueReceiverOptions } from "../options";
import type { Delivery } from "../types";
import { inTime, isThenable } from "../waiting";
import type { DeliveryQueue, QueuedDelivery } from "./queue";

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

/**
 * Returns a function that hands a delivery to a queue, and waits until the queue has confirmed it.
 * @throws RangeError for an invalid timeout, TypeError for an option of what handles deliveries
 */
export function queueProcessor(
  queue: DeliveryQueue,
  { handlerTimeoutMs, ...others }: Pick<QueueReceiverOptions, "handlerTimeoutMs">,
  log: Log,
): DeliveryProcessor {
  requireMethods(
    queue,
    ["add"],
    "createReceiver: queue must have a method add. Pass bullmqQueue(…), pgBossQueue(…), sqsQueue(…) or a DeliveryQueue of your own.",
  );
  // Its `add` has other arguments: it would store a job without the delivery.
  if ("addBulk" in queue)
    throw new TypeError("createReceiver: queue is a queue of BullMQ. Pass bullmqQueue(queue).");
  const timeoutMs = checkedTimeout(handlerTimeoutMs);
  refuseOptions(others, "With a queue, handlers and their options belong to queueWorker.");
  return async (delivery, key) => {
    try {
      const adding = queue.add(queuedDelivery(delivery, key));
      // A forgotten `return` or `await` would acknowledge what the queue has not confirmed.
      if (!isThenable(adding))
        throw new TypeError(
          "The queue's add must return a promise that resolves once the delivery is stored.",
        );
      // It may be stored after all: the sender's retry then has the same key.
      const added = await inTime("Adding the delivery to the queue", timeoutMs, adding);
      checkResult(added, "the queue's add", log);
      return { outcome: "queued" };
    } catch (error) {
      return { outcome: "queue-unavailable", error };
    }
  };
}
