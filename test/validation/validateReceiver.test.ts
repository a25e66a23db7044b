import type { RequestListener } from "node:http";
import timers from "node:timers/promises";
import { fingerprintOf } from "../../src/signature/secret";
import { validateReceiver } from "../../src/validation";
import { probeReceiver } from "../../src/validation/validateReceiver";
import { otherSecret, secret } from "../receiver/support";
import {
  always,
  closeServers,
  dedupingFirst,
  ours,
  parsing,
  respondsWith,
  serve,
  standard,
} from "./receivers";

afterEach(closeServers);
afterEach(() => void jest.restoreAllMocks());

/**
 * Lets the waits between attempts take time on a clock of their own only. Returns what that says.
 * @param during is called in each wait, and returns how long it takes, in milliseconds
 */
function ownClock(during: (waitMs: number) => number): () => number {
  let passedMs = 0;
  jest.spyOn(performance, "now").mockImplementation(() => passedMs);
  jest.spyOn(timers, "setTimeout").mockImplementation(async (waitMs = 0) => {
    passedMs += during(waitMs);
  });
  return () => passedMs;
}

/**
 * The same, where each attempt takes as long as it needs.
 * @param during is called in each wait
 */
function withoutWaits(during: () => void = () => {}): () => number {
  jest.spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal);
  return ownClock((waitMs) => {
    during();
    return waitMs;
  });
}

/** Counts the requests that a listener gets. */
function counting(listener: RequestListener) {
  const counted = {
    requests: 0,
    listener: ((request, response) => {
      counted.requests += 1;
      listener(request, response);
    }) as RequestListener,
  };
  return counted;
}

describe("validated receivers", () => {
  test.each<[what: string, listener: () => RequestListener, genuine: number, broken: number]>([
    ["it is one of this package", () => ours(secret), 200, 401],
    ["it is one of this package with several secrets", () => ours([otherSecret, secret]), 200, 401],
    ["it is built on standardwebhooks", () => standard(secret), 204, 400],
    ["it verifies, but accepts an id that it has seen before", () => dedupingFirst(secret), 204, 400],
    [
      "it hides behind 404 from what is not verified",
      () => respondsWith(secret, { genuine: 204, broken: 404 }),
      204,
      404,
    ],
  ])("validateReceiver accepts a receiver if %s", async (_what, listener, genuine, broken) => {
    expect(await validateReceiver({ url: await serve(listener()), secrets: secret })).toMatchObject({
      validated: true,
      code: null,
      reason: null,
      genuine: { status: genuine },
      broken: { status: broken },
    });
  });

  test("validateReceiver calls no handler of the receiver, with any of several secrets", async () => {
    const handled = jest.fn();
    const url = await serve(ours([secret, otherSecret], handled));
    expect(await validateReceiver({ url, secrets: [otherSecret, secret] })).toMatchObject({
      validated: true,
    });
    expect(handled).not.toHaveBeenCalled();
  });

  test.each<[what: string, before: RequestListener]>([
    ["it starts late", respondsWith(secret, { genuine: null, broken: null })],
    ["a new release replaces one with another secret", ours(otherSecret)],
  ])("validateReceiver waits for a receiver if %s", async (_what, before) => {
    const listeners = [before];
    withoutWaits(() => listeners.unshift(ours(secret)));
    const url = await serve((request, response) => listeners[0]?.(request, response));
    expect(await validateReceiver({ url, secrets: secret })).toMatchObject({ validated: true });
  });
});

/** Asks once, and holds that no result ever shows a secret or a path. */
async function probe(url: string, options: Partial<Parameters<typeof probeReceiver>[0]> = {}) {
  const result = await probeReceiver({ url, secrets: [secret], ...options });
  expect(JSON.stringify(result)).not.toMatch(/whsec_|t0ken|hooks\?/);
  return result;
}

