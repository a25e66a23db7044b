import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { validateReceiver } from "../../src/validation";
import { otherSecret, secret } from "../receiver/support";
import { always, answering, closeServers, dedupingFirst, ours, parsing, serve, standard } from "./receivers";

afterEach(closeServers);

/** Long enough for a few attempts, in milliseconds. */
const SOON = 900;
/** For what succeeds, however busy the machine is. */
const PATIENT = 60_000;

/** Validates, and holds that no result ever shows a secret or a path. */
async function validate(url: string, secrets: string | string[] = secret, timeoutMs = SOON) {
  const result = await validateReceiver({ url, secrets, timeoutMs });
  expect(JSON.stringify(result)).not.toMatch(/whsec_|t0ken|hooks\?/);
  return result;
}

describe("validateReceiver says that a receiver is validated", () => {
  test("when it is one of this package, whose handlers are not called", async () => {
    const handled = jest.fn();
    const url = await serve(ours(secret, handled));
    expect(await validate(url, secret, PATIENT)).toEqual({
      validated: true,
      code: null,
      reason: null,
      genuine: { status: 200 },
      broken: { status: 401 },
    });
    expect(handled).not.toHaveBeenCalled();
  });

  test("when it is built on standardwebhooks", async () => {
    const url = await serve(standard(secret));
    expect(await validate(url, secret, PATIENT)).toMatchObject({
      validated: true,
      genuine: { status: 204 },
      broken: { status: 400 },
    });
  });

  test("when it verifies, but accepts an id that it has seen before", async () => {
    const url = await serve(dedupingFirst(secret));
    expect(await validate(url, secret, PATIENT)).toMatchObject({ validated: true, broken: { status: 400 } });
  });

  test("when a few seconds are left, which is a fraction of milliseconds", async () => {
    expect(await validate(await serve(ours(secret)), secret, 5_000)).toMatchObject({ validated: true });
  });

  test("when it accepts each of several secrets", async () => {
    const url = await serve(ours([secret, otherSecret]));
    expect(await validate(url, [otherSecret, secret])).toMatchObject({ validated: true });
  });

  test("when it starts three seconds late", async () => {
    const url = await serve(always(503));
    const port = Number(new URL(url).port);
    await closeServers();
    const starting = new Promise((resolve) => setTimeout(resolve, 3_000)).then(() =>
      serve(ours(secret), port),
    );
    expect(await validate(url, secret, 20_000)).toMatchObject({ validated: true });
    await starting;
  });

  test("when a new release replaces one with another secret", async () => {
    const listeners = [ours(otherSecret), ours(secret)];
    let requests = 0;
    const url = await serve((request, response) => listeners[requests++ < 2 ? 0 : 1]?.(request, response));
    expect(await validate(url, secret, 20_000)).toMatchObject({ validated: true });
  });

  test("when it hides behind 404 from what is not verified", async () => {
    const verify = standard(secret);
    const url = await serve((request, response) => {
      const writeHead = response.writeHead.bind(response);
      response.writeHead = ((status: number) => writeHead(status === 400 ? 404 : status)) as never;
      verify(request, response);
    });
    expect(await validate(url, secret, PATIENT)).toMatchObject({ validated: true, broken: { status: 404 } });
  });
});

