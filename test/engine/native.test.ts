// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how a YAML program refers to a value
import { API_KEY, HttpService } from "./httpService";
import { NativeProject } from "./nativeProject";

jest.setTimeout(300_000);

let service: HttpService;
let project: NativeProject;
beforeEach(async () => {
  service = await HttpService.start({}, { staging: "key-of-staging" });
  project = new NativeProject({ config: service.config });
});
afterEach(async () => {
  project.dispose();
  await service.stop();
});

const at = (path: string, more: object = {}) => ({
  ...{ url: `https://hooks.example.com/${path}`, type: "production" },
  ...more,
});
const native = (properties: object, more: object = {}) => ({
  ...{ type: "webhooks:WebhookEndpoint", properties },
  ...more,
});
const ids = async () =>
  Object.fromEntries(Object.entries(await project.endpoints()).map(([name, { id }]) => [name, id]));
test("a YAML program goes from the first up over drift, a replacement and an import to destroy, and its state is small", async () => {
  const jobs = at("jobs", { ip: "203.0.113.0/24" });
  const program = (more: object = {}) => project.yaml({ jobs: native({ ...jobs, ...more }) });
  program();
  await project.up();
  const { jobs: id } = await ids();
  expect(service.endpoints).toMatchObject([{ id, ...jobs }]);
  expect(await project.up("--refresh")).toMatch(/2 unchanged/);
  const [{ inputs, outputs } = {}] = Object.values(await project.endpoints());
  expect(outputs?.createdAt).toEqual(expect.any(String));
  expect(JSON.stringify({ inputs, outputs }).length).toBeLessThan(600);
  expect(JSON.stringify({ inputs, outputs })).not.toMatch(/__|external/);

  program({ type: "development" });
  service.requests.length = 0;
  const replacing = await project.up("--diff");
  expect(replacing).toMatch(/ +~ type *: "production" => "development"/);
  expect(replacing).not.toMatch(/account|baseUrl/);
  expect(service.changes).toEqual(["register", "delete"]);
  Object.assign(service.endpoints[0] ?? {}, { url: "https://elsewhere.example.com/" });
  await project.up("--refresh");
  expect(service.endpoints).toMatchObject([{ url: jobs.url, type: "development" }]);

  const theirs = service.add({ url: at("theirs").url });
  const imported = await project.succeed(
    ...["import", "webhooks:index:WebhookEndpoint", "theirs", theirs.id, "--yes", "--protect=false"],
  );
  expect(imported).toMatch(/type: production[\s\S]*url: https:\/\/hooks\.example\.com\/theirs/);
  project.yaml({ jobs: native({ ...jobs, type: "development" }), theirs: native(at("theirs")) });
  expect(await project.up()).toMatch(/3 unchanged/);
  await project.destroy();
  expect(service.endpoints).toEqual([]);
  expect(project.filesAtRest() + project.transcript).not.toContain(API_KEY);
});

test("a lost answer stays pending until the next up", async () => {
  project.yaml({ jobs: native(at("jobs")) });
  service.fault({ operation: "register", kind: "late-commit", delayMs: 8_000 });
  const output = await project.fail("up", "--yes", "--skip-preview");
  expect(output).toMatch(/… was sent.*REGISTRATION_PENDING/);
  expect((await ids()).jobs).toMatch(/^pending:/);
  await project.up();
  expect(await ids()).toEqual({ jobs: service.find("jobs")?.id });
  expect(service.changes).toEqual(["register"]);
});

test("secrets stay secret in both directions, explicit providers are accounts, and functions read", async () => {
  const theirs = service.add({ url: at("theirs").url, type: "development" });
  const call = (name: string, args: object) => ({
    "fn::invoke": { function: `webhooks:${name}`, arguments: args },
  });
  const staging = {
    type: "pulumi:providers:webhooks",
    properties: { apiKey: { "fn::secret": "key-of-staging" }, timeoutSeconds: 7 },
  };
  const confidential = at("", { url: { "fn::secret": "https://hooks.example.com/?token=t0ken" } });
  project.yaml(
    {
      ...{ staging, confidential: native(confidential) },
      staged: native(at("staged"), { options: { provider: "${staging}" } }),
      read: { type: "webhooks:WebhookEndpoint", get: { id: theirs.id } },
    },
    {
      variables: {
        one: call("getWebhookEndpoint", { id: theirs.id }),
        some: call("getWebhookEndpoints", { type: "development" }),
      },
      outputs: {
        ...{ one: "${one.url}", some: "${some.endpoints[0].id}", read: "${read.url}" },
        confidential: "${confidential.url}",
      },
    },
  );
  await project.up();
  const { url, id } = theirs;
  expect(await project.outputs()).toEqual({ one: url, some: id, read: url, confidential: "[secret]" });
  expect(service.find("staged")?.account).toBe("staging");
  await project.destroy();
  expect(service.endpoints).toEqual([theirs]);
  project.yaml({}); // where they are in plain text
  expect(project.filesAtRest() + project.transcript).not.toMatch(/t0ken|key-of-staging/);
});

test("a stack moves from the dynamic provider to the native plugin and back, without a request that changes the service", async () => {
  const dynamic = "name: test\nruntime: { name: nodejs, options: { typescript: false } }\nmain: index.js\n";
  const jobs = at("jobs", { ip: "203.0.113.7" });
  project.write("Pulumi.yaml", dynamic);
  project.declare({ jobs });
  await project.up();
  const before = await ids();
  expect(JSON.stringify(await project.endpoints())).toContain("__provider");
  project.yaml({ jobs: native(jobs) });
  await project.up();
  expect(JSON.stringify(await project.endpoints())).not.toContain("__provider");
  expect(await project.up("--refresh")).toMatch(/2 unchanged/);
  project.write("Pulumi.yaml", dynamic);
  project.declare({ jobs: { ...jobs, opts: { aliases: [{ type: "webhooks:index:WebhookEndpoint" }] } } });
  await project.up();
  expect(await ids()).toEqual(before);
  expect(service.changes).toEqual(["register"]);
});
