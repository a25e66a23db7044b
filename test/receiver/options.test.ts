import { createReceiver, WebhookSecretError } from "../../src/receiver";
import { otherSecret, receiverOf, secret } from "./support";

test.each(["whsec_", "nothing", [], [secret, `${otherSecret}\n`]])(
  "createReceiver throws WebhookSecretError on the malformed secret %j",
  (secrets) => {
    expect(() => createReceiver({ secrets, handlers: {} })).toThrow(WebhookSecretError);
  },
);

test.each([
  { toleranceSeconds: -1 },
  { toleranceSeconds: 86_401 },
  { toleranceSeconds: 300_000 },
  { maxBodyBytes: -1 },
  { maxBodyBytes: "1mb" as unknown as number },
  { handlerTimeoutMs: 0 },
  { handlerTimeoutMs: 2 ** 31 },
  { handlerTimeoutMs: 100, leaseMs: 100 },
])("createReceiver throws RangeError on %j", (options) => {
  expect(() => receiverOf(options)).toThrow(RangeError);
});

test("the longest tolerance of a receiver is a day, and the error for milliseconds says so", () => {
  expect(() => receiverOf({ toleranceSeconds: 86_400 })).not.toThrow();
  expect(() => receiverOf({ toleranceSeconds: 300_000 })).toThrow(/not milliseconds, from 0 to 86400/);
});

test("no error repeats a string, which could be a secret, in the place of a number", () => {
  const wrong = secret as unknown as number;
  for (const name of ["toleranceSeconds", "maxBodyBytes", "handlerTimeoutMs", "leaseMs"]) {
    const start = () => receiverOf({ [name]: wrong });
    expect(start).toThrow(RangeError);
    expect(start).not.toThrow(secret.slice(6));
  }
});
