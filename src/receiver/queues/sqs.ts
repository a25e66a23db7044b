import { checkFunctions, checkNumber, checkOptions } from "../checks";
import { type DeliveryQueue, hashOf } from "./delivery";

/** The part of an `SQS` of `@aws-sdk/client-sqs` that is used: the client with a method for each operation, not `SQSClient`. */
export interface SqsClient {
  sendMessage(input: SqsMessage): PromiseLike<unknown>;
}
interface SqsMessage {
  readonly QueueUrl: string;
  readonly MessageBody: string;
  readonly MessageDeduplicationId?: string;
  readonly MessageGroupId?: string;
}

export interface SqsQueueOptions {
  readonly client: SqsClient;
  /** The url of a standard or a FIFO queue. */
  readonly queueUrl: string;
  /** The `MaximumMessageSize` of the queue, in bytes. Default 262,144. Larger bodies than fit are refused with 413. */
  readonly maxMessageBytes?: number | undefined;
}

/** What a message holds besides the body, in bytes, at most. */
const OVERHEAD_BYTES = 4096;

/**
 * Hands deliveries to a queue of Amazon SQS. A FIFO queue takes a delivery once in five minutes, and a standard queue as often as it
 * arrives, so give the worker a dedupe store that all workers share. Each delivery is a message group of its own, so none waits for another.
 *
 * ```ts
 * const queue = sqsQueue({ client: new SQS({}), queueUrl: process.env.QUEUE_URL });
 * const receiver = createReceiver({ secrets, queue });
 * ```
 *
 * @throws TypeError if an option is unknown or invalid; RangeError if `maxMessageBytes` is
 */
export function sqsQueue(options: SqsQueueOptions): DeliveryQueue {
  checkOptions("sqsQueue", options, ["client", "queueUrl", "maxMessageBytes"]);
  const { client, queueUrl, maxMessageBytes = 262_144 } = options;
  const advice =
    "Pass an SQS of @aws-sdk/client-sqs, which has a method for each operation. An SQSClient has none.";
  checkFunctions("sqsQueue: client", client, { functions: ["sendMessage"], advice });
  if (typeof queueUrl !== "string" || queueUrl === "")
    throw new TypeError("sqsQueue: queueUrl must be a non-empty string.");
  checkNumber("sqsQueue: maxMessageBytes", maxMessageBytes, { least: 2 * OVERHEAD_BYTES });
  return {
    // Base64 takes four bytes for three.
    maxBodyBytes: Math.floor((maxMessageBytes - OVERHEAD_BYTES) / 4) * 3,
    add(delivery) {
      const message = { QueueUrl: queueUrl, MessageBody: JSON.stringify(delivery) };
      if (!queueUrl.endsWith(".fifo")) return client.sendMessage(message);
      const id = hashOf(delivery.key);
      return client.sendMessage({ ...message, MessageDeduplicationId: id, MessageGroupId: id });
    },
  };
}
