// `node dead-letters.js` lists the deliveries that failed for good, and `node dead-letters.js retry` replays them.

import { Queue } from "bullmq";

const queue = new Queue("webhooks", { connection: { url: process.env.REDIS_URL ?? "" } });

for (const job of await queue.getFailed()) {
  const { id, event, jobId, body } = job.data;
  console.log(id, event, jobId, job.failedReason, Buffer.from(body, "base64").toString());
}
if (process.argv[2] === "retry") await queue.retryJobs({ state: "failed" });
await queue.close();
