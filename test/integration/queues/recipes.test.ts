import { setTimeout as sleep } from "node:timers/promises";
import { delivered, jobSucceeded, secret } from "../../receiver/support";
import { startPostgres } from "../stores/postgres";
import { startDurableRedis } from "../stores/redis";
import { startSqs } from "../stores/sqs";
import type { Store } from "../stores/store";
import { Recipe } from "./recipe";

const WEBHOOK_RECEIVER = JSON.stringify({ version: 1, secrets: [secret] });
const ACCOUNT = "123456789012";
/** How often SQS gives a message out before it is a dead letter. While a busy machine stands still, each time may end in a failure. */
const RECEIVES = 30;

/** Acts on a recipe with a program of the test's own, and with a store that nothing else uses. */
async function ownProgram(name: string, code: string, act: (recipe: Recipe) => Promise<void>): Promise<void> {
  const { start, env } = settings[name] as Setting;
  const store = await start();
  const recipe = new Recipe(name, { WEBHOOK_RECEIVER, ...env(store.url) });
  recipe.add("own.js", code);
  try {
    await act(recipe);
  } finally {
    await recipe.dispose();
    await store.dispose();
  }
}

/** Runs a program, which must succeed, and returns what it printed. */
async function printedBy(recipe: Recipe, file: string, ...args: string[]): Promise<readonly string[]> {
  const running = recipe.run(file, args);
  const exitCode = await running.ended();
  if (exitCode !== 0) throw new Error(`${file} ended with ${exitCode}:\n${running.lines.join("\n")}`);
  return running.lines;
}

/** How to test a recipe with a real queue: programs of the test, in addition to those of the recipe. */
interface Setting {
  readonly start: () => Promise<Store>;
  readonly env: (url: string) => Record<string, string>;
  /** Creates what the recipe's Pulumi program would. */
  readonly setUp?: string;
  /** Runs the worker. */
  readonly worker?: string;
  /** Makes a dead letter of the next delivery. */
  readonly fail: string;
}

const FAILING = `
import { queueWorker } from "pulumi-webhook-endpoints/receiver/queues";
const fail = queueWorker({ handlers: { "job.succeeded"() { throw new Error("broken release"); } }, onOutcome() {} });
`;

const settings: Record<string, Setting> = {
  bullmq: {
    start: startDurableRedis,
    env: (url) => ({ REDIS_URL: url }),
    fail: `${FAILING}
      import { UnrecoverableError, Worker } from "bullmq";
      // As at the last attempt, without the wait for the ones before it.
      const last = (job) => fail(job).catch((error) => { throw new UnrecoverableError(error.message); });
      const working = new Worker("webhooks", last, { connection: { url: process.env.REDIS_URL, maxRetriesPerRequest: null } });
      working.on("failed", async () => { await working.close(); console.log("failed"); });`,
  },
  "pg-boss": {
    start: startPostgres,
    env: (url) => ({ DATABASE_URL: url }),
    fail: `${FAILING}
      import { startBoss } from "./queue.js";
      const boss = await startBoss();
      const [job] = await boss.fetch("webhooks");
      // As at the last attempt, without the wait for the ones before it.
      await fail([job]).catch(async (error) => {
        await boss.getDb().executeSql("UPDATE pgboss.job SET retry_limit = 0 WHERE id = $1", [job.id]);
        await boss.fail("webhooks", job.id, error);
      });
      await boss.stop();
      console.log("failed");`,
  },
  sqs: {
    start: startSqs,
    env: (url) => ({
      AWS_ENDPOINT_URL: url,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      QUEUE_URL: `${url}/${ACCOUNT}/webhooks.fifo`,
      DEAD_LETTER_QUEUE_URL: `${url}/${ACCOUNT}/webhooks-dead.fifo`,
    }),
    setUp: `
      import { SQS } from "@aws-sdk/client-sqs";
      const sqs = new SQS();
      await sqs.createQueue({ QueueName: "webhooks-dead.fifo", Attributes: { FifoQueue: "true" } });
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: "arn:aws:sqs:us-east-1:${ACCOUNT}:webhooks-dead.fifo", maxReceiveCount: ${RECEIVES} });
      const Attributes = { FifoQueue: "true", VisibilityTimeout: "1", RedrivePolicy };
      await sqs.createQueue({ QueueName: "webhooks.fifo", Attributes });`,
    worker: `
      import { SQS } from "@aws-sdk/client-sqs";
      import { handler } from "./worker.js";
      const QueueUrl = process.env.QUEUE_URL;
      const sqs = new SQS();
      let isStopped = false;
      process.once("SIGTERM", () => { isStopped = true; });
      while (!isStopped) {
        const { Messages = [] } = await sqs.receiveMessage({ QueueUrl }).catch(() => ({}));
        const Records = Messages.map(({ MessageId, Body }) => ({ messageId: MessageId, body: Body }));
        const { batchItemFailures } = await handler({ Records });
        if (batchItemFailures.length === 0)
          for (const { ReceiptHandle } of Messages) await sqs.deleteMessage({ QueueUrl, ReceiptHandle });
        await new Promise((wake) => setTimeout(wake, 100));
      }
      process.exit();`,
    fail: `${FAILING}
      import { SQS } from "@aws-sdk/client-sqs";
      import { sqsHandler } from "pulumi-webhook-endpoints/receiver/queues";
      const sqs = new SQS();
      const { QUEUE_URL: QueueUrl, DEAD_LETTER_QUEUE_URL } = process.env;
      const Attributes = { QueueUrl: DEAD_LETTER_QUEUE_URL, AttributeNames: ["ApproximateNumberOfMessages"] };
      while ((await sqs.getQueueAttributes(Attributes)).Attributes.ApproximateNumberOfMessages === "0") {
        const { Messages = [] } = await sqs.receiveMessage({ QueueUrl });
        const Records = Messages.map(({ MessageId, Body }) => ({ messageId: MessageId, body: Body }));
        await sqsHandler(fail)({ Records });
        for (const { ReceiptHandle } of Messages)
          await sqs.changeMessageVisibility({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 });
      }
      console.log("failed");`,
  },
};

