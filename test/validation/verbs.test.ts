import {
  VALIDATION_PROVIDER_CODE as PROVIDER_CODE,
  VALIDATION_TYPE_TOKEN as TYPE_TOKEN,
} from "../../src/shared/permanent";
import { createReceiverValidation } from "../../src/validation/provider";
import { otherSecret, secret } from "../receiver/support";
import { always, answering, closeServers, ours, serve } from "./receivers";

afterEach(closeServers);

function verbs() {
  const warnings: string[] = [];
  const engine = { warn: (message: string) => warnings.push(message), info: () => {} };
  return { ...createReceiverValidation(engine), warnings };
}

test("what users' state holds for ever never changes", () => {
  expect(PROVIDER_CODE).toBe(
    'exports.handler = () => require("pulumi-webhook-endpoints/provider").receiverValidation;',
  );
  expect(TYPE_TOKEN).toBe("pulumi-nodejs:dynamic/webhooks:ReceiverValidation");
});

describe("check", () => {
  const good = { url: "https://hooks.example.com/t0ken", secrets: [secret] };

  test("accepts whole arguments, and leaves out what is null", async () => {
    const { inputs, failures } = await verbs().check({}, { ...good, triggers: null, timeoutSeconds: 5 });
    expect(failures).toEqual([]);
    expect(inputs).toEqual({ ...good, timeoutSeconds: 5 });
  });

  test("reports every problem at once, and repeats neither url nor secret", async () => {
    const { failures = [] } = await verbs().check(
      {},
      { url: "ftp://t0ken", secrets: [secret, "whsec_t0ken"], timeoutSeconds: 0, retries: 3 },
    );
    expect(failures.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^retries is not an argument/),
      expect.stringMatching(/^url must be an absolute URL/),
      expect.stringMatching(/^secret 2 of 2 is malformed/),
      expect.stringMatching(/^timeoutSeconds must be/),
    ]);
    expect(JSON.stringify(failures)).not.toMatch(/t0ken|MfKQ/);
    expect(failures.every(({ property }) => property === "")).toBe(true);
  });

  test.each([
    ["neither secrets nor receiver", { url: good.url }, /exactly one/],
    ["both", { ...good, receiver: { secrets: [secret] } }, /exactly one/],
    ["an empty list", { ...good, secrets: [] }, /non-empty list/],
    ["a receiver without secrets", { url: good.url, receiver: "{}" }, /non-empty list/],
    ["no url", { secrets: [secret] }, /^url is missing/],
  ])("refuses %s", async (_what, news, reason) => {
    const { failures } = await verbs().check({}, news);
    expect(failures).toEqual([{ property: "", reason: expect.stringMatching(reason) }]);
  });

  const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  test.each([
    ["url", { ...good, url: unknown }],
    ["list of secrets", { ...good, secrets: unknown }],
    ["secret", { ...good, secrets: [unknown] }],
    ["receiver", { url: good.url, receiver: unknown }],
    ["timeout", { ...good, timeoutSeconds: unknown }],
  ])("says nothing about a %s that is not known yet", async (_what, news) => {
    expect(await verbs().check({}, news)).toMatchObject({ failures: [] });
  });
});

