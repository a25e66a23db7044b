import { format } from "node:util";
import { type QueueWorkerOptions, queueWorker } from "../../src/receiver/queues";
import { delivered, receiverOf } from "../receiver/support";
import { EACH_VALUE, harmIn } from "./values";

const log = jest.spyOn(console, "error").mockImplementation();
afterEach(() => void log.mockClear());
afterAll(() => log.mockRestore());

/** What the log of a process has then. */
const logged = () => log.mock.calls.map((args) => format(...args)).join("\n");

const failing = () => Promise.reject(new Error("mine"));
/** Refuses every data, and names keys of it. */
const schemaOf = (key: string) => ({
  "~standard": {
    version: 1 as const,
    vendor: "mine",
    validate: () => ({ issues: [{ message: "wrong", path: ["people", key, { key }] }] }),
  },
});

/** Gives a worker with the default hooks a job. */
function work(job: object, options: Partial<QueueWorkerOptions> = {}): Promise<unknown> {
  const worker = queueWorker({ handlers: {}, onUnhandled: failing, ...options });
  const queued = { version: 1, id: "msg_1", key: "k", timestamp: 1, body: "", ...job };
  return worker(queued).catch(() => undefined);
}
const bodyOf = (type: string) =>
  Buffer.from(JSON.stringify({ type, data: { jobId: type } })).toString("base64");
/** An id has visible characters only: a request with any other claims none. */
const idOf = (value: string) => value.replace(/[^!-\-/-~]/g, "!").slice(0, 9_000);

/** Every value of others that the default hooks of a receiver and of a worker log. */
const sinks: Readonly<Record<string, (value: string) => Promise<unknown>>> = {
  "an event that nobody handles": (value) =>
    receiverOf({ onOutcome: undefined }).receiver.handle(delivered({ body: { type: value } })),
  "an event whose handler fails": (value) =>
    receiverOf({ onOutcome: undefined, onUnhandled: failing }).receiver.handle(
      delivered({ id: idOf(value), body: { type: value, data: { jobId: value.slice(0, 9_000) } } }),
    ),
  "an event that a queue does not take": (value) =>
    receiverOf({
      onOutcome: undefined,
      handlers: undefined,
      queue: { add: failing },
    } as never).receiver.handle(delivered({ body: { type: value } })),
  "a key of the data that does not fit its schema": (value) =>
    receiverOf({ onOutcome: undefined, events: { "job.succeeded": schemaOf(value) } }).receiver.handle(
      delivered(),
    ),
  "the id of a request that is not verified": (value) =>
    receiverOf({ onRejected: undefined }).receiver.handle({
      ...delivered(),
      headers: { ...delivered().headers, "webhook-id": idOf(value) },
    }),
  "the id of a job in a queue": (value) => work({ id: value }),
  "the event of a job in a queue": (value) => work({ body: bodyOf(value) }),
  "the event of a job that no worker handles": (value) =>
    work({ body: bodyOf(value) }, { handlers: { "job.failed": failing }, onUnhandled: undefined }),
  "the key of data in a queue": (value) =>
    work(
      { body: bodyOf("job.failed") },
      { handlers: { "job.failed": failing }, events: { "job.failed": schemaOf(value) } },
    ),
  "a job that is no delivery": (value) => work({ version: value, id: value, body: value }),
};

test.each(EACH_VALUE)(
  "a sender and a queue whose values are %s are harmless in the logs of receivers",
  async (_what, value) => {
    for (const [sink, send] of Object.entries(sinks)) {
      log.mockClear();
      await send(value);
      expect([sink, logged()]).not.toEqual([sink, ""]);
      expect([sink, harmIn(logged())]).toEqual([sink, []]);
    }
  },
);
