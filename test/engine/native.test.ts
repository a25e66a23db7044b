// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how a YAML program refers to a value
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { type Emulator, type LoggedRequest, startEmulator } from "../../src/emulator";
import { secret } from "../receiver/support";
import { AnotherService, anotherKey } from "./anotherService";
import { NativeProject } from "./nativeProject";
import type { StateResource } from "./project";

jest.setTimeout(300_000);

let emulator: Emulator;
let project: NativeProject;

beforeEach(async () => {
  emulator = await startEmulator({ accounts: { "key-of-staging": "staging" } });
  project = new NativeProject({
    config: {
      "webhooks:baseUrl": emulator.url,
      "webhooks:apiKey": emulator.apiKey,
      "webhooks:timeoutSeconds": "5",
    },
  });
});

afterEach(async () => {
  project.dispose();
  await emulator.close();
});

const at = (path: string, more: object = {}) => ({
  url: `https://hooks.example.com/${path}`,
  type: "production",
  ...more,
});
const changes = (): readonly LoggedRequest[] => emulator.requests.filter(({ method }) => method !== "GET");
const urls = () => emulator.endpoints().map(({ url }) => url);
const idOf = async (name: string) => (await project.endpoints())[name]?.id ?? "";
const bytesOf = ({ inputs, outputs }: StateResource) => JSON.stringify({ inputs, outputs }).length;

test("a YAML program goes from the first up to destroy, and its state is small", async () => {
  const jobs = at("jobs", { ip: "203.0.113.0/24" });
  const outputs = { id: "${jobs.id}", url: "${jobs.url}", ip: "${jobs.ip}", created: "${jobs.createdAt}" };
  project.endpointsInYaml({ jobs }, { outputs });
  expect(await project.preview()).toMatch(/\+ 2 to create/);
  expect(changes()).toEqual([]);
  await project.up();
  expect(emulator.endpoints()).toMatchObject([jobs]);
  const id = await idOf("jobs");
  expect(await project.outputs()).toMatchObject({ id, url: jobs.url, ip: "203.0.113.0/24" });

  emulator.clearRequests();
  expect(await project.up()).toMatch(/2 unchanged/);
  expect(await project.refresh()).toMatch(/2 unchanged/);
  expect(await project.preview("--diff", "--expect-no-changes")).toMatch(/2 unchanged/);
  expect(changes()).toEqual([]);
  const [recorded] = Object.values(await project.endpoints());
  expect(recorded?.outputs?.createdAt).toEqual(expect.any(String));
  expect(bytesOf(recorded as StateResource)).toBeLessThan(600);
  expect(JSON.stringify(recorded)).not.toMatch(/__provider|__resourceName|external/);

  project.endpointsInYaml({ jobs: { ...jobs, type: "development" } }, { outputs });
  const replacing = await project.preview("--diff");
  expect(replacing).toMatch(/ +~ type *: "production" => "development"\n[\s\S]*1 to replace/);
  expect(replacing).not.toMatch(/account|baseUrl/);
  await project.up();
  expect(changes().map(({ method }) => method)).toEqual(["POST", "DELETE"]);
  expect(emulator.endpoints()).toMatchObject([{ url: jobs.url, type: "development" }]);

  emulator.edit(await idOf("jobs"), { url: "https://elsewhere.example.com/" });
  expect(await project.refresh()).toMatch(/~ 1 updated/);
  await project.up();
  expect(urls()).toEqual([jobs.url]);
  emulator.remove(await idOf("jobs"));
  expect(await project.refresh()).toMatch(/jobs deleted/);
  await project.up();
  expect(urls()).toEqual([jobs.url]);

  await project.destroy();
  expect(emulator.endpoints()).toEqual([]);
  expect(project.filesAtRest() + project.transcript).not.toContain(emulator.apiKey);
});

