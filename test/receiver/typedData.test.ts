import { inspect } from "node:util";
import { createReceiver, memoryDedupe, type StandardSchema } from "../../src/receiver";
import { queueWorker } from "../../src/receiver/queues";
import { deferred, delivered, receiverOf, secret } from "./support";

interface Output {
  readonly output: string;
}

/** A schema as a library makes it: it checks, and trims. */
const outputSchema: StandardSchema<Output> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate(value) {
      const { output } = value as Partial<Output>;
      if (typeof output === "string") return { value: { output: output.trim() } };
      return { issues: [{ message: `not a string: ${output}`, path: ["output"] }, { message: "at all" }] };
    },
  },
};
/** The same, as a function with properties, and asynchronous. */
const asynchronous: StandardSchema<Output> = Object.assign(() => {}, {
  "~standard": {
    ...outputSchema["~standard"],
    validate: async (value: unknown) => outputSchema["~standard"].validate(value),
  },
});

const body = (output: unknown) => ({ type: "job.succeeded", data: { jobId: "job_1", output } });

test.each([outputSchema, asynchronous])(
  "a handler gets the data as its schema returns it",
  async (schema) => {
    const seen: unknown[] = [];
    const outcomes: unknown[] = [];
    const receiver = createReceiver({
      secrets: secret,
      events: { "job.succeeded": schema },
      handlers: {
        "job.succeeded"({ data, rawBody, jobId }) {
          const output: string = data.output;
          seen.push(output, jobId, JSON.parse(String(Buffer.from(rawBody))).data.output);
        },
      },
      onOutcome: ({ outcome }) => outcomes.push(outcome),
    });
    expect(await receiver.handle(delivered({ body: body(" done ") }))).toMatchObject({ status: 200 });
    expect(seen).toEqual(["done", "job_1", " done "]);
    expect(outcomes).toEqual(["handled"]);
  },
);

test.each([outputSchema, asynchronous])(
  "data that does not fit is answered 500 and validated again, and the message repeats no value",
  async (schema) => {
    const handler = jest.fn();
    const { receiver, outcomes } = receiverOf({
      events: { "job.succeeded": schema },
      handlers: { "job.succeeded": handler },
    });
    const request = delivered({ body: body(12345) });
    for (let times = 0; times < 2; times++)
      expect(await receiver.handle(request)).toMatchObject({ status: 500, body: "failed" });
    const error = { name: "InvalidDataError", code: "INVALID_DATA", issues: [{ path: ["output"] }, {}] };
    expect(outcomes).toMatchObject([{ outcome: "invalid-data", error }, { outcome: "invalid-data" }]);
    const message = String(outcomes[0]?.error);
    expect(message).toMatch(/"job\.succeeded" does not fit its schema, at output, its root/);
    // As a logger prints it.
    expect(message + inspect(outcomes[0]?.error, { depth: 9 })).not.toContain("12345");
    expect(handler).not.toHaveBeenCalled();
  },
);

test("a mended release handles the retry of a delivery that did not fit", async () => {
  const dedupe = memoryDedupe();
  const handlers = { "job.succeeded": jest.fn() };
  const request = delivered({ body: body(5) });
  expect(
    await receiverOf({ dedupe, handlers, events: { "job.succeeded": outputSchema } }).outcomeOf(request),
  ).toBe("invalid-data");
  expect(await receiverOf({ dedupe, handlers }).outcomeOf(request)).toBe("handled");
});

test("a schema that throws or hangs fails the delivery", async () => {
  const schemaOf = (validate: () => never | Promise<never>): StandardSchema => ({
    "~standard": { version: 1, vendor: "test", validate },
  });
  const throwing = schemaOf(() => {
    throw new Error("bug");
  });
  const handlers = { "job.succeeded": () => {} };
  expect(await receiverOf({ handlers, events: { "job.succeeded": throwing } }).outcomeOf()).toBe("failed");
  const hanging = schemaOf(() => deferred<never>().promise);
  const events = { "job.succeeded": hanging };
  expect(await receiverOf({ handlers, events, handlerTimeoutMs: 10 }).outcomeOf()).toBe("timed-out");
});

test("a handler is not started once its delivery has passed its deadline, however late the schema is", async () => {
  const gate = deferred<{ value: Output }>();
  const slow: StandardSchema<Output> = {
    "~standard": { version: 1, vendor: "test", validate: () => gate.promise },
  };
  const handler = jest.fn();
  const { outcomeOf } = receiverOf({
    handlers: { "job.succeeded": handler },
    events: { "job.succeeded": slow },
    handlerTimeoutMs: 10,
  });
  expect(await outcomeOf()).toBe("timed-out");
  gate.resolve({ value: { output: "late" } });
  await new Promise(setImmediate);
  expect(handler).not.toHaveBeenCalled();
});