describe("diff and update", () => {
  const olds = {
    url: "http://127.0.0.1:9/",
    secrets: [secret],
    triggers: { a: [1, 2] },
    validatedAt: "2026-01-01T00:00:00.000Z",
    __provider: PROVIDER_CODE,
  };
  const same = { url: olds.url, secrets: [secret], triggers: { a: [1, 2] }, __provider: PROVIDER_CODE };

  test.each([
    ["nothing", same, false],
    ["the deadline", { ...same, timeoutSeconds: 5 }, false],
    ["only the form of the secrets", { ...same, secrets: undefined, receiver: { secrets: [secret] } }, false],
    ["the provider's code", { ...same, __provider: "other" }, true],
    ["the url", { ...same, url: "http://127.0.0.1:8/" }, true],
    ["a secret", { ...same, secrets: [otherSecret] }, true],
    ["a trigger", { ...same, triggers: { a: [1, 3] } }, true],
    ["the triggers, which are gone", { ...same, triggers: undefined }, true],
  ])("diff tells whether there is something to do when what changed is %s", async (_what, news, changes) => {
    expect(await verbs().diff("id", olds, news)).toEqual({ changes });
  });

  test("update sends nothing when only the provider's code changed", async () => {
    const { outs } = await verbs().update("id", olds, { ...same, __provider: "other" });
    expect(outs).toEqual(olds);
  });

  test("update validates what changed, and fails as create does", async () => {
    const url = await serve(ours(secret));
    const { outs } = await verbs().update("id", olds, { ...same, url });
    expect(outs).toMatchObject({ url, triggers: olds.triggers });
    expect(outs.validatedAt > olds.validatedAt).toBe(true);
    await expect(
      verbs().update("id", olds, { ...same, url, secrets: [otherSecret], timeoutSeconds: 0.1 }),
    ).rejects.toMatchObject({ code: "GENUINE_REFUSED", stack: "" });
  });
});

test("no error has a stack, which the plugin would print", async () => {
  const { HTTPS_PROXY } = process.env;
  process.env.HTTPS_PROXY = "ftp://proxy";
  try {
    const news = { url: "https://hooks.example.com/", secrets: [secret] };
    await expect(verbs().create(news)).rejects.toMatchObject({ code: expect.any(String), stack: "" });
  } finally {
    if (HTTPS_PROXY === undefined) delete process.env.HTTPS_PROXY;
    else process.env.HTTPS_PROXY = HTTPS_PROXY;
  }
});

describe("read, for a refresh,", () => {
  async function read(listener: Parameters<typeof serve>[0], id = "id") {
    const { read, warnings } = verbs();
    const props = { url: await serve(listener), secrets: [secret], validatedAt: "then", triggers: null };
    const result = await read(id, props);
    return { result, props, warnings };
  }

  test("keeps a receiver that still works as it is", async () => {
    const { result, props, warnings } = await read(ours(secret));
    expect(result).toEqual({ id: "id", props });
    expect(warnings).toEqual([]);
  });

  test.each([
    ["accepts a broken delivery", always(200), "BROKEN_ACCEPTED"],
    ["refuses a genuine delivery", ours(otherSecret), "GENUINE_REFUSED"],
    ["answers 403 to both", always(403), "RECEIVER_BLOCKED"],
  ])("reports a receiver as gone that %s", async (_what, listener, code) => {
    const { result, warnings } = await read(listener);
    expect(result).toEqual({});
    expect(warnings).toEqual([expect.stringContaining(`(${code})`)]);
  });

  test.each([
    ["404", always(404)],
    ["405", always(405)],
    ["429", always(429)],
    ["503", always(503)],
    ["a redirect", always(302, { location: "/" })],
    ["only genuine deliveries", answering(secret, { genuine: 200, broken: null })],
  ])("warns of a receiver that answers %s, and keeps it", async (_what, listener) => {
    const { result, props, warnings } = await read(listener);
    expect(result).toEqual({ id: "id", props });
    expect(warnings).toHaveLength(1);
  });

  test("warns of a receiver that does not answer, and keeps it", async () => {
    const { read, warnings } = verbs();
    const url = await serve(always(200));
    await closeServers();
    expect(await read("id", { url, secrets: [secret] })).toMatchObject({ id: "id" });
    expect(warnings).toEqual([expect.stringContaining("RECEIVER_UNREACHABLE")]);
  });

  test("refuses an import, which has no secrets to validate with", async () => {
    await expect(verbs().read("id")).rejects.toMatchObject({ code: "VALIDATION_NOT_IMPORTABLE" });
  });
});
