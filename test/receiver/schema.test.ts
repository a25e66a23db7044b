import { createReceiver, type Delivery, type EventSchemas, type StandardSchema } from "../../src/receiver";
import { deferred, delivered, jobSucceeded, secret } from "./support";

interface Invoice {
  readonly total: number;
}
type Events = { "invoice.paid": Invoice; "job.succeeded": { jobId: string } };

/** As Zod, Valibot and ArkType implement it. */
function schemaOf<Data>(validate: StandardSchema<Data>["~standard"]["validate"]): StandardSchema<Data> {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

const invoice = schemaOf<Invoice>((value) => {
  const total = Number((value as { total?: unknown } | undefined)?.total);
  const path = ["total", { key: "cents" }];
  return Number.isNaN(total)
    ? { issues: [{ message: "not a number: secret value", path }] }
    : { value: { total } };
});
const paid = (total: unknown) => delivered({ body: { type: "invoice.paid", data: { total } } });

function receiverOf(
  events: EventSchemas<Events>,
  handler: (delivery: Delivery) => unknown = () => {},
  handlerTimeoutMs = 15_000,
) {
  const outcomes: { outcome: string; status: number; error?: unknown }[] = [];
  const receiver = createReceiver<Events>({
    secrets: secret,
    events,
    handlers: { "invoice.paid": handler },
    handlerTimeoutMs,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  return { ...receiver, outcomes };
}

test.each<[string, StandardSchema<Invoice>]>([
  ["a schema", invoice],
  ["a schema that resolves later", schemaOf(async (value) => invoice["~standard"].validate(value))],
  ["a schema that is a function", Object.assign(() => {}, invoice)],
])("the handler gets the data as %s returns it", async (_what, schema) => {
  const seen: unknown[] = [];
  const { handle, outcomes } = receiverOf({ "invoice.paid": schema }, ({ data }) => seen.push(data));
  expect(await handle(paid("12"))).toMatchObject({ status: 200 });
  expect(seen).toEqual([{ total: 12 }]);
  expect(outcomes).toMatchObject([{ outcome: "handled" }]);
});

test("data that does not fit gets 500 without a handler, and the message names the place, not the value", async () => {
  const handler = jest.fn();
  const { handle, outcomes } = receiverOf({ "invoice.paid": invoice }, handler);
  const request = paid("many");
  for (let copy = 0; copy < 2; copy++) expect(await handle(request)).toMatchObject({ status: 500 });
  expect(handler).not.toHaveBeenCalled();
  const error = {
    code: "INVALID_DATA",
    message: expect.stringMatching(/The data of "invoice\.paid" does not fit its schema, at total\.cents\./),
    issues: [{ message: "not a number: secret value" }],
  };
  expect(outcomes).toMatchObject([
    { outcome: "failed", error },
    { outcome: "failed", error },
  ]);
  expect(JSON.stringify(outcomes[0]?.error)).not.toContain("secret value");
});

test("a schema that throws is a failure of the handler", async () => {
  const { handle, outcomes } = receiverOf({ "invoice.paid": schemaOf(() => JSON.parse("")) });
  expect(await handle(paid(1))).toMatchObject({ status: 500 });
  expect(outcomes).toMatchObject([{ outcome: "failed" }]);
});

test("a schema that takes until after the deadline has no handler called: somebody else may have the delivery", async () => {
  const validated = deferred<{ value: Invoice }>();
  const handler = jest.fn();
  const { handle } = receiverOf({ "invoice.paid": schemaOf(() => validated.promise) }, handler, 5);
  expect(await handle(paid(1))).toMatchObject({ status: 503 });
  validated.resolve({ value: { total: 1 } });
  await new Promise(setImmediate);
  expect(handler).not.toHaveBeenCalled();
});

test("true declares an event without a schema, and types its data", async () => {
  const receiver = createReceiver<Events>({
    secrets: secret,
    events: { "invoice.paid": true },
    handlers: {
      "invoice.paid": ({ data }) => data.total satisfies number,
      "job.succeeded": ({ data }) => data.jobId satisfies string,
    },
  });
  expect(await receiver.handle(paid(1))).toMatchObject({ status: 200 });
  expect(await receiver.handle(delivered({ body: jobSucceeded("job_1") }))).toMatchObject({ status: 200 });
});

test("an event that is not declared, and what is no schema, throw at the start", () => {
  const start = (events: object, name: string) => () =>
    createReceiver({ secrets: secret, events, handlers: { [name]: () => {} } });
  expect(start({}, "invoice.paid")).toThrow(/"invoice\.paid" is not an event of the service/);
  for (const schema of [undefined, {}, { "~standard": {} }, false])
    expect(start({ "invoice.paid": schema }, "invoice.paid")).toThrow(
      /The schema of "invoice\.paid" does not implement Standard Schema.*Zod/,
    );
});
