// `node dead-letters.js` lists the deliveries that failed for good, and `node dead-letters.js retry` replays them. (`aws sqs
// start-message-move-task` replays them, too, but does not show them.)

import { SQS } from "@aws-sdk/client-sqs";

const sqs = new SQS();
const [from, to] = [process.env.DEAD_LETTER_QUEUE_URL, process.env.QUEUE_URL];

async function main() {
  for (;;) {
    const { Messages = [] } = await sqs.receiveMessage({ QueueUrl: from, MaxNumberOfMessages: 10 });
    if (Messages.length === 0) return;
    for (const { Body = "", MessageId, ReceiptHandle } of Messages) {
      const { id, event, jobId, body } = JSON.parse(Body);
      console.log(id, event, jobId, Buffer.from(body, "base64").toString());
      if (process.argv[2] !== "retry") continue;
      // An id of its own, or the queue would drop a delivery that it had in the last five minutes.
      const ids = { MessageGroupId: MessageId, MessageDeduplicationId: MessageId };
      await sqs.sendMessage({ QueueUrl: to, MessageBody: Body, ...ids });
      await sqs.deleteMessage({ QueueUrl: from, ReceiptHandle });
    }
  }
}

void main();
