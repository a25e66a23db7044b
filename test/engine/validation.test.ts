import { type Emulator, startEmulator } from "../../src/emulator";
import { otherSecret, secret } from "../receiver/support";
import { always, closeServers, ours, serve } from "../validation/receivers";
import { Project } from "./project";

jest.setTimeout(300_000);

let emulator: Emulator;
let project: Project;
beforeAll(async () => {
  emulator = await startEmulator();
  project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
  });
});
afterAll(async () => {
  project.dispose();
  await closeServers();
  await emulator.close();
});

/** Declares a validation, and an endpoint that depends on it. */
function declare(url: string, args: string): void {
  project.program(`
const { ReceiverValidation, receiverConfig } = require("pulumi-webhook-endpoints");
const url = ${JSON.stringify(url)};
const proven = new ReceiverValidation("proven", { url, timeoutSeconds: 1, ${args} });
new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" }, { dependsOn: proven });
exports.validatedAt = proven.validatedAt;
`);
}

test("an endpoint is registered once its receiver is validated, and a refresh finds a receiver that accepts what is broken", async () => {
  let answer = ours(otherSecret);
  let requests = 0;
  const url = await serve((request, response) => {
    requests += 1;
    answer(request, response);
  });
  declare(url, `secrets: ["${secret}"], triggers: ["a"]`);
  expect(await project.failUp()).toContain("GENUINE_REFUSED");
  expect(emulator.endpoints()).toEqual([]);

  answer = ours(secret);
  requests = 0;
  await project.up();
  expect(requests).toBe(2);
  expect(emulator.endpoints()).toHaveLength(1);
  const first = await project.outputs();
  expect(first).toEqual({ validatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });

  declare(url, `receiver: receiverConfig({ secrets: ["${secret}"] }), triggers: ["b"]`);
  expect(await project.up()).toMatch(/~ 1 updated/);
  expect(requests).toBe(4);
  expect((await project.outputs()).validatedAt).not.toBe(first.validatedAt);
  const recorded = project.state().resources?.find(({ type }) => type.endsWith(":ReceiverValidation"));
  const outputs = ["__provider", "secrets", "triggers", "url", "validatedAt"];
  expect(Object.keys(recorded?.outputs ?? {}).sort()).toEqual(outputs);

  answer = always(200);
  expect(await project.refresh()).toMatch(/BROKEN_ACCEPTED[\s\S]*- 1 deleted/);
  expect(emulator.endpoints()).toHaveLength(1);
  project.expectHidden(secret);
});