test("a service of another make works from YAML by configuration alone", async () => {
  const service = new AnotherService();
  const other = new NativeProject({
    config: {
      "webhooks:baseUrl": await service.listen(),
      "webhooks:apiKey": anotherKey,
      "webhooks:apiKeyHeader": "Authorization",
      "webhooks:apiKeyScheme": "Bearer",
    },
  });
  try {
    const spelled = { url: "HTTPS://Hooks.Example.COM:443", type: "production" };
    const endpoints = { spelled, plain: { ...at("plain"), ip: "2001:db8::/32" } };
    other.endpointsInYaml(endpoints);
    await other.up();
    service.changes.length = 0;
    expect(await other.up("--refresh")).toMatch(/3 unchanged/);
    expect(await other.preview("--expect-no-changes")).toMatch(/3 unchanged/);
    expect(service.changes).toEqual([]);

    service.hooks.delete((await other.endpoints()).plain?.id ?? "");
    expect(await other.refresh()).toMatch(/plain deleted/);
    other.endpointsInYaml({ ...endpoints, spelled: at("moved") });
    expect(await other.up()).toMatch(/\+ 1 created[\s\S]*1 replaced/);
    const [id] = [...service.hooks].find(([, { url }]) => url.endsWith("/moved")) ?? [];
    expect((await other.endpoints()).spelled?.id).toBe(id);

    service.hooks.set("9", { ...([...service.hooks.values()][0] as never as object), id: "9" } as never);
    const imported = await other.succeed(
      ...["import", "webhooks:index:WebhookEndpoint", "ninth", "9", "--yes", "--protect=false"],
    );
    expect(imported).toMatch(/ninth:\s+type: webhooks:WebhookEndpoint/);
    other.endpointsInYaml({});
    await other.destroy();
    expect(service.hooks.size).toBe(0);
    expect(other.transcript + other.filesAtRest()).not.toContain(anotherKey);
  } finally {
    other.dispose();
    await service.close();
  }
});

test("a lost answer leaves a pending registration, which the next up settles", async () => {
  project.endpointsInYaml({ jobs: at("jobs") });
  emulator.fault({ operation: "register", kind: "late-commit", delayMs: 14_000 });
  const { exitCode, output } = await project.pulumi("up", "--yes", "--skip-preview");
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/the registration of https:\/\/hooks\.example\.com\/… .*REGISTRATION_PENDING/);
  expect(await idOf("jobs")).toMatch(/^pending:/);
  while (emulator.endpoints().length < 1) await new Promise((resolve) => setTimeout(resolve, 100));

  await project.up();
  expect(changes().map(({ operation }) => operation)).toEqual(["register"]);
  expect(await idOf("jobs")).toBe(emulator.endpoints()[0]?.id);
  expect(await project.preview("--expect-no-changes")).toMatch(/2 unchanged/);
});

test("bad arguments and settings fail the preview all at once", async () => {
  project.endpointsInYaml({ jobs: { url: "hooks.example.com", type: "prod", ip: "x", ifExists: "maybe" } });
  const { exitCode, output } = await project.pulumi("preview");
  expect(exitCode).not.toBe(0);
  for (const name of ["url", "type", "ip", "ifExists"])
    expect(output).toMatch(new RegExp(`\\b${name} must be`));

  project.endpointsInYaml({ jobs: at("jobs") });
  emulator.add(at("jobs") as never);
  expect((await project.pulumi("preview")).output).toMatch(
    /the service already has .*[\s\S]*ENDPOINT_EXISTS/,
  );
  await project.succeed("config", "rm", "webhooks:apiKey");
  expect((await project.pulumi("preview")).output).toMatch(/API key is missing.*SETTINGS_INVALID/);
});