/** The worker of the SQS recipe remembers deliveries in Redis. */
let redis: Store;
beforeAll(async () => {
  redis = await startDurableRedis();
});
afterAll(() => redis.dispose());

describe.each(Object.entries(settings))("in the recipe %s:", (name, setting) => {
  let store: Store;
  let recipe: Recipe;
  let url: string;

  beforeAll(async () => {
    store = await setting.start();
    recipe = new Recipe(name, { WEBHOOK_RECEIVER, REDIS_URL: redis.url, ...setting.env(store.url) });
    recipe.add("fail.js", setting.fail);
    if (setting.worker) recipe.add("poll.js", setting.worker);
    if (setting.setUp) {
      recipe.add("setUp.js", setting.setUp);
      expect(await printedBy(recipe, "setUp.js")).toEqual([]);
    }
    url = await recipe.run("receiver.js").url;
  });
  afterAll(async () => {
    await recipe?.dispose();
    await store?.dispose();
  });

  const send = async ({ headers, body }: ReturnType<typeof delivered>) => {
    const response = await fetch(url, { method: "POST", headers: { ...headers }, body });
    return { status: response.status, retryAfter: response.headers.get("retry-after") };
  };
  const jobOf = (jobId: string) => delivered({ body: jobSucceeded(jobId) });
  const startWorker = () => recipe.run(setting.worker ? "poll.js" : "worker.js");
  /** Sends until the queue takes it. */
  async function sendUntilQueued(request: ReturnType<typeof delivered>): Promise<number[]> {
    const answers: number[] = [];
    while (answers.at(-1) !== 202) {
      answers.push((await send(request)).status);
      if (answers.at(-1) !== 202) await sleep(100);
    }
    return answers;
  }

  test("a delivery is queued once and handled once, however often it is sent", async () => {
    const request = jobOf("job_once");
    for (let times = 0; times < 3; times++) expect(await send(request)).toMatchObject({ status: 202 });
    expect(await send({ ...jobOf("job_x"), body: Buffer.from("{}") })).toMatchObject({ status: 401 });
    const worker = startWorker();
    await worker.printed("job_once is done");
    expect(await send(request)).toMatchObject({ status: 202 });
    expect(await send(jobOf("job_next"))).toMatchObject({ status: 202 });
    await worker.printed("job_next is done");
    await worker.terminate();
    expect(worker.lines.filter((line) => line === "job_once is done")).toHaveLength(1);
  });

  test("the receiver answers 503 with Retry-After while the queue is away, and takes the sender's retry when it is back", async () => {
    const request = jobOf("job_retried");
    await store.stop();
    expect(await send(request)).toEqual({ status: 503, retryAfter: "5" });
    await store.start();
    expect((await sendUntilQueued(request)).at(-1)).toBe(202);
    const worker = startWorker();
    await worker.printed("job_retried is done");
    await worker.terminate();
  });

  test("dead-letters.js shows a dead letter, and replays it", async () => {
    const request = jobOf("job_dead");
    expect(await sendUntilQueued(request)).toContain(202);
    expect(await printedBy(recipe, "fail.js")).toEqual(["failed"]);
    const line = `^${request.headers["webhook-id"]} job.succeeded job_dead .*"jobId":"job_dead"`;
    expect(await printedBy(recipe, "dead-letters.js")).toEqual([expect.stringMatching(new RegExp(line))]);
    await printedBy(recipe, "dead-letters.js", "retry");
    const worker = startWorker();
    await worker.printed("job_dead is done");
    await worker.terminate();
    expect(await printedBy(recipe, "dead-letters.js")).toEqual([]);
  });
});

