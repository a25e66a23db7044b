// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how a YAML program refers to a value
import { join } from "node:path";
import { otherSecret, secret } from "../receiver/support";
import { closeServers, ours, serve } from "../validation/receivers";
import { API_KEY, HttpService } from "./httpService";
import { NativeProject, native } from "./nativeProject";
import { JAVASCRIPT } from "./project";

jest.setTimeout(300_000);

// One stack for all: each test begins with what the one before it left.
let service: HttpService;
let project: NativeProject;
let receiver: string;
let answer = ours(otherSecret);
beforeAll(async () => {
  service = await HttpService.start({}, { staging: "key-of-staging" });
  project = new NativeProject({ config: service.config });
  receiver = await serve((request, response) => answer(request, response));
});
afterAll(async () => {
  project.dispose();
  await closeServers();
  await service.stop();
});

const at = (path: string, more: object = {}) => ({
  ...{ url: `https://hooks.example.com/${path}`, type: "production" },
  ...more,
});
const jobs = at("jobs", { ip: "203.0.113.7" });
const call = (name: string, args: object) => ({
  "fn::invoke": { function: `webhooks:${name}`, arguments: args },
});
const secretOf = (value: string) => ({ "fn::secret": value });

/** Declares endpoints beside an explicit provider, a secret url, a validated receiver, what is only read, and functions. */
function declare(endpoints: object, readId: string, release: string): void {
  const proven = { url: receiver, secrets: [secret], timeoutSeconds: 1, triggers: [release] };
  const resources = {
    staging: {
      type: "pulumi:providers:webhooks",
      properties: { apiKey: secretOf("key-of-staging"), timeoutSeconds: 7 },
    },
    staged: native(at("staged"), { provider: "${staging}" }),
    confidential: native({
      url: secretOf("https://hooks.example.com/?token=c0nfidential"),
      type: "production",
    }),
    read: { type: "webhooks:WebhookEndpoint", get: { id: readId } },
    proven: { type: "webhooks:ReceiverValidation", properties: proven },
    validated: native(at("validated"), { dependsOn: ["${proven}"] }),
    ...endpoints,
  };
  const variables = {
    one: call("getWebhookEndpoint", { id: readId }),
    some: call("getWebhookEndpoints", { type: "development" }),
  };
  const outputs = {
    ...{ one: "${one.url}", some: "${some.endpoints[0].id}", read: "${read.url}" },
    confidential: "${confidential.url}",
  };
  project.yaml(resources, { variables, outputs });
}

let theirs: ReturnType<HttpService["add"]>;

test("a lost answer stays pending, and an endpoint whose receiver fails its validation is not registered", async () => {
  theirs = service.add({ ...at("theirs"), type: "development" });
  declare({ jobs: native(jobs), edited: native(at("edited")) }, theirs.id, "a");
  service.fault({ operation: "register", kind: "late-commit", delayMs: 8_000 });
  const output = await project.failUp("--continue-on-error");
  expect(output).toMatch(/… was sent.*REGISTRATION_PENDING/);
  expect(output).toMatch(/GENUINE_REFUSED/);
  expect(Object.values(project.ids()).filter((id) => id.startsWith("pending:"))).toHaveLength(1);
  expect(service.find("validated")).toBeUndefined();
});

test("the next up settles both, explicit providers are accounts, and functions read", async () => {
  answer = ours(secret);
  await project.up();
  const staged = { staged: at("staged"), validated: at("validated"), confidential: { type: "production" } };
  service.expectExactly(project, { jobs, edited: at("edited"), ...staged }, [theirs]);
  expect(service.changes).toEqual(Array(5).fill("register"));
  expect(service.find("staged")?.account).toBe("staging");
  const { url, id } = theirs;
  expect(await project.outputs()).toEqual({ one: url, some: id, read: url, confidential: "[secret]" });
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
  declare(
    { jobs: native(changed), edited: native(at("edited")), [name]: native(at("found")) },
    theirs.id,
    "b",
  );
  const output = await project.up("--refresh", "--diff");
  expect(output).toMatch(/ +~ type *: "production" => "development"/);
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
  project.yaml({}); // where the secrets are in plain text
  project.expectHidden("c0nfidential", "key-of-staging", API_KEY, secret);
});

test("a stack moves to the dynamic provider and back, and an endpoint that both declare is left as it is", async () => {
  const before = project.ids().edited;
  project.write("Pulumi.yaml", JAVASCRIPT);
  const aliases = [{ type: "webhooks:index:WebhookEndpoint" }];
  project.declare({ edited: at("edited", { opts: { aliases } }) });
  service.requests.length = 0;
  await project.up();
  expect(JSON.stringify(project.endpoints())).toContain("__provider");
  project.yaml({ edited: native(at("edited")) });
  await project.up();
  expect(JSON.stringify(project.endpoints())).not.toContain("__provider");
  expect(project.ids()).toEqual({ edited: before });
  expect(service.changes).not.toContain("register");
  service.expectExactly(project, { edited: at("edited") }, [theirs]);
});
