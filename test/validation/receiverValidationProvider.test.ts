import type { RequestListener } from "node:http";
import * as pulumi from "@pulumi/pulumi";
import { ReceiverValidation } from "../../src";
import {
  VALIDATION_PROVIDER_CODE as PROVIDER_CODE,
  VALIDATION_TYPE_TOKEN as TYPE_TOKEN,
} from "../../src/shared/permanent";
import { createReceiverValidationProvider } from "../../src/validation/receiverValidationProvider";
import { otherSecret, secret } from "../receiver/support";
import { always, closeServers, ours, respondsWith, serve } from "./receivers";

afterEach(closeServers);

function verbs({ cancelled }: { cancelled?: AbortSignal } = {}) {
  const warnings: string[] = [];
  const engine = { warn: (message: string) => warnings.push(message), cancelled };
  return { ...createReceiverValidationProvider(engine), warnings };
}

test("what users' state holds for ever never changes", () => {
  expect(PROVIDER_CODE).toBe(
    'exports.handler = () => require("pulumi-webhook-endpoints/provider").receiverValidation;',
  );
  expect(TYPE_TOKEN).toBe("pulumi-nodejs:dynamic/webhooks:ReceiverValidation");
});

describe("ReceiverValidation", () => {
  test("passes its arguments on, and makes what signs secret", async () => {
    const passed: unknown[] = [];
    await pulumi.runtime.setMocks({
      newResource({ name, inputs }) {
        passed.push(inputs);
        return { id: name, state: inputs };
      },
      call: ({ inputs }) => inputs,
    });
    const triggers = [pulumi.output("v1"), 2, Promise.resolve(true)];
    const receiver = {
      version: 1 as const,
      secrets: [secret],
      toleranceSeconds: 1,
      endpoints: {},
      fingerprint: "",
    };
    for (const signing of [{ secrets: [secret] }, { secrets: secret }, { receiver }]) {
      const args = { url: "https://hooks.example.com/", triggers, timeoutSeconds: 5, ...signing };
      const { urn } = new ReceiverValidation("jobs", args);
      await new Promise((resolve) => urn.apply(resolve));
    }
    const others = { triggers: ["v1", 2, true], timeoutSeconds: 5 };
    expect(passed).toMatchObject([
      { ...others, secrets: { value: [secret] } },
      { ...others, secrets: { value: secret } },
      { ...others, receiver: { value: receiver } },
    ]);
  });
});

describe("check", () => {
  const good = { url: "https://hooks.example.com/t0ken", secrets: [secret] };
  const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

  test("accepts whole arguments, and leaves out what is null", async () => {
    const whole = { ...good, timeoutSeconds: 5, triggers: ["v1", 2, true] };
    const { inputs, failures } = await verbs().check({}, { ...whole, receiver: null });
    expect({ inputs, failures }).toEqual({ inputs: whole, failures: [] });
  });

  test("reads a receiver's configuration as a receiver does, however often it was encoded", async () => {
    const receiver = `\uFEFF${JSON.stringify(JSON.stringify({ version: 1, secrets: [secret] }))}`;
    const { failures } = await verbs().check({}, { url: good.url, receiver });
    expect(failures).toEqual([]);
  });

  test("reports every problem at once, and repeats neither url nor secret", async () => {
    const wrong = { url: "ftp://t0ken", secrets: [secret, "whsec_t0ken"], timeoutSeconds: 0 };
    const { failures = [] } = await verbs().check({}, { ...wrong, retries: 3 });
    expect(failures).toEqual(
      [/^retries is not an argument/, /^url must be/, /^secret 2 of 2 is/, /^timeoutSeconds/].map(
        (reason) => ({ property: "", reason: expect.stringMatching(reason) }),
      ),
    );
    expect(JSON.stringify(failures)).not.toMatch(/t0ken|MfKQ/);
  });

  test.each([
    ["neither secrets nor receiver", { url: good.url }, /exactly one/],
    ["both secrets and receiver", { ...good, receiver: { secrets: [secret] } }, /exactly one/],
    ["one secret that was cut off", { ...good, secrets: "whsec_AA==" }, /secret 1 of 1 is cut off/],
    ["an empty list", { ...good, secrets: [] }, /secrets is empty/],
    ["a secret that was cut off", { ...good, secrets: ["whsec_AA=="] }, /secret 1 of 1 is cut off/],
    ["a receiver without secrets", { url: good.url, receiver: "{}" }, /secrets must be a list/],
    ["no url", { secrets: [secret] }, /^url is missing/],
  ])("check refuses arguments with %s", async (_what, news, reason) => {
    const { failures } = await verbs().check({}, news);
    expect(failures).toEqual([{ property: "", reason: expect.stringMatching(reason) }]);
  });

  test.each([
    ["url", { ...good, url: unknown }],
    ["list of secrets", { ...good, secrets: unknown }],
    ["secret", { ...good, secrets: [unknown] }],
    ["receiver", { url: good.url, receiver: unknown }],
    ["timeout", { ...good, timeoutSeconds: unknown }],
    ["trigger", { ...good, triggers: [unknown] }],
    ["list of triggers", { ...good, triggers: unknown }],
  ])("says nothing about a %s that is not known yet", async (_what, news) => {
    expect(await verbs().check({}, news)).toMatchObject({ failures: [] });
  });
});