describe("validateReceiver names the cause", () => {
  test.each([
    ["has another secret", () => ours(otherSecret), "GENUINE_REFUSED", /another secret/, 401, 401],
    ["parses the body first", () => parsing(secret), "GENUINE_REFUSED", /body parser/, 400, 400],
    ["is behind a proxy that forbids", () => always(403), "RECEIVER_BLOCKED", /proxy/, 403, 403],
    [
      "is behind a login",
      () => always(401, { "www-authenticate": "Basic" }),
      "RECEIVER_BLOCKED",
      /in front of it asks for a login/,
      401,
      401,
    ],
    ["is not deployed yet", () => always(404), "RECEIVER_NOT_READY", /path/, 404, 404],
    ["has a page at this path", () => always(405), "RECEIVER_NOT_READY", /POST at this path/, 405, 405],
    ["fails", () => always(500), "RECEIVER_NOT_READY", /check its log/, 500, 500],
    ["limits requests", () => always(429), "RECEIVER_NOT_READY", /run again later/, 429, 429],
  ])("when the receiver %s", async (_what, listener, code, cause, genuine, broken) => {
    let requests = 0;
    const answer = listener();
    const url = await serve((request, response) => {
      requests += 1;
      answer(request, response);
    });
    expect(await validate(url)).toEqual({
      validated: false,
      code,
      reason: expect.stringMatching(cause),
      genuine: { status: genuine },
      broken: { status: broken },
    });
    expect(requests).toBeGreaterThan(2); // it was tried again until the deadline
  });

  test.each([
    // The third has an id of its own.
    ["verifies nothing", always(200), "BROKEN_ACCEPTED", /does not verify/, 3],
    [
      "is behind a redirect",
      always(308, { location: "/hooks/" }),
      "RECEIVER_REDIRECTED",
      /to another path/,
      2,
    ],
    [
      "moved to another host",
      always(301, { location: "https://other.example.com/t0ken" }),
      "RECEIVER_REDIRECTED",
      /to https:\/\/other\.example\.com,/,
      2,
    ],
  ])("at once when the receiver %s", async (_what, answer, code, cause, sent) => {
    let requests = 0;
    const url = await serve((request, response) => {
      requests += 1;
      answer(request, response);
    });
    const result = await validate(url, secret, 20_000);
    expect(result).toMatchObject({ validated: false, code, reason: expect.stringMatching(cause) });
    expect(requests).toBe(sent);
  });

  test("when the host cannot be resolved", async () => {
    const result = await validate("https://receiver.invalid/hooks?token=t0ken");
    expect(result).toEqual({
      validated: false,
      code: "RECEIVER_UNREACHABLE",
      reason: expect.stringMatching(
        /^the receiver at https:\/\/receiver\.invalid\/… did not answer \(E\w+\)/,
      ),
      genuine: { status: null },
      broken: { status: null },
    });
  });

  test("when nothing listens", async () => {
    const url = await serve(always(200));
    await closeServers();
    expect(await validate(url)).toMatchObject({
      code: "RECEIVER_UNREACHABLE",
      reason: expect.stringContaining("(ECONNREFUSED)"),
    });
  });

  test("when the receiver never answers", async () => {
    const url = await serve(() => {});
    expect(await validate(url)).toMatchObject({
      code: "RECEIVER_UNREACHABLE",
      reason: expect.stringContaining("(timed out)"),
    });
  });

  test.each([
    [
      "accepted",
      200,
      null,
      "BROKEN_UNANSWERED",
      /accepted a genuine delivery \(status 200\).*no response \(\w+\).*firewall/,
    ],
    ["refused", 401, null, "GENUINE_REFUSED", /another secret/],
    ["forbidden", 403, null, "GENUINE_REFUSED", /another secret/],
    ["redirected", 307, null, "RECEIVER_REDIRECTED", /redirects/],
    [
      "answered 503",
      503,
      null,
      "RECEIVER_NOT_READY",
      /it answered 503 to a genuine delivery and did not answer a broken one/,
    ],
    [
      "unanswered",
      null,
      401,
      "RECEIVER_UNREACHABLE",
      /did not answer a genuine delivery \(\w+\), but answered 401 to a broken one/,
    ],
  ])(
    "when a genuine delivery is %s and only one of the two is answered",
    async (_what, genuine, broken, code, cause) => {
      const url = await serve(answering(secret, { genuine, broken }));
      expect(await validate(url)).toEqual({
        validated: false,
        code,
        reason: expect.stringMatching(cause),
        genuine: { status: genuine },
        broken: { status: broken },
      });
    },
  );

  test("when TLS fails", async () => {
    const server = createTlsServer();
    server.on("tlsClientError", () => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
    expect(await validate(url)).toMatchObject({ code: "RECEIVER_UNREACHABLE" });
    await new Promise((resolve) => server.close(resolve));
  });

  test("when the receiver lacks one of several secrets, and says which", async () => {
    const url = await serve(ours(secret));
    expect(await validate(url, [secret, otherSecret])).toMatchObject({
      code: "GENUINE_REFUSED",
      reason: expect.stringContaining("secret 2 of 2"),
    });
  });

  test("when a broken delivery is answered 5xx, which senders would retry for ever", async () => {
    const verify = standard(secret);
    const url = await serve((request, response) => {
      const writeHead = response.writeHead.bind(response);
      response.writeHead = ((status: number) => writeHead(status === 400 ? 500 : status)) as never;
      verify(request, response);
    });
    expect(await validate(url)).toMatchObject({
      code: "RECEIVER_NOT_READY",
      genuine: { status: 204 },
      broken: { status: 500 },
    });
  });
});

test("validateReceiver ends at once with the reason of its signal, while it waits and while a delivery is under way", async () => {
  let requests = 0;
  const waiting = await serve((request, response) => {
    requests += 1;
    always(503)(request, response);
  });
  const hanging = await serve(() => {
    requests += 1;
  });
  for (const url of [waiting, hanging]) {
    requests = 0;
    const controller = new AbortController();
    const validating = validateReceiver({ url, secrets: secret, signal: controller.signal });
    const ended = expect(validating).rejects.toThrow("enough");
    const sent = url === waiting ? 2 : 1;
    while (requests < sent) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error("enough"));
    await ended;
    expect(requests).toBe(sent);
  }
});

test.each([
  ["url", { url: "hooks.example.com" }, TypeError],
  ["url with a password", { url: "https://a:t0ken@hooks.example.com" }, TypeError],
  ["secret", { secrets: "t0ken" }, /SECRET_INVALID/],
  ["empty list of secrets", { secrets: [] }, TypeError],
  [
    "value in place of secrets, such as a variable that is not set",
    { secrets: undefined },
    /secrets must be a secret/,
  ],
  ["Set of secrets", { secrets: new Set(["t0ken"]) }, /secrets must be a secret/],
  ["promise of secrets", { secrets: Promise.resolve("t0ken") }, /await it first/],
  ["timeout", { timeoutMs: Number.NaN }, RangeError],
  ["timeout as a string", { timeoutMs: "60000" }, /got a value of type string/],
  ["secret in place of the timeout", { timeoutMs: "whsec_t0ken" }, RangeError],
  ["controller in place of its signal", { signal: new AbortController() }, /signal must be/],
  ["secret in place of an option", { whsec_t0ken: true }, /an option is unknown \(not shown/],
  ["option", { timeoutSeconds: 5 }, /timeoutSeconds is not an option of validateReceiver/],
])("validateReceiver rejects a malformed %s and repeats no part of it", async (_what, options, error) => {
  const validating = validateReceiver({
    url: "http://127.0.0.1:9/",
    secrets: secret,
    ...(options as object),
  });
  await expect(validating).rejects.toThrow(error);
  await expect(validating).rejects.not.toThrow(/t0ken/);
});
