import type { RequestListener } from "node:http";
import { type Emulator, startEmulator } from "../../src/emulator";
import { otherSecret, secret } from "../receiver/support";
import { always, closeServers, ours, parsing, serve, standard } from "../validation/receivers";
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
  project.dispose();
  await closeServers();
  await emulator.close();
});

interface Validation {
  readonly url: string;
  readonly secret?: string;
  readonly timeoutSeconds?: number;
  readonly triggers?: unknown;
}

/** Declares a validation, and an endpoint that depends on it. */
function declare({ secret: key = secret, ...args }: Validation): void {
  project.inlineProgram(`
const { ReceiverValidation } = require("pulumi-webhook-endpoints");
const proven = new ReceiverValidation("proven", { ...${JSON.stringify(args)}, secrets: [${JSON.stringify(key)}] });
new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" }, { dependsOn: proven });
exports.validatedAt = proven.validatedAt;
exports.url = proven.url;
`);
}

/** Holds that no secret is at rest in plain text, and that none was printed. */
function expectNoSecret(): void {
  const key = secret.slice("whsec_".length);
  expect(project.filesAtRest()).not.toContain(key);
  expect(project.transcript).not.toContain(key);
}

test("an endpoint that depends on a validation is registered once its receiver works, and the life of both goes on", async () => {
  let answer: RequestListener = ours(secret);
  let requests = 0;
  const url = await serve((request, response) => {
    requests += 1;
    answer(request, response);
  });
  declare({ url, triggers: ["a"] });
  await project.preview();
  expect(requests).toBe(0);

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
  requests = 2;

  declare({ url, triggers: ["b"] });
  expect(await project.up()).toMatch(/~ 1 updated/);
  expect(requests).toBe(4);
  const second = await project.outputs();
  expect(second.validatedAt).not.toBe(first.validatedAt);
  expect(await project.refresh()).toMatch(/3 unchanged/);

  answer = always(503);
  expect(await project.refresh()).toMatch(/RECEIVER_NOT_READY[\s\S]*3 unchanged/);
  answer = always(200);
  expect(await project.refresh()).toMatch(/BROKEN_ACCEPTED[\s\S]*- 1 deleted/);
  const refused = await project.pulumi("up", "--yes", "--skip-preview");
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain("BROKEN_ACCEPTED");

  answer = ours(secret);
  expect(await project.up()).toMatch(/\+ 1 created/);
  requests = 0;
  await project.destroy();
  expect(requests).toBe(0);
  expect(emulator.endpoints()).toEqual([]);
  expectNoSecret();
});

test("an endpoint is registered behind each receiver that works, and behind none that does not", async () => {
  const works: Record<string, () => Promise<string>> = {
    "built on standardwebhooks": () => serve(standard(secret)),
    "three seconds late": async () => {
      const url = await serve(always(200));
      await closeServers();
      setTimeout(() => void serve(ours(secret), Number(new URL(url).port)), 3_000);
      return url;
    },
  };
  for (const [, start] of Object.entries(works)) {
    declare({ url: await start(), timeoutSeconds: 60 });
    await project.up();
    expect(emulator.endpoints()).toHaveLength(1);
    await project.destroy();
  }

  const fails: Record<string, readonly [code: string, () => Promise<string>]> = {
    "with another secret": ["GENUINE_REFUSED", () => serve(ours(otherSecret))],
    "that verifies nothing": ["BROKEN_ACCEPTED", () => serve(always(204))],
    "that parses the body first": ["GENUINE_REFUSED", () => serve(parsing(secret))],
    "behind a redirect": ["RECEIVER_REDIRECTED", () => serve(always(301, { location: "/elsewhere" }))],
    "that cannot be resolved": ["RECEIVER_UNREACHABLE", async () => "https://receiver.invalid/jobs"],
    "behind a proxy that forbids": ["GENUINE_REFUSED", () => serve(always(403))],
  };
  for (const [what, [code, start]] of Object.entries(fails)) {
    declare({ url: await start(), timeoutSeconds: 1 });
    const { exitCode, output } = await project.pulumi("up", "--yes", "--skip-preview");
    expect({ what, exitCode, output }).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining(code),
    });
  }
  expect(emulator.requests.filter(({ method }) => method === "POST")).toHaveLength(Object.keys(works).length);
  expectNoSecret();
});

test("what receiverConfig made is taken for its secrets, and bad arguments fail the preview all at once", async () => {
  const url = await serve(ours(secret));
  const program = (args: string) => `
const { ReceiverValidation, receiverConfig } = require("pulumi-webhook-endpoints");
new ReceiverValidation("proven", ${args});
`;
  project.program(
    program(`{ url: ${JSON.stringify(url)}, receiver: receiverConfig({ secrets: ["${secret}"] }) }`),
  );
  await project.up();
  const { resources = [] } = await project.state();
  const recorded = resources.find(({ type }) => type.endsWith(":ReceiverValidation"));
  expect(Object.keys(recorded?.outputs ?? {}).sort()).toEqual([
    "__provider",
    "secrets",
    "triggers",
    "url",
    "validatedAt",
  ]);
  expectNoSecret();

  project.program(program('{ url: "hooks.example.com", secrets: ["nonsense"], timeoutSeconds: -1 }'));
  const { exitCode, output } = await project.pulumi("preview");
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/url must be/);
  expect(output).toMatch(/secret 1 of 1 does not begin/);
  expect(output).toMatch(/timeoutSeconds must be/);

  project.program(program('{ url: "https://hooks.example.com", secrets: [], timeoutSecs: 5 }'));
  expect((await project.pulumi("preview")).output).toMatch(/timeoutSecs is not an argument/);

  project.program(program("{ url: 'https://hooks.example.com' }"));
  expect((await project.pulumi("preview")).output).toMatch(/needs exactly one of secrets and receiver/);
});