test.each([
  ["may run only after this up", 500, true],
  ["verifies nothing", 200, false],
])(
  "create says that the stack has its outputs only afterwards, if the receiver %s",
  async (_what, status, isSaid) => {
    const url = await serve(always(status));
    const failing = verbs().create({ url, secrets: [secret], timeoutSeconds: 0.1 });
    const { message } = await failing.then(
      () => new Error("It was validated."),
      (error: Error) => error,
    );
    expect(message.includes("outputs only after a `pulumi up` that succeeds")).toBe(isSaid);
    expect(message).toMatch(/ \([A-Z_]+\)$/);
  },
);

describe("diff and update", () => {
  const same = {
    url: "http://127.0.0.1:9/",
    secrets: [secret],
    triggers: ["v1", 2],
    __provider: PROVIDER_CODE,
  };
  const olds = { ...same, validatedAt: "2026-01-01T00:00:00.000Z" };

  test.each([
    ["nothing", same, false],
    ["the deadline", { ...same, timeoutSeconds: 5 }, false],
    ["only the list of one secret", { ...same, secrets: secret }, false],
    ["only the form of the secrets", { ...same, secrets: undefined, receiver: { secrets: [secret] } }, false],
    ["the provider's code", { ...same, __provider: "other" }, true],
    ["the url", { ...same, url: "http://127.0.0.1:8/" }, true],
    ["a secret", { ...same, secrets: [otherSecret] }, true],
    ["a trigger", { ...same, triggers: ["v1", 3] }, true],
    ["the triggers, which are gone", { ...same, triggers: undefined }, true],
  ])("diff tells whether there is something to do when what changed is %s", async (_what, news, changes) => {
    expect(await verbs().diff("id", olds, news)).toEqual({ changes });
  });

  test("update sends nothing when only the provider's code changed", async () => {
    expect(await verbs().update("id", olds, { ...same, __provider: "other" })).toEqual({ outs: olds });
  });

  test("update validates what changed, and fails as create does, without a stack that the plugin would print", async () => {
    const url = await serve(ours(secret));
    const { outs } = await verbs().update("id", olds, { ...same, url });
    expect(outs).toMatchObject({ url, triggers: olds.triggers });
    expect(outs.validatedAt > olds.validatedAt).toBe(true);
    const open = await serve(always(200));
    const updating = verbs().update("id", olds, { ...same, url: open });
    await expect(updating).rejects.toMatchObject({ code: "BROKEN_ACCEPTED", stack: "" });
  });
});

test("create ends with ABORTED when the run is cancelled", async () => {
  const url = await serve(always(503));
  const controller = new AbortController();
  const creating = verbs({ cancelled: controller.signal }).create({ url, secrets: [secret] });
  controller.abort();
  await expect(creating).rejects.toMatchObject({ code: "ABORTED", stack: "" });
});

describe("read, for a refresh,", () => {
  async function read(listener: RequestListener) {
    const { read, warnings } = verbs();
    const props = { url: await serve(listener), secrets: [secret], validatedAt: "then", triggers: null };
    return { result: await read("id", props), kept: { id: "id", props }, warnings };
  }

  test("keeps a receiver that still works as it is", async () => {
    const { result, kept, warnings } = await read(ours(secret));
    expect({ result, warnings }).toEqual({ result: kept, warnings: [] });
  });

  test.each([
    ["accepts a broken delivery", always(200), "BROKEN_ACCEPTED"],
    ["refuses a genuine delivery", ours(otherSecret), "GENUINE_REFUSED"],
    ["refuses both", always(403), "GENUINE_REFUSED"],
  ])("reports a receiver as gone that %s", async (_what, listener, code) => {
    const { result, warnings } = await read(listener);
    expect({ result, warnings }).toEqual({ result: {}, warnings: [expect.stringContaining(`(${code})`)] });
  });

  test.each([
    ["404", always(404)],
    ["503", always(503)],
    ["a redirect", always(302, { location: "/" })],
    ["only genuine deliveries", respondsWith(secret, { genuine: 200, broken: null })],
    ["nothing", respondsWith(secret, { genuine: null, broken: null })],
  ])("warns of a receiver that responds to %s, and keeps it", async (_what, listener) => {
    const { result, kept, warnings } = await read(listener);
    expect({ result, warnings }).toEqual({ result: kept, warnings: [expect.stringMatching(/\(RECEIVER_/)] });
  });

  test("finds nothing for an import, which has no secrets to validate with", async () => {
    expect(await verbs().read("id")).toEqual({});
  });
});
