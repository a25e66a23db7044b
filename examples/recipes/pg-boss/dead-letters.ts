// `node dead-letters.js` lists the deliveries that failed for good, and `node dead-letters.js retry` replays them.

import { startBoss } from "./queue.js";

interface Queued {
  readonly id: string;
  readonly event?: string;
  readonly jobId?: string;
  readonly body: string;
}

const boss = await startBoss();
for (const job of await boss.findJobs("webhooks-dead")) {
  const { id, event, jobId, body } = job.data as Queued;
  console.log(id, event, jobId, JSON.stringify(job.output), Buffer.from(body, "base64").toString());
}
if (process.argv[2] === "retry") await boss.redrive("webhooks-dead");
await boss.stop();
