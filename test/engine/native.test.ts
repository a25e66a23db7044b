import { join } from "node:path";
import type { Registered } from "../provider/fakeService";
import { otherSecret, secret } from "../receiver/support";
import { closeServers, ours, serve } from "../validation/receivers";
import { HttpService } from "./httpService";
import { NativeProject } from "./nativeProject";
import { API_KEY, at, JAVASCRIPT } from "./project";

jest.setTimeout(300_000);

// One stack for all: each test begins with what the one before it left.
let service: HttpService;
let project: NativeProject;
/** Another stack's endpoint, which the program reads. */
let theirs: Registered;
let receiver: string;
let respond = ours(otherSecret);
beforeAll(async () => {
  service = await HttpService.start({}, { staging: "key-of-staging" });
  project = new NativeProject({ config: { ...service.config, "webhooks:timeoutSeconds": "6" } });
  theirs = service.add({ ...at("?token=th31rs"), type: "development" });
  receiver = await serve((request, response) => respond(request, response));
});
afterAll(async () => {
  project.dispose();
  await closeServers();
  await service.stop();
});

const jobs = at("jobs", { ip: "203.0.113.7" });
/** An endpoint in a YAML program. JSON is YAML. */
const native = (properties: object) => JSON.stringify({ type: "webhooks:WebhookEndpoint", properties });

/** Declares endpoints beside an explicit provider, a secret url, a validated receiver, what is only read, and functions. */
function declare(endpoints: Readonly<Record<string, object>>, release: string): void {
  const more = Object.entries(endpoints).map(([name, properties]) => `  ${name}: ${native(properties)}\n`);
  project.yaml(`resources:
  staging:
    type: pulumi:providers:webhooks
    properties: { apiKey: { "fn::secret": key-of-staging }, timeoutSeconds: ${release === "a" ? 70 : 80} }
  staged:
    type: webhooks:WebhookEndpoint
    properties: { url: "https://hooks.example.com/staged", type: production }
    options: { provider: "\${staging}", dependsOn: ["\${proven}"] }
  confidential:
    type: webhooks:WebhookEndpoint
    properties: { url: { "fn::secret": "https://hooks.example.com/?token=c0nfidential" }, type: production }
  read: { type: "webhooks:WebhookEndpoint", get: { id: ${theirs.id} } }
  proven:
    type: webhooks:ReceiverValidation
    properties: { url: "${receiver}", secrets: [${secret}], timeoutSeconds: 7, triggers: [${release}] }
  validated:
    type: webhooks:WebhookEndpoint
    properties: { url: "https://hooks.example.com/validated", type: production }
    options: { dependsOn: ["\${proven}"] }
${more.join("")}variables:
  one: { "fn::invoke": { function: "webhooks:getWebhookEndpoint", arguments: { id: ${theirs.id} } } }
  some: { "fn::invoke": { function: "webhooks:getWebhookEndpoints", arguments: { type: development } } }
outputs: { one: "\${one.url}", some: "\${some.endpoints[0].id}", read: "\${read.url}", confidential: "\${confidential.url}" }
`);
}

test("a registration without a response stays pending, and an endpoint whose receiver fails its validation is not registered", async () => {
  declare({ jobs, edited: at("edited") }, "a");
  service.fault({ operation: "register", kind: "late-commit", delayMs: 13_000 });
  const output = await project.failUp("--continue-on-error");
  expect(output).toMatch(/… was sent.*REGISTRATION_PENDING/);
  expect(output).toMatch(/GENUINE_REFUSED/);
  expect(Object.values(project.ids()).filter((id) => id.startsWith("pending:"))).toHaveLength(1);
  expect(service.find("validated")).toBeUndefined();
});

test("the next up settles both, explicit providers are accounts, and functions read", async () => {
  respond = ours(secret);
  await project.succeed("config", "set", "webhooks:timeoutSeconds", "60");
  await project.up();
  const staged = { staged: at("staged"), validated: at("validated"), confidential: { type: "production" } };
  service.expectExactly(project, { jobs, edited: at("edited"), ...staged }, [theirs]);
  expect(service.changes).toEqual(Array(5).fill("register"));
  expect(service.find("staged")?.account).toBe("staging");
  const [one, some, read, confidential] = Array(4).fill("[secret]");
  expect(await project.outputs()).toEqual({ one, some, read, confidential });
});

test("what `adopt --native` writes is imported, and an up puts right what drifted and replaces what changed", async () => {
  const found = service.add({ url: at("found").url });
  const adopt = ["adopt", found.id, "--native"];
  const { stdout } = await project.run(process.execPath, join(__dirname, "../../dist/cli/main.js"), ...adopt);
  project.write("adopted.json", stdout);
  service.requests.length = 0;
  const options = "--yes --skip-preview --protect=false --generate-code=false";
  await project.succeed("import", "--file", "adopted.json", ...options.split(" "));
  const [{ name }]: [{ name: string }] = JSON.parse(stdout).resources;

  const before = project.ids();
  Object.assign(service.find("edited") ?? {}, { url: "https://elsewhere.example.com/" });
  const changed = { ...jobs, type: "development" };
  declare({ jobs: changed, edited: at("edited"), [name]: at("found") }, "b");
  const output = await project.up("--refresh", "--diff");
  expect(output).toMatch(/ +~ type *: "production" => "development"/);
  // A change of an explicit provider updates it: to replace it would replace each of its endpoints.
  expect(output).toMatch(/ +~ timeoutSeconds *: 70 => 80/);
  expect(output).not.toMatch(/account|baseUrl/);
  expect([...service.changes].sort()).toEqual(["delete", "delete", "register", "register"]);
  const after = project.ids();
  const same = [name, "staged", "validated", "confidential"];
  expect(same.map((each) => after[each])).toEqual(same.map((each) => before[each]));
  expect(service.endpoints).toContainEqual(expect.objectContaining({ id: after.jobs, ...changed }));
  expect(service.find("edited")?.id).toBe(after.edited);
  const { inputs, outputs } = project.endpoints()[name] ?? {};
  expect(outputs?.createdAt).toEqual(expect.any(String));
  expect(JSON.stringify({ inputs, outputs }).length).toBeLessThan(600);
  expect(JSON.stringify({ inputs, outputs })).not.toMatch(/__|external/);
  project.yaml(""); // where the secrets are in plain text
  project.expectHidden("c0nfidential", "th31rs", "key-of-staging", API_KEY, secret);
});

test("a stack moves to the dynamic provider and back, and an endpoint that both declare is left as it is", async () => {
  const before = project.ids().edited;
  project.write("Pulumi.yaml", JAVASCRIPT);
  const aliases = [{ type: "webhooks:index:WebhookEndpoint" }];
  project.declare({ edited: at("edited", { opts: { aliases } }) });
  service.requests.length = 0;
  await project.up();
  expect(JSON.stringify(project.endpoints())).toContain("__provider");
  project.yaml(`resources: { edited: ${native(at("edited"))} }`);
  await project.up();
  expect(JSON.stringify(project.endpoints())).not.toContain("__provider");
  expect(project.ids()).toEqual({ edited: before });
  expect(service.changes).not.toContain("register");
  service.expectExactly(project, { edited: at("edited") }, [theirs]);
});
