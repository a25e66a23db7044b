import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import type { Delivery, Receiver } from "../../src/receiver";
import { receiverFromEnv, receiverFromFile, receiverFromStack } from "../../src/stack";
import { Project } from "../engine/project";
import { leaked, newSecret, serve, thrownBy } from "./support";

jest.setTimeout(300_000);

const [issued, plain] = [newSecret(), newSecret()];
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
const secrets = new pulumi.Config().requireSecretObject("signingSecrets");
exports.receiver = receiverConfig({ endpoints: { jobs }, secrets });
exports.text = pulumi.jsonStringify(exports.receiver);
exports.plain = receiverConfig({ secrets: [process.env.PLAIN_SECRET] });
exports.url = pulumi.secret(jobs.url);
exports.fingerprint = pulumi.unsecret(exports.receiver.fingerprint);`);
  await project.succeed("config", "set", "--secret", "--path", "signingSecrets[0]", issued);
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
])("a receiver that is created from the %s verifies with the program's secret output", async (_, build) => {
  const served = await serve(await build());
  try {
    const { id: endpointId } = emulator.add({ url: served.url, type: "production" });
    const job = await emulator.runJob({ endpointId });
    expect(job.finished.delivered).toBe(true);
    expect(handled.splice(0)).toEqual([job.jobId]);
    const forged = await emulator.deliver({ event: "job.succeeded", endpointId, tamper: true });
    expect(forged.endpoints).toMatchObject([{ outcome: "failed", status: 401 }]);
    expect(handled).toEqual([]);
  } finally {
    await served.close();
  }
});

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
  [{ stackName: "prod" }, "STACK_UNREADABLE", /failed for stack prod: .*no stack named 'prod'/],
  [{ output: "reciever" }, "CONFIG_MISSING", /no output reciever; its outputs are: .*receiver.*, text/],
  [{ output: "constructor" }, "CONFIG_MISSING", /has no output constructor/],
  [{ output: "url" }, "CONFIG_INVALID", /in the output url of stack dev cannot be used: it is not the JSON/],
  [{ workDir: "/nowhere" }, "STACK_UNREADABLE", /install the Pulumi CLI.*workDir is a folder/],
])("the source %p throws %s, without a secret in the error", async (source, code, says) => {
  const error = await thrownBy(() => fromStack(source));
  expect(error).toMatchObject({ name: "ReceiverConfigError", code, message: expect.stringMatching(says) });
  expect(leaked(error, [issued])).toEqual([]);
});

test("a preview reports every problem of the secrets before an endpoint is registered, and repeats none", async () => {
  const wrong = ["********", issued.slice(0, 18), issued, issued];
  project.program(`const { receiverConfig } = require("pulumi-webhook-endpoints");
const jobs = new WebhookEndpoint("new", { url: "https://hooks.example.com/new", type: "production" });
exports.receiver = receiverConfig({ endpoints: { jobs }, secrets: ${JSON.stringify(wrong)}, toleranceSeconds: -1 });
exports.one = receiverConfig({ secrets: pulumi.secret(${JSON.stringify(wrong[1])}) });
const hooks = new pulumi.ComponentResource("acme:Hooks", "hooks");
const given = { secrets: ${JSON.stringify(issued)} };
exports.mixed = receiverConfig({ endpoints: { jobs, hooks, none: undefined }, ...given });
exports.named = receiverConfig({ endpoints: { [given.secrets]: undefined, "\\u001b[31m": undefined }, ...given });
exports.none = receiverConfig({ endpoints: pulumi.output(undefined), ...given });
exports.list = receiverConfig({ endpoints: [jobs], ...given });
exports.text = receiverConfig({ endpoints: given.secrets, ...given });
exports.later = receiverConfig({ endpoints: pulumi.output("").apply(() => ({ later: hooks })), ...given });
exports.whole = receiverConfig({ endpoints: hooks, ...given });`);
  const { exitCode, output } = await project.pulumi("preview");
  expect(exitCode).not.toBe(0);
  expect(output.replaceAll(/\s+/g, " ")).toMatch(
    /receiverConfig: secret 1 of 4 is masked.*secret 2 of 4 is cut off.*secret 4 of 4 is the same.*toleranceSeconds must/,
  );
  expect(output).toContain("receiverConfig: secret 1 of 1 is cut off");
  expect(output).toMatch(/receiverConfig: "hooks" of endpoints has no id.*; "none" of endpoints has no id/);
  expect(output).toContain('receiverConfig: "later" of endpoints has no id, url and type');
  for (const kind of ["a resource", "undefined", "a list", "a string"])
    expect(output).toContain(`receiverConfig: endpoints is ${kind}: pass a map`);
  expect(output).toMatch(/receiverConfig: "\(not shown, .* of endpoints has no id.*; "\(not shown, /);
  expect(output).not.toContain("\u001b");
  expect(output).not.toContain("PromiseRejectionHandledWarning");
  expect(leaked(output, [issued])).toEqual([]);
});