test("the message about data that does not fit names five places at most", async () => {
  const issues = Array.from({ length: 1000 }, (_, index) => ({ message: "no", path: [index] }));
  const outcomeWith = async (found: typeof issues) => {
    const events: Record<string, StandardSchema> = {
      "job.succeeded": { "~standard": { version: 1, vendor: "test", validate: () => ({ issues: found }) } },
    };
    const { receiver, outcomes } = receiverOf({ handlers: { "job.succeeded": () => {} }, events });
    await receiver.handle(delivered({ body: body(1) }));
    return String(outcomes[0]?.error);
  };
  expect(await outcomeWith(issues)).toContain("at 0, 1, 2, 3, 4 and 995 more places. See");
  expect(await outcomeWith([])).toContain("does not fit its schema. See");
});

test("events that are a promise are refused, as nothing would be validated", () => {
  const events = Promise.resolve({ "job.succeeded": outputSchema });
  expect(() => receiverOf({ handlers: {}, events: events as never })).toThrow(
    /events is a promise; await it/,
  );
});

test("the event of validations cannot be declared, as no handler is called for it", () => {
  const handlers = { "webhook.validation": () => {} } as never;
  expect(() => receiverOf({ events: { "webhook.validation": true } as never, handlers })).toThrow(
    /createReceiver: "webhook\.validation" cannot be declared/,
  );
});

test("an event with the name of a method that each object has is handled by its own handler only", async () => {
  const events = { toString: true, constructor: true } as never;
  const own = jest.fn();
  for (const none of [{}, Object.create({}), new (class Handlers {})()]) {
    const { outcomeOf } = receiverOf({ events, handlers: none });
    for (const type of ["toString", "constructor"])
      expect(await outcomeOf(delivered({ body: { type, data: {} } }))).toBe("unhandled");
  }
  const { outcomeOf } = receiverOf({ events, handlers: { toString: own } as never });
  expect(await outcomeOf(delivered({ body: { type: "toString", data: {} } }))).toBe("handled");
  expect(own).toHaveBeenCalledTimes(1);
});

test("an event beyond the three has a handler once it is declared, with or without a schema", async () => {
  const paid = jest.fn();
  const receiver = createReceiver<{ "invoice.paid": { amount: number }; "invoice.sent": { to: string } }>({
    secrets: secret,
    events: { "invoice.paid": true, "invoice.sent": true },
    handlers: {
      "invoice.paid": ({ data, event }) => paid(event, data.amount),
      "job.failed": ({ data }) => paid(data),
    },
  });
  await receiver.handle(delivered({ body: { type: "invoice.paid", data: { amount: 5 } } }));
  expect(paid.mock.calls).toEqual([["invoice.paid", 5]]);
});

test("a schema of an event without a handler does not run", async () => {
  const { outcomeOf } = receiverOf({ events: { "job.succeeded": outputSchema } });
  expect(await outcomeOf(delivered({ body: body(5) }))).toBe("unhandled");
});

test("types: data is what was declared, undeclared handlers are refused, and undeclared data is unknown", () => {
  const start = (options: object) => () => createReceiver({ secrets: secret, handlers: {}, ...options });
  createReceiver<{ "job.succeeded": Output }>({
    secrets: secret,
    handlers: {
      "job.succeeded": ({ data }) => data.output.length,
      // @ts-expect-error The data of an event without a type is unknown.
      "job.failed": ({ data }) => data.output,
    },
  });
  expect(() =>
    createReceiver({
      secrets: secret,
      events: { "invoice.paid": outputSchema },
      // @ts-expect-error It is not declared.
      handlers: { "invoice.payed": () => {} },
    }),
  ).toThrow(/"invoice\.payed" is not an event of the service \(.*invoice\.paid\)\. Declare/);
  expect(start({ events: [] })).toThrow(/events must be an object/);
  expect(start({ events: { "invoice.paid": {} } })).toThrow(
    /the schema of "invoice\.paid" has no function validate/,
  );
  expect(start({ events: { "invoice.paid": false } })).toThrow(TypeError);
});

test("a worker validates data, too, and rejects what does not fit, so that the queue keeps it", async () => {
  const outcomes: unknown[] = [];
  const worker = queueWorker({
    events: { "job.succeeded": outputSchema },
    handlers: { "job.succeeded": ({ data }) => outcomes.push(data.output) },
    onOutcome: ({ outcome }) => outcomes.push(outcome),
  });
  const queued = (output: unknown) => ({
    version: 1,
    id: "msg_1",
    key: "msg_1",
    timestamp: 1,
    body: Buffer.from(JSON.stringify(body(output))).toString("base64"),
  });
  await expect(worker(queued(5))).rejects.toMatchObject({ code: "INVALID_DATA" });
  await worker(queued("x "));
  expect(outcomes).toEqual(["invalid-data", "x", "handled"]);
});
