import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HttpService } from "./httpService";
import { Project } from "./project";

jest.setTimeout(300_000);

// What release 0.1.0 left: a stack's state (`pulumi stack export --show-secrets`, without times and places in the source)
// and the service's endpoints. Never to be edited: users' state cannot be either.
const read = (name: string) => readFileSync(join(__dirname, "fixtures", name), "utf8");
type Recorded = { readonly id: string; readonly url: string; readonly createdAt: string };
const { accounts }: { accounts: Record<string, Recorded[]> } = JSON.parse(read("service-0.1.0.json"));

/** The program that the state is of. Some of the endpoints were refreshed, some were not. */
const program = (adopted = "") => `
const staging = new WebhooksProvider("staging", { apiKey: "key-of-staging" });
const at = (path) => ({ url: "https://hooks.example.com/" + path, type: "production" });
new WebhookEndpoint("jobs", at("jobs"));
new WebhookEndpoint("filtered", { ...at("filtered"), type: "development", ip: "203.0.113.0/24" });
new WebhookEndpoint("confidential", { ...at(""), url: pulumi.secret("https://hooks.example.com/?token=t0ken") });
new WebhookEndpoint("staged", { url: "https://staging.example.com/jobs", type: "development" }, { provider: staging });
new WebhookEndpoint("adopted", { ...at("adopted"), adoptId: ${JSON.stringify(adopted)} });
new WebhookEndpoint("pending", at("pending")); // was registered, and the response lost
`;

let service: HttpService;
let project: Project;
beforeEach(async () => {
  service = await HttpService.start({}, { staging: "key-of-staging" });
  service.accounts.set("emulator-api-key", "default");
  for (const [account, endpoints] of Object.entries(accounts))
    for (const each of endpoints) service.add({ ...each, made: Date.parse(each.createdAt) }, account);
  project = new Project({
    config: { "webhooks:baseUrl": service.url, "webhooks:apiKey": "emulator-api-key" },
  });
  project.write("state.json", read("state-0.1.0.json").replaceAll("{{baseUrl}}", service.url));
  await project.succeed("stack", "import", "--file", "state.json");
});
afterEach(async () => {
  project.dispose();
  await service.stop();
});

test("the state of the first release previews clean, refreshes, settles what is pending, and an up changes nothing", async () => {
  project.program(program(service.find("adopted")?.id));
  // Providers of that release did not pass their names on. Recording one is a local update, once.
  const preview = await project.preview();
  expect(preview).toMatch(/staging update \[diff: \+webhooks:providerName\]/);
  expect(preview).toMatch(/Resources:\s+~ 1 to update\s+\+-1 to replace\s+2 changes\. 6 unchanged/);
  await project.refresh();
  expect(Object.values(project.ids()).sort()).toEqual(service.endpoints.map(({ id }) => id).sort());
  expect(await project.up()).toMatch(/Resources:\s+~ 1 updated\s+7 unchanged/);
  expect(service.changes).toEqual([]);
  // The first `up` adds no hidden input.
  for (const { inputs } of Object.values(project.endpoints())) expect(inputs).not.toHaveProperty("__after");
  project.expectHidden("t0ken", "key-of-staging");
});

test("the state of the first release is destroyed with what is pending, and no endpoint is left behind", async () => {
  await project.destroy();
  expect(service.endpoints).toEqual([]);
  expect(service.changes).toEqual(Array(6).fill("delete"));
});
