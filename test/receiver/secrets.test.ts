import { output } from "@pulumi/pulumi";
import type { ReceiverOptions, Secrets } from "../../src/receiver";
import { startedReceiver } from "../../src/receiver/receiver";
import { thrownBy } from "../signature/support";
import { configText } from "../stack/support";
import { clock, deferred, delivered, otherSecret, receiverOf, secret } from "./support";

/** Makes a receiver whose secrets come from a function, and whose clock stands still until it is moved. */
function receiverWith(read: () => Secrets | Promise<Secrets>, options: Partial<ReceiverOptions> = {}) {
  const { now, pass } = clock();
  const secrets = jest.fn(read);
  const errors: unknown[] = [];
  const made = receiverOf({ secrets, now, onSecretsError: (error) => errors.push(error), ...options });
  const statusOf = async (key = secret) =>
    (await made.receiver.handle(delivered({ secret: key, at: now() }))).status;
  return { ...made, now, pass, secrets, errors, statusOf };
}

test("a function is called at the first delivery, and again when its result is a minute old", async () => {
  const { secrets, statusOf, pass } = receiverWith(() => secret);
  expect(secrets).not.toHaveBeenCalled();
  for (const [milliseconds, calls] of [
    [0, 1],
    [59_999, 1],
    [1, 2],
  ] as const) {
    pass(milliseconds);
    expect(await statusOf()).toBe(200);
    expect(secrets).toHaveBeenCalledTimes(calls);
  }
});

test("a new secret is accepted at once after a rotation, and the old one no longer", async () => {
  let current = secret;
  const { statusOf, pass } = receiverWith(async () => current);
  expect(await statusOf()).toBe(200);
  current = otherSecret;
  pass(5_000);
  expect(await statusOf(otherSecret)).toBe(200);
  expect(await statusOf()).toBe(401);
});

test("a flood of forgeries calls the function once in five seconds", async () => {
  const { secrets, statusOf, pass } = receiverWith(() => secret);
  for (let second = 0; second < 10; second++) {
    const statuses = await Promise.all([statusOf(otherSecret), statusOf(otherSecret), statusOf(otherSecret)]);
    expect(statuses).toEqual([401, 401, 401]);
    pass(1_000);
  }
  expect(secrets).toHaveBeenCalledTimes(2);
});

test("deliveries that wait share one call", async () => {
  const result = deferred<Secrets>();
  const { secrets, statusOf } = receiverWith(() => result.promise);
  const waiting = [statusOf(), statusOf(), statusOf()];
  result.resolve(secret);
  expect(await Promise.all(waiting)).toEqual([200, 200, 200]);
  expect(secrets).toHaveBeenCalledTimes(1);
});

test.each<[string, () => Secrets | Promise<Secrets>]>([
  ["rejects", () => Promise.reject(new Error("vault away"))],
  ["throws", () => JSON.parse("")],
  ["returns a malformed secret", () => "whsec_?"],
  ["returns none", () => []],
])(
  "when the function %s, the last good result stays in use and onSecretsError is called",
  async (_how, fail) => {
    let read: () => Secrets | Promise<Secrets> = () => secret;
    const { statusOf, pass, errors, secrets } = receiverWith(() => read());
    expect(await statusOf()).toBe(200);
    read = fail;
    pass(60_000);
    expect(await statusOf()).toBe(200);
    expect(await statusOf()).toBe(200);
    expect(errors).toEqual([expect.any(Error)]);
    expect(String(errors[0])).not.toContain(secret.slice(6));
    pass(5_000);
    read = () => otherSecret;
    expect(await statusOf(otherSecret)).toBe(200);
    expect(secrets).toHaveBeenCalledTimes(3);
  },
);

test("until the function has returned secrets, deliveries get 503", async () => {
  const { receiver, rejections, statusOf, pass, now } = receiverWith(
    jest.fn().mockRejectedValueOnce(new Error("vault away")).mockResolvedValue(secret),
  );
  const response = await receiver.handle(delivered({ at: now() }));
  expect(response).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
  expect(rejections).toMatchObject([{ reason: "no-secrets", status: 503 }]);
  pass(5_000);
  expect(await statusOf()).toBe(200);
});

