import { digestOf } from "../digest";
import { checkNumber, requireMethods } from "../optionChecks";
import type { DeliveryQueue } from "./queue";
import type { QueueWorker } from "./worker";

/** The part of an `SQS` of `@aws-sdk/client-sqs` that is used: the client with a method for each operation, not `SQSClient`. */
export interface SqsClient {
  /** Sends a message. */
  sendMessage(input: SqsMessage): PromiseLike<unknown>;
}
interface SqsMessage {
  readonly QueueUrl: string;
  readonly MessageBody: string;
  readonly MessageDeduplicationId?: string;
  readonly MessageGroupId?: string;
}

/** Options of `sqsQueue`. */
export interface SqsQueueOptions {
  /** A client of `@aws-sdk/client-sqs`. */
  readonly client: SqsClient;
  /** The URL of a standard or a FIFO queue. */
  readonly queueUrl: string;
  /** The `MaximumMessageSize` of the queue, in bytes, at least 8,192. Default 262,144. Larger bodies than fit are refused with 413. */
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
 * @throws TypeError if the client is an `SQSClient`, or the url is missing; RangeError if `maxMessageBytes` is out of its range
 */
export function sqsQueue({ client, queueUrl, maxMessageBytes = 262_144 }: SqsQueueOptions): DeliveryQueue {
  requireMethods(
    client,
    ["sendMessage"],
    "sqsQueue: pass { client: new SQS({}) } of @aws-sdk/client-sqs, which has a method for each operation. An SQSClient has none.",
  );
  if (typeof queueUrl !== "string" || !/^https?:\/\//.test(queueUrl))
    throw new TypeError("sqsQueue: queueUrl must be the URL of a queue, not its name or ARN, and not empty.");
  checkNumber("sqsQueue: maxMessageBytes", maxMessageBytes, { least: 2 * OVERHEAD_BYTES });
  return {
    // Base64 takes four bytes for three.
    maxBodyBytes: Math.floor((maxMessageBytes - OVERHEAD_BYTES) / 4) * 3,
    add(delivery) {
      const message = { QueueUrl: queueUrl, MessageBody: JSON.stringify(delivery) };
      if (!queueUrl.endsWith(".fifo")) return client.sendMessage(message);
      const id = digestOf(delivery.key);
      return client.sendMessage({ ...message, MessageDeduplicationId: id, MessageGroupId: id });
    },
  };
}

/** The parts of the event of a Lambda function on SQS that are used. */
export interface SqsEvent {
  /** The messages. */
  readonly Records: readonly { readonly messageId: string; readonly body: string }[];
}
/** What the function returns to SQS. */
export interface SqsBatchResult {
  /** The messages that SQS delivers again. */
  batchItemFailures: { itemIdentifier: string }[];
}
/**
 * Makes a worker the handler of an AWS Lambda function on SQS. Only the messages that failed go back to the queue, so the event source
 * needs `ReportBatchItemFailures` in its `FunctionResponseTypes`: without it, Lambda takes the whole batch for handled.
 *
 * ```ts
 * export const handler = sqsHandler(queueWorker({ dedupe: redisDedupe({ client, prefix: "billing:" }), handlers }));
 * ```
 *
 * The messages of a batch are handled at the same time. It never rejects because of a message. Give the function a timeout longer than
 * the worker's `handlerTimeoutMs`: when its time is up, the whole batch goes back.
 *
 * @throws TypeError for anything but a worker
 */
export function sqsHandler(worker: QueueWorker): (event: SqsEvent) => Promise<SqsBatchResult> {
  if (typeof worker !== "function")
    throw new TypeError(
      "sqsHandler: pass what queueWorker returned, such as sqsHandler(queueWorker({ handlers })).",
    );
  return async (event) => {
    const { Records }: Partial<SqsEvent> = event ?? {};
    // What invokes a function without waiting for it, as SNS does, takes any result for success.
    if (!Array.isArray(Records) || Records.some(({ messageId, body }) => !messageId || body === undefined))
      throw new TypeError(
        "sqsHandler got an event whose records are not messages of SQS. For requests, make lambdaHandler(receiver) the handler.",
      );
    const ended = await Promise.allSettled(Records.map(({ body }) => worker(body)));
    // The worker has reported each failure to onOutcome.
    const failed = Records.filter((_, at) => ended[at]?.status === "rejected");
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}
