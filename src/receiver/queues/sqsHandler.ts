import type { QueueWorker } from "./worker";

/** The parts of the event of a Lambda function on SQS that are used. */
export interface SqsEvent {
  readonly Records: readonly { readonly messageId: string; readonly body: string }[];
}
export interface SqsBatchResult {
  batchItemFailures: { itemIdentifier: string }[];
}
interface LambdaContext {
  getRemainingTimeInMillis?(): number;
}

/** Before a function's time is up, handlers are told to stop, and then their messages are handed back. */
const STOP_MS = 1500;
const HAND_BACK_MS = 500;

/**
 * Makes a worker the handler of an AWS Lambda function on SQS. Only the messages that failed go back to the queue, so the event source
 * needs `ReportBatchItemFailures` in its `FunctionResponseTypes`: without it, Lambda takes the whole batch for handled.
 *
 * ```ts
 * export const handler = sqsHandler(queueWorker({ dedupe: redisDedupe({ client }), handlers }));
 * ```
 *
 * The messages of a batch are handled at the same time. 1.5 seconds before the function's time is up, the signals of those that still run
 * fire; a second later, they are handed back. It never rejects because of a message.
 */
export function sqsHandler(
  worker: QueueWorker,
): (event: SqsEvent, context?: LambdaContext) => Promise<SqsBatchResult> {
  return async ({ Records }, context) => {
    const leftMs = context?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY;
    const stopping = new AbortController();
    const timers: NodeJS.Timeout[] = [];
    const outOfTime = new Promise<never>((_, reject) => {
      if (!Number.isFinite(leftMs)) return;
      const error = new Error("The time of the Lambda function is almost up.");
      timers.push(setTimeout(() => stopping.abort(error), Math.max(0, leftMs - STOP_MS)));
      timers.push(setTimeout(() => reject(error), Math.max(1, leftMs - HAND_BACK_MS)));
    });
    outOfTime.catch(() => {});
    const batchItemFailures: { itemIdentifier: string }[] = [];
    const handle = async ({ messageId, body }: SqsEvent["Records"][number]) => {
      try {
        await Promise.race([worker(body, { signal: stopping.signal }), outOfTime]);
      } catch {
        // The worker has reported it to onOutcome.
        batchItemFailures.push({ itemIdentifier: messageId });
      }
    };
    await Promise.all(Records.map(handle));
    for (const timer of timers) clearTimeout(timer);
    return { batchItemFailures };
  };
}
