import type { Secrets } from "../../src/receiver";
import { clock, deferred, delivered, otherSecret, receiverOf, secret } from "./support";

function receiverAsking(secrets: () => Secrets | Promise<Secrets>) {
  const time = clock();
  const errors: unknown[] = [];
  const asked = jest.fn(secrets);
  const made = receiverOf({ secrets: asked, now: time.now, onSecretsError: (error) => errors.push(error) });
  const status = async (key: string) =>
    (await made.receiver.handle(delivered({ secret: key, at: time.now() }))).status;
  return { ...made, asked, errors, status, pass: time.pass };
}

test("a rotated secret is accepted without a restart within five seconds, and the old one for a minute at most", async () => {
  let current: string = secret;
  const { status, pass, asked } = receiverAsking(() => current);
  expect(await status(secret)).toBe(200);
  current = otherSecret;
  pass(5_000);
  expect(await status(secret)).toBe(200);
  expect(await status(otherSecret)).toBe(200);
  expect(await status(secret)).toBe(401);
  expect(asked).toHaveBeenCalledTimes(2);
  current = secret;
  pass(59_999);
  expect(await status(otherSecret)).toBe(200);
  pass(1);
  expect(await status(otherSecret)).toBe(401);
});

test("the secrets are read again when the clock was set back", async () => {
  let current: string = secret;
  const { status, pass } = receiverAsking(() => current);
  expect(await status(secret)).toBe(200);
  current = otherSecret;
  pass(-3_600_000);
  expect([await status(secret), await status(otherSecret)]).toEqual([401, 200]);
});

test("a source slower than the pauses between calls gets one call at a time", async () => {
  const answer = deferred<Secrets>();
  const { status, pass, asked } = receiverAsking(() => answer.promise);
  const at = status(secret);
  pass(5_000);
  const later = status(secret);
  answer.resolve(secret);
  expect([await at, await later]).toEqual([200, 200]);
  expect(asked).toHaveBeenCalledTimes(1);
});

test("a call that never ends, as in a worker whose request has ended, counts as lost after ten seconds", async () => {
  const setTimeoutBefore = globalThis.setTimeout;
  const answers = [
    async () => secret,
    () => Promise.reject(new Error("down")),
    () => new Promise<Secrets>(() => {}),
    async () => secret,
  ];
  const { status, pass, asked } = receiverAsking(() => (answers.shift() ?? (async () => secret))());
  expect(await status(secret)).toBe(200);
  pass(60_000);
  expect(await status(secret)).toBe(200);
  // Its timers end with the request, too.
  globalThis.setTimeout = (() => undefined) as never;
  pass(2_000);
  expect(await status(secret)).toBe(200);
  await new Promise(setImmediate);
  globalThis.setTimeout = setTimeoutBefore;
  pass(120_000);
  expect(await status(secret)).toBe(200);
  expect(asked).toHaveBeenCalledTimes(4);
});

test("a source may return several secrets, any of which may have signed", async () => {
  const { status } = receiverAsking(async () => [otherSecret, secret]);
  expect([await status(secret), await status(otherSecret)]).toEqual([200, 200]);
});

test("a flood of forgeries causes one call in five seconds, and simultaneous deliveries share one call", async () => {
  const answer = deferred<Secrets>();
  const { status, asked, pass } = receiverAsking(() => answer.promise);
  const waiting = Array.from({ length: 20 }, () => status(secret));
  answer.resolve(secret);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([200]));
  for (let i = 0; i < 20; i++) expect(await status(otherSecret)).toBe(401);
  pass(4_999);
  expect(await status(otherSecret)).toBe(401);
  expect(asked).toHaveBeenCalledTimes(1);
  pass(1);
  for (let i = 0; i < 20; i++) expect(await status(otherSecret)).toBe(401);
  expect(asked).toHaveBeenCalledTimes(2);
});

test("while the source fails, the last good secrets stay in use, and onSecretsError gets each failure", async () => {
  let read = (): Secrets => secret;
  const { status, pass, errors } = receiverAsking(() => read());
  expect(await status(secret)).toBe(200);
  for (const failure of [
    () => {
      throw new Error("unreachable");
    },
    () => "garbage",
    () => [],
  ]) {
    read = failure;
    pass(60_000);
    expect(await status(secret)).toBe(200);
  }
  expect(errors).toMatchObject([
    { message: "unreachable" },
    { code: "SECRET_INVALID" },
    { code: "SECRET_INVALID" },
  ]);
  expect(String(errors[1])).not.toContain("garbage");
});

test("a forgery that causes a call of a slow source delays no genuine delivery", async () => {
  let answer: Secrets | Promise<Secrets> = secret;
  const { status, pass } = receiverAsking(() => answer);
  expect(await status(secret)).toBe(200);
  const slow = deferred<Secrets>();
  answer = slow.promise;
  pass(5_000);
  const forged = status(otherSecret);
  expect(await status(secret)).toBe(200);
  slow.resolve(secret);
  expect(await forged).toBe(401);
});

test("after a failure long ago, a withdrawn secret is not accepted: the delivery waits for the source", async () => {
  let read = (): Secrets => secret;
  const { status, pass } = receiverAsking(() => read());
  expect(await status(secret)).toBe(200);
  read = () => {
    throw new Error("unreachable");
  };
  pass(10_000);
  expect(await status(otherSecret)).toBe(401);
  read = () => otherSecret;
  pass(120_000);
  expect([await status(secret), await status(otherSecret)]).toEqual([401, 200]);
});

test("while a source hangs, deliveries wait for up to five seconds, and later ones use the last good secrets", async () => {
  jest.useFakeTimers();
  try {
    let answer: Secrets | Promise<Secrets> = secret;
    const { status, pass } = receiverAsking(() => answer);
    expect(await status(secret)).toBe(200);
    answer = new Promise(() => {});
    pass(60_000);
    const waiting = [status(secret), status(secret)];
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await Promise.all(waiting)).toEqual([200, 200]);
    pass(60_000);
    expect(await status(secret)).toBe(200);
  } finally {
    jest.useRealTimers();
  }
});

test("until the source has given secrets, the answer is 503, and the source is called again a second later", async () => {
  let read = (): Secrets => {
    throw new Error("not yet");
  };
  const { receiver, status, pass, asked, rejections } = receiverAsking(() => read());
  expect(await status(secret)).toBe(503);
  expect((await receiver.handle(delivered())).headers).toMatchObject({ "retry-after": "5" });
  expect(asked).toHaveBeenCalledTimes(1);
  expect(rejections.splice(0)).toMatchObject([
    { reason: "no-secrets", status: 503 },
    { reason: "no-secrets" },
  ]);
  read = () => secret;
  pass(999);
  expect(await status(secret)).toBe(503);
  pass(1);
  expect(await status(secret)).toBe(200);
});

test("a call that hangs is given up after five seconds, and the answer is 503", async () => {
  jest.useFakeTimers();
  try {
    const { status } = receiverAsking(() => new Promise(() => {}));
    const waiting = status(secret);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await waiting).toBe(503);
  } finally {
    jest.useRealTimers();
  }
});
