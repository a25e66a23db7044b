import fc from "fast-check";
import { createReceiver, type Delivery } from "../../src/receiver";
import { sign, unwrap, verifyDetailed, WebhookVerificationError } from "../../src/signature";
import { knownAnswer, knownHeaders, newSecret, thrownBy } from "./support";

const { secret, id, timestamp } = knownAnswer;

test("unwrap verifies a delivery, and returns its event", () => {
  const body = JSON.stringify({ type: "job.succeeded", data: { jobId: "job_1", output: "x" } });
  const headers = sign({ id, timestamp, body, secret });
  const data = { jobId: "job_1", output: "x" };
  const event = { id, timestamp, event: "job.succeeded", jobId: "job_1", data };
  expect(unwrap(body, headers, secret, 0)).toEqual(event);
  const marked = `\uFEFF${body}`;
  expect(unwrap(marked, sign({ id, timestamp, body: marked, secret }), secret, 0)).toEqual(event);
  expect(unwrap(Buffer.from(body), headers, [newSecret(), secret], 0)).toEqual(event);
  expect(unwrap(new TextEncoder().encode(body).buffer, headers, secret, 0)).toEqual(event);
});

test("unwrap reads every body as a receiver does", async () => {
  const deliveries: Delivery[] = [];
  const receiver = createReceiver({
    secrets: secret,
    handlers: {},
    onUnhandled: (delivery) => deliveries.push(delivery),
  });
  const job = fc.record(
    {
      type: fc.oneof(fc.constantFrom("job.failed", "invoice.paid"), fc.anything()),
      status: fc.constantFrom("running", "succeeded", "lost", 7),
      data: fc.oneof(
        fc.record({ jobId: fc.oneof(fc.string(), fc.integer(), fc.constant(2 ** 53)) }),
        fc.json(),
      ),
      job_id: fc.oneof(fc.string(), fc.integer()),
    },
    { requiredKeys: [] },
  );
  const text = fc.oneof(
    job.map((value) => JSON.stringify(value) ?? ""),
    fc.json(),
    fc.string(),
  );
  const body = fc.oneof(
    text,
    fc.uint8Array(),
    text.map((json) => `\uFEFF${json}`),
  );
  await fc.assert(
    fc.asyncProperty(body, async (body) => {
      const headers = sign({ body, secret });
      await receiver.handle({ method: "POST", headers, body: Buffer.from(body) });
      const { id, timestamp, event, jobId, data } = deliveries.pop() ?? {};
      expect(unwrap(body, headers, secret)).toEqual({ id, timestamp, event, jobId, data });
    }),
  );
});

test.each<[string, unknown, object, string]>([
  ["a tampered body", "{}", knownHeaders, secret],
  ["another secret", knownAnswer.body, knownHeaders, newSecret()],
  ["no secret", knownAnswer.body, knownHeaders, ""],
  ["a missing header", knownAnswer.body, { ...knownHeaders, "webhook-id": undefined }, secret],
  ["a parsed body", JSON.parse(knownAnswer.body), knownHeaders, secret],
])("unwrap throws for %s, with the reason of verifyDetailed and nothing of the message", (...given) => {
  const [, body, headers, secret] = given;
  const message = [body as string, headers as typeof knownHeaders, secret, 0] as const;
  const result = verifyDetailed(...message);
  const error = thrownBy(() => unwrap(...message));
  expect(error).toBeInstanceOf(WebhookVerificationError);
  expect(error).toMatchObject({
    name: "WebhookVerificationError",
    code: "NOT_VERIFIED",
    reason: expect.any(String),
  });
  expect(result).toEqual({ ok: false, reason: (error as WebhookVerificationError).reason });
  expect(`${error} ${JSON.stringify(error)}`).not.toMatch(/MfKQ|2432232314|p5jXN8/);
});

test("unwrap refuses a delivery that is older than the default tolerance", () => {
  expect(thrownBy(() => unwrap(knownAnswer.body, knownHeaders, secret))).toMatchObject({
    reason: "timestamp-too-old",
  });
  expect(() => unwrap(knownAnswer.body, knownHeaders, secret, -1)).toThrow(RangeError);
});
