import type { RequestListener } from "node:http";
import { type Emulator, startEmulator } from "../../src/emulator";
import { otherSecret, secret } from "../receiver/support";
import { always, closeServers, ours, serve } from "../validation/receivers";
import { Project } from "./project";

jest.setTimeout(300_000);

let emulator: Emulator;
let project: Project;

beforeEach(async () => {
  emulator = await startEmulator();
  project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
  });
});

afterEach(async () => {
  // No secret is at rest in plain text, and none was printed.
  expect(project.filesAtRest() + project.transcript).not.toContain(secret.slice("whsec_".length));
  project.dispose();
  await closeServers();
  await emulator.close();
});

/** Declares a validation, and an endpoint that depends on it. */
function declare(args: object): void {
  project.program(`
const { ReceiverValidation } = require("pulumi-webhook-endpoints");
const proven = new ReceiverValidation("proven", ${JSON.stringify({ secrets: [secret], ...args })});
new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" }, { dependsOn: proven });
exports.validatedAt = proven.validatedAt;
exports.url = proven.url;
`);
}

const up = ["up", "--yes", "--skip-preview"];

test("an endpoint that depends on a validation is registered once its receiver works, and the life of both goes on", async () => {
  let answer: RequestListener = ours(otherSecret);
  let requests = 0;
  const url = await serve((request, response) => {
    requests += 1;
    answer(request, response);
  });
  declare({ url, triggers: ["a"], timeoutSeconds: 1 });
  await project.preview();
  expect(requests).toBe(0);
  expect(await project.fail(...up)).toContain("GENUINE_REFUSED");
  expect(emulator.endpoints()).toEqual([]);

  answer = ours(secret);
  requests = 0;
  await project.up();
  expect(requests).toBe(2);
  expect(emulator.endpoints()).toHaveLength(1);
  const first = await project.outputs();
  expect(first).toEqual({ url, validatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
  expect(await project.up()).toMatch(/3 unchanged/);
  expect(requests).toBe(2);

  for (const refreshing of [
    ["preview", "--refresh"],
    ["refresh", "--preview-only"],
  ]) {
    requests = 0;
    await project.succeed(...refreshing);
    expect(requests).toBe(2);
  }

  const receiver = { version: 1, secrets: [secret], toleranceSeconds: 300, endpoints: {}, fingerprint: "" };
  declare({ url, secrets: undefined, receiver, triggers: ["b"], timeoutSeconds: 1 });
  expect(await project.up()).toMatch(/~ 1 updated/);
  expect(requests).toBe(4);
  expect((await project.outputs()).validatedAt).not.toBe(first.validatedAt);
  expect(await project.refresh()).toMatch(/3 unchanged/);

  answer = always(503);
  expect(await project.refresh()).toMatch(/RECEIVER_NOT_READY[\s\S]*3 unchanged/);
  answer = always(200);
  expect(await project.refresh()).toMatch(/BROKEN_ACCEPTED[\s\S]*- 1 deleted/);
  expect(await project.fail(...up)).toContain("BROKEN_ACCEPTED");

  answer = ours(secret);
  expect(await project.up()).toMatch(/\+ 1 created/);
  requests = 0;
  await project.destroy();
  expect(requests).toBe(0);
  expect(emulator.endpoints()).toEqual([]);
});

test("a receiver that comes up late is waited for, what receiverConfig made has the secrets, and bad arguments fail the preview", async () => {
  const url = await serve(always(200));
  await closeServers();
  setTimeout(() => void serve(ours(secret), Number(new URL(url).port)), 3_000);
  project.program(`
const { ReceiverValidation, receiverConfig } = require("pulumi-webhook-endpoints");
new ReceiverValidation("proven", { url: ${JSON.stringify(url)}, receiver: receiverConfig({ secrets: ["${secret}"] }) });
`);
  await project.up();
  const { resources = [] } = await project.state();
  const recorded = resources.find(({ type }) => type.endsWith(":ReceiverValidation"));
  const outputs = ["__provider", "secrets", "triggers", "url", "validatedAt"];
  expect(Object.keys(recorded?.outputs ?? {}).sort()).toEqual(outputs);

  declare({ url: "hooks.example.com", secrets: ["nonsense"], timeoutSeconds: -1 });
  const output = await project.fail("preview");
  for (const problem of [/url must be/, /secret 1 of 1 does not begin/, /timeoutSeconds must be/])
    expect(output).toMatch(problem);
});
