import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import type { Delivery, Receiver } from "../../src/receiver";
import { receiverFromEnv, receiverFromFile, receiverFromStack } from "../../src/stack";
import { Project } from "../engine/project";
import { leaked, newSecret, serve, thrownBy } from "./support";

jest.setTimeout(300_000);

const [issued, plain, bared] = [newSecret(), newSecret(), newSecret()];
const environment = { ...process.env };
let emulator: Emulator;
let project: Project;

/** One stack serves every test of this file. */
beforeAll(async () => {
  emulator = await startEmulator({ secrets: issued, retryDelaysMs: [] });
  project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
    env: { PLAIN_SECRET: plain },
  });
  project.program(`const { receiverConfig } = require("pulumi-webhook-endpoints");
const jobs = new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" });
const secrets = [new pulumi.Config().requireSecret("signingSecret")];
exports.receiver = receiverConfig({ endpoints: { jobs }, secrets });
exports.text = pulumi.jsonStringify(exports.receiver);
exports.plain = receiverConfig({ secrets: [process.env.PLAIN_SECRET] });
exports.bare = pulumi.unsecret(receiverConfig({ secrets: [${JSON.stringify(bared)}] }));
exports.url = pulumi.secret(jobs.url);
exports.fingerprint = pulumi.unsecret(exports.receiver.fingerprint);`);
  await project.succeed("config", "set", "--secret", "signingSecret", issued);
  await project.up();
  Object.assign(process.env, project.env);
});

afterAll(async () => {
  process.env = environment;
  project.dispose();
  await emulator.close();
});

const handled: string[] = [];
const options = { handlers: { "job.succeeded": ({ jobId }: Delivery) => handled.push(String(jobId)) } };
const fromStack = (source: object = {}) =>
  receiverFromStack({ stackName: "dev", workDir: project.folder, ...source }, options);

/** Returns what a person or a pipeline takes from the stack. */
const taken = () => project.succeed("stack", "output", "receiver", "--show-secrets", "--json");

async function fromEnv(): Promise<Receiver> {
  process.env.WEBHOOK_RECEIVER = await taken();
  return receiverFromEnv({}, options);
}

async function fromFile(): Promise<Receiver> {
  const path = join(project.folder, "receiver.json");
  writeFileSync(path, await taken());
  return receiverFromFile({ path }, options);
}

test.each<[string, () => Promise<Receiver>]>([
  ["environment", fromEnv],
  ["file", fromFile],
  ["stack", fromStack],
  ["stack, where it is exported as JSON", () => fromStack({ output: "text" })],
])(
  "a receiver that is created from the %s verifies deliveries with the program's secret output",
  async (_, build) => {
    const served = await serve(await build());
    try {
      const { id: endpointId } = emulator.add({ url: served.url, type: "production" });
      const job = await emulator.runJob({ endpointId });
      expect(job.finished.delivered).toBe(true);
      expect(handled.splice(0)).toEqual([job.jobId]);
      const forged = await emulator.deliver({ type: "job.succeeded", endpointId, tamper: true });
      expect(forged.endpoints).toMatchObject([{ outcome: "failed", statusCode: 401 }]);
      expect(handled).toEqual([]);
    } finally {
      await served.close();
    }
  },
);

test("neither the state nor an output shows a secret, even one that the program did not mark as secret", async () => {
  const outputs = await project.outputs();
  expect(outputs).toMatchObject({ receiver: "[secret]", text: "[secret]", plain: "[secret]" });
  expect(outputs.fingerprint).toBe(JSON.parse(await taken()).fingerprint);
  expect(leaked(project.filesAtRest(), [issued, plain])).toEqual([]);
});

test("backendUrl selects the backend that holds the state", async () => {
  const backendUrl = project.env.PULUMI_BACKEND_URL;
  const elsewhere = mkdtempSync(join(tmpdir(), "backend-"));
  try {
    process.env.PULUMI_BACKEND_URL = `file://${elsewhere}`;
    expect(await thrownBy(() => fromStack())).toMatchObject({ code: "STACK_UNREADABLE" });
    await fromStack({ backendUrl });
  } finally {
    process.env.PULUMI_BACKEND_URL = backendUrl;
    rmSync(elsewhere, { recursive: true });
  }
});

test.each([
  [{ stackName: "prod" }, "STACK_UNREADABLE", /`pulumi stack output .*` failed: .*no stack named 'prod'/],
  [
    { output: "reciever" },
    "CONFIG_MISSING",
    /stack dev has no output reciever; its outputs are: .*receiver.*, text/,
  ],
  [{ output: "constructor" }, "CONFIG_MISSING", /has no output constructor/],
  [{ output: "url" }, "CONFIG_INVALID", /in the output url of stack dev cannot be used: it is not the JSON/],
  [{ output: "bare" }, "CONFIG_INVALID", /output bare of stack dev is not secret.*rotate the signing secret/],
  [{ workDir: "/nowhere" }, "PULUMI_MISSING", /install the Pulumi CLI.*workDir is a folder/],
])("the source %p throws %s, without a secret in the error", async (source, code, says) => {
  const error = await thrownBy(() => fromStack(source));
  expect(error).toMatchObject({ name: "ReceiverConfigError", code, message: expect.stringMatching(says) });
  expect(leaked(error, [issued, bared])).toEqual([]);
});

test("a preview reports every problem of the secrets, before anything is created, and repeats no secret", async () => {
  const wrong = ["********", `${issued.slice(0, 18)}`, plain.replace("whsec_", "key_"), issued, issued, ""];
  project.program(`const { receiverConfig } = require("pulumi-webhook-endpoints");
const unknown = new WebhookEndpoint("new", { url: "https://hooks.example.com/new", type: "production" }).id;
exports.fine = receiverConfig({ secrets: [unknown] });
exports.receiver = receiverConfig({ secrets: ${JSON.stringify(wrong)}, toleranceSeconds: -1 });`);
  const { exitCode, output } = await project.pulumi("preview");
  expect(exitCode).not.toBe(0);
  expect(output.replaceAll(/\s+/g, " ")).toMatch(
    new RegExp(
      [
        "receiverConfig: secret 1 of 6 is masked",
        "secret 2 of 6 is cut off",
        'secret 3 of 6 does not begin with "whsec_"',
        "secret 5 of 6 is the same as an earlier one",
        "secret 6 of 6 is empty; toleranceSeconds must be a whole number",
      ].join(".*"),
    ),
  );
  expect(output).not.toContain("secret 1 of 1");
  expect(output).not.toContain("PromiseRejectionHandledWarning");
  expect(leaked(output, [issued, plain])).toEqual([]);
});

test("a preview reports the problems of known secrets even if other secrets and the tolerance are unknown", async () => {
  project.program(`const { receiverConfig } = require("pulumi-webhook-endpoints");
const unknown = new WebhookEndpoint("new", { url: "https://hooks.example.com/new", type: "production" }).id;
const toleranceSeconds = unknown.apply((id) => id.length);
exports.receiver = receiverConfig({ secrets: ["********", unknown, pulumi.secret(""), unknown], toleranceSeconds });`);
  const { exitCode, output } = await project.pulumi("preview");
  expect(exitCode).not.toBe(0);
  expect(output.replaceAll(/\s+/g, " ")).toMatch(
    /receiverConfig: secret 1 of 4 is masked[^;]*; secret 3 of 4 is empty\. \(CONFIG_INVALID\)/,
  );
});
