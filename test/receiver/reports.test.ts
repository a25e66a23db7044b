import { queueWorker } from "../../src/receiver/queues";
import { delivered, receiverOf } from "./support";

const log = jest.spyOn(console, "error").mockImplementation();
afterEach(() => void log.mockClear());
afterAll(() => log.mockRestore());

/** What a terminal, or the log of a pipeline, would obey, and what would fill it. */
const hostile = [
  "\u001b[2J",
  "\u0007",
  "\u009b31m",
  "\u202egnp",
  "\n::error::forged",
  "\r\n##[error]forged",
  "\u2028forged",
  "x".repeat(100_000),
];

/** Everything that was logged, errors as Node shows their messages. */
const logged = () => log.mock.calls.flat().map(String).join(" ");

const ways: Readonly<Record<string, (value: string) => Promise<unknown>>> = {
  "an event that nobody handles": (value) =>
    receiverOf({ onOutcome: undefined }).receiver.handle(delivered({ body: { type: value } })),
  "an event whose handler fails": (value) =>
    receiverOf({
      onOutcome: undefined,
      onUnhandled: () => Promise.reject(new Error("mine")),
    }).receiver.handle(delivered({ body: { type: value, data: { jobId: value } } })),
  "a key of the data that does not fit its schema"(value) {
    const validate = () => ({ issues: [{ message: "wrong", path: ["people", value, { key: value }] }] });
    const schema = { "~standard": { version: 1 as const, vendor: "mine", validate } };
    const events = { "job.succeeded": schema };
    return receiverOf({ onOutcome: undefined, events }).receiver.handle(delivered());
  },
  "the id of a job in a queue": (value) =>
    queueWorker({ handlers: { "job.succeeded": () => Promise.reject(new Error("mine")) } })({
      ...{ version: 1, id: value, key: "k", timestamp: 1 },
      body: delivered().body.toString("base64"),
    }).catch(() => {}),
  "the id of a request that is not verified": (value) =>
    receiverOf({ onRejected: undefined }).receiver.handle({
      ...delivered(),
      headers: { ...delivered().headers, "webhook-id": value.replace(/[^!-~]/g, "!") },
    }),
};

test.each(Object.keys(ways))(
  "%s is logged so that neither a terminal nor a pipeline obeys it, and not at length",
  async (way) => {
    for (const value of hostile) {
      log.mockClear();
      await ways[way]?.(value);
      const text = logged();
      expect(text).not.toBe("");
      expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]|^::|##\[/mu);
      expect(text.length).toBeLessThan(900);
    }
  },
);