test("the recipe bullmq shows jobs that are not deliveries among its dead letters, and gives each all its attempts again", () =>
  ownProgram(
    "bullmq",
    `import { Queue, Worker } from "bullmq";
    import { bullmqQueue, queueWorker } from "pulumi-webhook-endpoints/receiver/queues";
    const connection = { url: process.env.REDIS_URL, maxRetriesPerRequest: null, enableOfflineQueue: false };
    const queue = new Queue("webhooks", { connection, defaultJobOptions: { attempts: 2, backoff: { type: "fixed", delay: 1 } } });
    queue.on("error", () => {});
    await queue.waitUntilReady();
    if (process.argv[2] === "add") {
      await queue.add("other", { hello: "world" });
      const body = Buffer.from(JSON.stringify({ type: "job.succeeded", data: {} })).toString("base64");
      await bullmqQueue(queue).add({ version: 1, id: "msg_dead", key: "msg_dead", timestamp: 1, body });
    }
    let calls = 0;
    const handlers = { "job.succeeded"() { calls += 1; throw new Error("broken release"); } };
    const working = new Worker("webhooks", queueWorker({ handlers, onOutcome() {} }), { connection });
    working.on("error", () => {});
    while ((await queue.getFailedCount()) < 2) await new Promise((wake) => setTimeout(wake, 20));
    await working.close();
    await queue.close();
    console.log(calls, "attempts");`,
    async (recipe) => {
      for (const args of [["add"], []]) {
        expect(await printedBy(recipe, "own.js", ...args)).toEqual(["2 attempts"]);
        const shown = await printedBy(recipe, "dead-letters.js", "retry");
        expect(shown.toSorted()).toEqual([
          expect.stringMatching(/^msg_dead/),
          expect.stringMatching(/hello/),
        ]);
      }
    },
  ));

test("pg-boss takes a delivery once in seven days, and does not acknowledge what a policy drops", () =>
  ownProgram(
    "pg-boss",
    // PostgreSQL's own clock decides, so the job is made older.
    `import { pgBossQueue } from "pulumi-webhook-endpoints/receiver/queues";
    import { startBoss } from "./queue.js";
    const boss = await startBoss();
    const delivery = (key) => ({ version: 1, id: key, key, timestamp: 1, body: "" });
    const queue = pgBossQueue(boss, "webhooks");
    await queue.add(delivery("msg_1"));
    const [job] = await boss.fetch("webhooks");
    await boss.complete("webhooks", job.id);
    for (const age of ["1 hour", "2 days", "8 days"]) {
      const older = "UPDATE pgboss.job SET completed_on = now() - $2::interval WHERE id = $1";
      await boss.getDb().executeSql(older, [job.id, age]);
      await boss.getDb().executeSql("UPDATE pgboss.queue SET maintain_on = NULL", []);
      await boss.supervise("webhooks");
      await queue.add(delivery("msg_1"));
      console.log(age, (await boss.fetch("webhooks")).length);
    }
    await boss.createQueue("short", { policy: "short" });
    const short = pgBossQueue(boss, "short");
    for (const key of ["a", "a", "b"])
      await short.add(delivery(key)).then(() => console.log("taken"), ({ message }) => console.log(message));
    await boss.stop();`,
    async (recipe) => {
      const again = ["1 hour 0", "2 days 0", "8 days 1"];
      const dropped = expect.stringMatching(/dropped the delivery/);
      expect(await printedBy(recipe, "own.js")).toEqual([...again, "taken", "taken", dropped]);
    },
  ));