test("pulumi import prints program text that changes nothing, and an unknown id is a clear error", async () => {
  const { id } = emulator.add({ url: "https://hooks.example.com/theirs", type: "development" });
  const command = (name: string, theirs: string) =>
    ["import", "webhooks:index:WebhookEndpoint", name, theirs, "--yes", "--protect=false"] as const;
  const imported = await project.succeed(...command("theirs", id));
  expect(imported).not.toMatch(/already has/);
  const [, program = ""] = /\n(resources:\n(?: .*\n)*)/.exec(imported) ?? [];
  expect(program).toMatch(/type: development[\s\S]*url: https:\/\/hooks\.example\.com\/theirs/);
  project.write("Pulumi.yaml", `name: test\nruntime: yaml\n${program}`);
  expect(await project.up()).toMatch(/2 unchanged/);
  expect(await project.refresh()).toMatch(/2 unchanged/);
  expect(await project.preview("--expect-no-changes")).toMatch(/2 unchanged/);
  expect(changes()).toEqual([]);

  const missing = await project.pulumi(...command("missing", "wh_missing"));
  expect(missing.exitCode).not.toBe(0);
  expect(missing.output).toMatch(/no endpoint wh_missing.*ENDPOINT_NOT_FOUND/);
});

test("200 endpoints are refreshed by at most three requests", async () => {
  const names = Array.from({ length: 200 }, (_, index) => `e${index}`);
  project.endpointsInYaml(Object.fromEntries(names.map((name) => [name, at(name)])));
  await project.up();
  expect(emulator.endpoints()).toHaveLength(200);
  emulator.clearRequests();
  expect(await project.refresh()).toMatch(/201 unchanged/);
  expect(emulator.requests.length).toBeLessThanOrEqual(3);
});

test("secrets stay secret in both directions, explicit providers are accounts, and functions read", async () => {
  const { id } = emulator.add({ url: "https://hooks.example.com/theirs", type: "development" });
  const resources = {
    staging: {
      type: "pulumi:providers:webhooks",
      properties: { apiKey: { "fn::secret": "key-of-staging" }, timeoutSeconds: 7 },
    },
    staged: {
      type: "webhooks:WebhookEndpoint",
      properties: at("staged"),
      options: { provider: "${staging}" },
    },
    confidential: {
      type: "webhooks:WebhookEndpoint",
      properties: at("", { url: { "fn::secret": "https://hooks.example.com/?token=t0ken" } }),
    },
    read: { type: "webhooks:WebhookEndpoint", get: { id } },
  };
  const variables = {
    one: { "fn::invoke": { function: "webhooks:getWebhookEndpoint", arguments: { id } } },
    some: { "fn::invoke": { function: "webhooks:getWebhookEndpoints", arguments: { type: "development" } } },
    all: { "fn::invoke": { function: "webhooks:getWebhookEndpoints", arguments: {} } },
  };
  const outputs = {
    one: "${one.url}",
    some: "${some.endpoints[0].id}",
    read: "${read.url}",
    confidential: "${confidential.url}",
    all: "${all.endpoints}",
  };
  project.yaml(resources, { variables, outputs });
  await project.up();
  expect(await project.outputs()).toMatchObject({
    one: "https://hooks.example.com/theirs",
    some: id,
    read: "https://hooks.example.com/theirs",
    confidential: "[secret]",
  });
  expect(emulator.endpoints("staging").map(({ url }) => url)).toEqual(["https://hooks.example.com/staged"]);
  expect(await project.refresh()).toMatch(/5 unchanged/);
  // The state knows that the confidential endpoint's url is a secret, also before the program declares it: adoptId makes it wait.
  Object.assign(resources.confidential.properties, { adoptId: "${all.endpoints[0].id}" });
  project.yaml(resources, { variables, outputs });
  await project.up();
  expect(await project.outputs()).toMatchObject({ all: "[secret]" });
  emulator.clearRequests();
  expect(await project.preview("--expect-no-changes")).toMatch(/unchanged/);
  await project.destroy();
  expect(urls()).toEqual(["https://hooks.example.com/theirs"]);
  project.yaml({}); // where they are in plain text
  expect(project.filesAtRest() + project.transcript).not.toMatch(/t0ken|key-of-staging/);
});

