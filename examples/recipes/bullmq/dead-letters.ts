// `node dead-letters.js` lists the deliveries that failed for good, and `node dead-letters.js retry` replays them.

import { Queue } from "bullmq";

const queue = new Queue("webhooks", { connection: { url: process.env.REDIS_URL ?? "" } });

const failed = await queue.getFailed();
for (const job of failed) {
  const { id, event, jobId, body } = job.data ?? {};
  // Without a body, it is not a delivery: something else has used the queue.
  const text = typeof body === "string" ? Buffer.from(body, "base64").toString() : JSON.stringify(job.data);
  console.log(id, event, jobId, job.failedReason, text);
}
if (process.argv[2] === "retry")
  for (const job of failed) await job.retry("failed", { resetAttemptsMade: true });
await queue.close();
