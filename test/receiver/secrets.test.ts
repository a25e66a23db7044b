import type { ReceiverOptions, Secrets } from "../../src/receiver";
import { startedReceiver } from "../../src/receiver/receiver";
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
