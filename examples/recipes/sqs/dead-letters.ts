// `node dead-letters.js` lists the deliveries that failed for good, and `node dead-letters.js retry` replays them. (`aws sqs
// start-message-move-task` replays them, too, but does not show them.)

import { SQS } from "@aws-sdk/client-sqs";

const sqs = new SQS();
const [from, to] = [process.env.DEAD_LETTER_QUEUE_URL, process.env.QUEUE_URL];
const isRetry = process.argv[2] === "retry";
/** Without a time to wait, SQS asks only some of its servers. Received messages are hidden meanwhile, so none comes twice. */
const receiving = { QueueUrl: from, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: 600 };

async function main() {
  const shown: (string | undefined)[] = [];
  for (;;) {
    const { Messages = [] } = await sqs.receiveMessage(receiving);
    if (Messages.length === 0) break;
    for (const { Body = "", MessageId, ReceiptHandle } of Messages) {
      const { id, event, jobId, body } = JSON.parse(Body);
      console.log(id, event, jobId, Buffer.from(body, "base64").toString());
      if (!isRetry) {
        shown.push(ReceiptHandle);
        continue;
      }
      // An id of its own, or the queue would drop a delivery that it had in the last five minutes.
      const ids = { MessageGroupId: MessageId, MessageDeduplicationId: MessageId };
      await sqs.sendMessage({ QueueUrl: to, MessageBody: Body, ...ids });
      await sqs.deleteMessage({ QueueUrl: from, ReceiptHandle });
    }
  }
  // Otherwise a replay in the next ten minutes would find nothing.
  for (const ReceiptHandle of shown)
    await sqs.changeMessageVisibility({ QueueUrl: from, ReceiptHandle, VisibilityTimeout: 0 });
}

void main();
