import { createReceiver, type DedupeStore, memoryDedupe, redisDedupe } from "../../src/receiver";
import { bullmqQueue, pgBossQueue, queueWorker, sqsHandler, sqsQueue } from "../../src/receiver/queues";
import { secret } from "./support";

const handlers = { "job.succeeded": () => {} };
const queueUrl = "https://sqs.eu-west-1.amazonaws.com/1/webhooks";
const sendMessage = async () => ({});
const { claim, complete } = memoryDedupe();

/** Passes a value of any type, as plain JavaScript does. */
const to =
  <T>(use: (value: T) => unknown) =>
  (value: unknown) =>
    use(value as T);

const dedupe = to<DedupeStore>((store) => createReceiver({ secrets: secret, handlers, dedupe: store }));
const workerDedupe = to<DedupeStore>((store) => queueWorker({ handlers, dedupe: store }));
const queue = to<{ add(): Promise<void> }>((value) => createReceiver({ secrets: secret, queue: value }));
const redis = to<Parameters<typeof redisDedupe>[0]["client"]>((client) => redisDedupe({ client }));
const bullmq = to(bullmqQueue);
const boss = to<Parameters<typeof pgBossQueue>[0]>((value) => pgBossQueue(value, "webhooks"));
const bossName = to<string>((name) =>
  pgBossQueue({ send: async () => "", getJobById: async () => ({}) }, name),
);
const sqs = to<{ sendMessage: typeof sendMessage }>((client) => sqsQueue({ client, queueUrl }));
const sqsUrl = to<string>((url) => sqsQueue({ client: { sendMessage }, queueUrl: url }));
const sqsBytes = to<number>((maxMessageBytes) =>
  sqsQueue({ client: { sendMessage }, queueUrl, maxMessageBytes }),
);

const STORE = /dedupe must be a store .* such as memoryDedupe\(\) or redisDedupe/;
const SQS = /sqsQueue: pass \{ client: new SQS\(\{\}\) \}/;
const URL_OF_QUEUE = /queueUrl must be the URL of a queue/;
const BOSS = /pgBossQueue: pass a PgBoss of pg-boss and the name of its queue/;

test.each<[what: string, pass: (value: unknown) => unknown, wrong: unknown, says: RegExp]>([
  ["a receiver's empty store", dedupe, {}, STORE],
  ["a store of one method less", dedupe, { claim, complete }, STORE],
  ["a client of Redis as a store", dedupe, { eval: () => {} }, STORE],
  ["a worker's empty store", workerDedupe, {}, STORE],
  ["a queue that is a client of SQS", queue, { sendMessage }, /queue must have a method add/],
  ["the name of a queue", queue, "webhooks", /queue must have a method add/],
  [
    "a queue of BullMQ itself",
    queue,
    { add: sendMessage, addBulk: sendMessage },
    /Pass bullmqQueue\(queue\)/,
  ],
  ["a client of Redis over HTTP", redis, { eval: () => {}, evalsha: () => {} }, /no connection to Redis/],
  [
    "a client of Redis over HTTP behind a Proxy",
    redis,
    new Proxy({}, { get: (_target, name) => (/^eval(sha)?$/.test(String(name)) ? () => {} : undefined) }),
    /no connection to Redis/,
  ],
  ["a client of Redis without eval", redis, { get: () => {} }, /pass \{ client \}, a client of node-redis/],
  ["the url of a Redis", redis, "redis://localhost", /pass \{ client \}, a client of node-redis/],
  ["the name of a BullMQ queue", bullmq, "webhooks", /bullmqQueue: pass a Queue of BullMQ/],
  ["no BullMQ queue", bullmq, undefined, /bullmqQueue: pass a Queue of BullMQ/],
  ["no PgBoss", boss, {}, BOSS],
  ["the connection string of a PgBoss", boss, "postgres://localhost", BOSS],
  ["a PgBoss without a queue's name", bossName, undefined, BOSS],
  ["an SQSClient", sqs, { send: () => {} }, SQS],
  ["no SQS", sqs, undefined, SQS],
  ["no url of a queue", sqsUrl, undefined, URL_OF_QUEUE],
  ["an empty url of a queue", sqsUrl, "", URL_OF_QUEUE],
  ["the ARN of a queue", sqsUrl, "arn:aws:sqs:eu-west-1:1:webhooks", URL_OF_QUEUE],
  ["a message too small for a delivery", sqsBytes, 1_000, /maxMessageBytes must be a whole number from 8192/],
  ["messages whose size is not a number", sqsBytes, Number.NaN, /maxMessageBytes must be a whole number/],
  [
    "a receiver in place of a worker",
    to(sqsHandler),
    { handle: sendMessage },
    /sqsHandler: pass what queueWorker/,
  ],
])("%s is refused when it is passed, with what to pass instead", (_what, pass, wrong, says) => {
  expect(() => pass(wrong)).toThrow(says);
});

/** Has what it inherits only, as the clients of Redis do. */
class Connection {
  on() {}
  eval() {}
  evalsha() {}
}

test.each<[what: string, pass: (value: unknown) => unknown, right: unknown]>([
  ["a client of ioredis", redis, new Connection()],
  ["a client of ioredis behind a Proxy", redis, new Proxy(new Connection(), {})],
  ["a client of node-redis", redis, { on() {}, eval() {}, evalSha() {} }],
  ["a function eval around a client", redis, { eval: () => {} }],
  ["a store in a Proxy", dedupe, new Proxy(memoryDedupe(), {})],
  ["an object with what a PgBoss is asked", boss, { send() {}, getJobById() {} }],
  ["an object with what an SQS is asked", sqs, Object.create({ sendMessage })],
  ["an object with what a BullMQ queue is asked", bullmq, Object.create({ add() {} })],
  ["the url of an SQS on this machine", sqsUrl, "http://127.0.0.1:9324/000000000000/webhooks"],
])("%s is accepted", (_what, pass, right) => {
  expect(() => pass(right)).not.toThrow();
});