test("a function that hangs is given up after five seconds, and asked again", async () => {
  jest.useFakeTimers();
  const read = jest
    .fn()
    .mockReturnValueOnce(new Promise(() => {}))
    .mockResolvedValue(secret);
  const { statusOf, errors, pass } = receiverWith(read);
  const first = statusOf();
  await jest.advanceTimersByTimeAsync(5_000);
  expect(await first).toBe(503);
  expect(errors).toEqual([
    expect.objectContaining({ message: expect.stringContaining("longer than 5000 ms") }),
  ]);
  pass(5_000);
  expect(await statusOf()).toBe(200);
  jest.useRealTimers();
});

test("without onSecretsError, a failure is logged", async () => {
  const log = jest.spyOn(console, "error").mockImplementation();
  const { statusOf } = receiverWith(() => Promise.reject(new Error("vault away")), {
    onSecretsError: undefined,
  });
  await statusOf();
  expect(log).toHaveBeenCalledWith(
    expect.stringMatching(/^The webhook secrets could not be read/),
    expect.any(Error),
  );
  log.mockRestore();
});

test("the secrets at the start are in use while the function fails", async () => {
  const handlers = { "job.succeeded": () => {} };
  const fails = () => Promise.reject(new Error("file away"));
  const receiver = startedReceiver({ secrets: fails, handlers, onSecretsError: () => {} }, secret);
  expect(await receiver.handle(delivered())).toMatchObject({ status: 200 });
  expect(() => startedReceiver({ secrets: fails, handlers }, "whsec_?")).toThrow(/WEBHOOK|secret/);
});

test.each<[string, (secret: string, other: string) => unknown, RegExp]>([
  ["two with a comma", (a, b) => `${a},${b}`, /has several secrets: pass a list/],
  ["two with a comma and a space", (a, b) => `${a}, ${b}`, /has several secrets/],
  ["two with a space", (a, b) => `${a} ${b}`, /has several secrets/],
  ["two lines", (a, b) => `${a}\n${b}\n`, /has several secrets/],
  ["two as Supabase writes them", (a, b) => `v1,${a}|v1,${b}`, /has several secrets/],
  ["three with semicolons", (a, b) => [a, b, a].join(";"), /has several secrets/],
  ["a list as JSON", (a, b) => JSON.stringify([a, b]), /has several secrets/],
  ["a list of one as JSON", (a) => JSON.stringify([a]), /is JSON: pass the strings in it/],
  [
    "a pair of a secret manager",
    (a) => JSON.stringify({ WEBHOOK_SECRET: a }),
    /is JSON: pass the strings in it/,
  ],
  ["a configuration", (a) => configText(a), /is a receiver's configuration: pass it to receiverFromEnv/],
  [
    "such a configuration over several lines",
    (a) => `{\n  "version": 1,\n  "secrets": ["${a}"]\n}`,
    /configuration/,
  ],
  ["an Output as a string", () => String(output("a")), /is the text of a Pulumi Output/],
  ["an object as a string", () => `${{}}`, /is the text of a missing value or an object/],
  ["a promise as a string", () => `${Promise.resolve()}`, /is the text of a missing value or an object/],
  ["a missing variable as a string", () => `${undefined}`, /is the text of a missing value/],
  [
    "a variable that was not replaced",
    () => `\${WEBHOOK_SECRET}`,
    /is a reference that nothing has replaced/,
  ],
  ["one prefix too many", (a) => `whsec_${a}`, /is cut off or altered/],
])(
  "%s in place of a secret is refused, with what the mistake is, and without the secret",
  (_what, give, says) => {
    const given = give(secret, otherSecret);
    const error = thrownBy(() => receiverOf({ secrets: given as string }));
    expect(error).toMatchObject({ name: "WebhookSecretError", message: expect.stringMatching(says) });
    for (const each of [secret, otherSecret]) expect(String(error)).not.toContain(each.slice(6, 20));
  },
);