/** The command lines of the processes that were started from the project's folder. */
function processes(): string[] {
  const all = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  return all.filter((line) => line.includes(`${project.folder}/plugins/`));
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 50));

/** Ends an `up` while the answer of its registration is on its way, and waits until its plugin has ended too. */
async function endedUp(signal: NodeJS.Signals): Promise<void> {
  project.endpointsInYaml({ jobs: at("jobs") });
  await project.preview();
  emulator.fault({ operation: "register", kind: "delay", delayMs: 4_000 });
  const args = ["up", "--yes", "--skip-preview", "--non-interactive"];
  const cli = spawn("pulumi", args, { cwd: project.folder, env: project.env, stdio: "ignore" });
  const ended = once(cli, "exit");
  while (emulator.endpoints().length === 0) await soon();
  expect(processes()).not.toEqual([]);
  cli.kill(signal);
  await ended;
  for (const deadline = Date.now() + 10_000; processes().length > 0 && Date.now() < deadline; ) await soon();
  expect(processes()).toEqual([]);
}

/** Holds that the next `up` keeps the one endpoint, and that it was registered once. */
async function expectOneRegistration(): Promise<void> {
  await project.up();
  expect(await project.preview("--expect-no-changes")).toMatch(/2 unchanged/);
  expect(await idOf("jobs")).toBe(emulator.endpoints()[0]?.id);
  expect(changes().map(({ operation }) => operation)).toEqual(["register"]);
}

test("a run that Ctrl-C ends leaves no plugin behind, and what it sent is in the state", async () => {
  await endedUp("SIGINT");
  expect(await idOf("jobs")).toBe(emulator.endpoints()[0]?.id);
  await expectOneRegistration();
});

test("Ctrl-C ends every wait, and a registration that got no answer stays pending", async () => {
  await project.setConfig("webhooks:timeoutSeconds", "300");
  const proven = {
    type: "webhooks:ReceiverValidation",
    properties: { url: "http://127.0.0.1:1/", secrets: [secret], timeoutSeconds: 300 },
  };
  const endpoint = (path: string) => ({ type: "webhooks:WebhookEndpoint", properties: at(path) });
  project.yaml({ proven, lost: endpoint("a"), refused: endpoint("b") });
  emulator.fault({ operation: "register", kind: "reset-before" });
  const [status, headers] = [429, { "retry-after": "60" }];
  const refused = emulator.fault({ operation: "register", kind: "status", status, headers });
  const args = ["up", "--yes", "--skip-preview", "--non-interactive"];
  const cli = spawn("pulumi", args, { cwd: project.folder, env: project.env });
  const printed = Promise.all([text(cli.stdout), text(cli.stderr)]);
  while (refused.hits === 0) await soon();
  const cancelledAt = Date.now();
  cli.kill("SIGINT");
  expect((await printed).join("")).toMatch(/before the receiver was validated.*ABORTED/);
  expect(Date.now() - cancelledAt).toBeLessThan(40_000);
  expect(processes()).toEqual([]);
  const recorded = Object.values(await project.endpoints());
  expect(recorded.map(({ id }) => id)).toEqual([expect.stringMatching(/^pending:/)]);
});

test("a run that is killed leaves no plugin behind, and the next up names what it registered, which adoptId takes over", async () => {
  await endedUp("SIGKILL");
  await project.succeed("cancel", "--yes");
  const [{ id = "" } = {}] = emulator.endpoints();
  const { exitCode, output } = await project.pulumi("up", "--yes", "--skip-preview");
  expect(exitCode).not.toBe(0);
  expect(output).toContain(`set adoptId: "${id}"`);
  expect(output).toContain("REGISTRATION_IN_DOUBT");
  project.endpointsInYaml({ jobs: at("jobs", { adoptId: id }) });
  await expectOneRegistration();
});