describe("probeReceiver names the cause", () => {
  const only = (genuine: number | null, broken: number | null) => respondsWith(secret, { genuine, broken });
  const login = { "www-authenticate": "Basic" };

  test.each<[string, RequestListener, string, RegExp, number | null, number | null]>([
    ["has another secret", ours(otherSecret), "GENUINE_REFUSED", /another secret/, 401, 401],
    ["parses the body first", parsing(secret), "GENUINE_REFUSED", /body parser/, 400, 400],
    ["is behind a proxy that forbids", always(403), "GENUINE_REFUSED", /firewall/, 403, 403],
    ["is behind a login", always(401, login), "GENUINE_REFUSED", /such as a login/, 401, 401],
    [
      "refuses genuine ones, and drops others",
      only(401, null),
      "GENUINE_REFUSED",
      /signed with the secret [0-9a-f]{12}/,
      401,
      null,
    ],
    ["is not deployed yet", always(404), "RECEIVER_NOT_READY", /url's path/, 404, 404],
    ["has a page at this path", always(405), "RECEIVER_NOT_READY", /POST at this path/, 405, 405],
    ["fails", always(500), "RECEIVER_NOT_READY", /check its log/, 500, 500],
    ["limits requests", always(429), "RECEIVER_NOT_READY", /limits requests/, 429, 429],
    ["drops broken deliveries", only(200, null), "RECEIVER_NOT_READY", /firewall drops/, 200, null],
    ["throws at broken deliveries", only(204, 500), "RECEIVER_NOT_READY", /throws where/, 204, 500],
    ["fails, and drops others", only(503, null), "RECEIVER_NOT_READY", /status 503.*no response/, 503, null],
    ["drops genuine deliveries", only(null, 401), "RECEIVER_UNREACHABLE", /got status 401.*log/, null, 401],
    ["verifies nothing", always(200), "BROKEN_ACCEPTED", /does not verify/, 200, 200],
    ["is redirected", always(308, { location: "/" }), "RECEIVER_REDIRECTED", /to http:\/\/127/, 308, 308],
    [
      "moved",
      always(301, { location: "https://new.example.com/t0ken" }),
      "RECEIVER_REDIRECTED",
      /to https:\/\/new\.example\.com\/…/,
      301,
      301,
    ],
  ])("when the receiver %s", async (_what, listener, code, cause, genuine, broken) => {
    expect(await probe(await serve(listener))).toMatchObject({
      validated: false,
      code,
      reason: expect.stringMatching(cause),
      genuine: { status: genuine },
      broken: { status: broken },
    });
  });

  test("when the receiver cannot be reached", async () => {
    const silent = await serve(() => {});
    expect(await probe(silent, { timeoutMs: 50 })).toMatchObject({
      reason: expect.stringContaining("(timed out)"),
    });
    const gone = "http://127.0.0.1:1/hooks?token=t0ken";
    expect(await probe(gone)).toMatchObject({ reason: expect.stringContaining("(ECONNREFUSED)") });
    expect(await probe("https://receiver.invalid/hooks?token=t0ken")).toMatchObject({
      code: "RECEIVER_UNREACHABLE",
      reason: expect.stringMatching(
        /^the receiver at https:\/\/receiver\.invalid\/… did not respond .*\(E\w+\)/,
      ),
    });
    const plain = await serve(always(200));
    expect(await probe(plain.replace("http:", "https:"))).toMatchObject({ code: "RECEIVER_UNREACHABLE" });
  });

  test("when the receiver lacks one of several secrets, and says which", async () => {
    const result = await probe(await serve(ours(secret)), { secrets: [secret, otherSecret] });
    expect(result).toMatchObject({
      code: "GENUINE_REFUSED",
      reason: expect.stringContaining(`the secret ${fingerprintOf([otherSecret])}`),
    });
  });
});

test("validateReceiver retries temporary failures until its deadline", async () => {
  const passedMs = withoutWaits();
  const counted = counting(always(503));
  const url = await serve(counted.listener);
  expect(await validateReceiver({ url, secrets: secret, timeoutMs: 12_000 })).toMatchObject({
    code: "RECEIVER_NOT_READY",
  });
  expect(passedMs()).toBeGreaterThan(9_000);
  expect(passedMs()).toBeLessThan(12_000);
  expect(counted.requests).toBeGreaterThan(8);
});

test("validateReceiver gives its last attempt as long as any other, even when a wait lasts beyond the deadline", async () => {
  ownClock(() => 70_000);
  const timeout = jest.spyOn(AbortSignal, "timeout");
  await validateReceiver({ url: await serve(ours(otherSecret)), secrets: secret });
  expect(timeout.mock.calls).toEqual([[10_000], [10_000], [10_000], [10_000]]);
});

test.each([
  ["accepts a broken delivery", always(200), "BROKEN_ACCEPTED"],
  ["redirects", always(308, { location: "/" }), "RECEIVER_REDIRECTED"],
])("validateReceiver ends at once when the receiver %s", async (_what, listener, code) => {
  const counted = counting(listener);
  expect(await validateReceiver({ url: await serve(counted.listener), secrets: secret })).toMatchObject({
    code,
  });
  expect(counted.requests).toBe(2);
});

test.each<[when: string, listener: RequestListener, sent: number]>([
  ["it waits", always(503), 2],
  ["a delivery is under way", () => {}, 2],
])("validateReceiver ends at once with the reason of its signal while %s", async (_when, listener, sent) => {
  const counted = counting(listener);
  const controller = new AbortController();
  const url = await serve(counted.listener);
  const validating = validateReceiver({ url, secrets: secret, signal: controller.signal });
  const ended = expect(validating).rejects.toThrow("enough");
  while (counted.requests < sent) await new Promise((resolve) => setImmediate(resolve));
  controller.abort(new Error("enough"));
  await ended;
  expect(counted.requests).toBe(sent);
});

test.each<[what: string, options: object, error: RegExp | typeof TypeError | typeof RangeError]>([
  ["url", { url: "hooks.example.com" }, TypeError],
  ["url with a password", { url: "https://a:t0ken@hooks.example.com" }, TypeError],
  ["secret", { secrets: "t0ken" }, /SECRET_INVALID/],
  ["empty list of secrets", { secrets: [] }, TypeError],
  ["secret that is not set", { secrets: [undefined] }, /SECRET_INVALID/],
  ["timeout", { timeoutMs: Number.NaN }, RangeError],
  ["timeout as a string", { timeoutMs: "60000" }, RangeError],
  ["secret in place of the timeout", { timeoutMs: "whsec_t0ken" }, RangeError],
])("validateReceiver rejects a malformed %s and repeats no part of it", async (_what, options, error) => {
  const validating = validateReceiver({ url: "http://127.0.0.1:9/", secrets: secret, ...options });
  await expect(validating).rejects.toThrow(error);
  await expect(validating).rejects.not.toThrow(/t0ken/);
});
