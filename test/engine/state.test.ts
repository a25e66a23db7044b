import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { Project } from "./project";

jest.setTimeout(300_000);

// What release 0.1.0 left: a stack's state (`pulumi stack export --show-secrets`, without times and places in the source)
// and the service's endpoints (the emulator's data file). Never to be edited: users' state cannot be either.
const recorded = join(__dirname, "fixtures");

/** The program that the state is of. Some of the endpoints were refreshed, some were not. */
const program = (adopted: string) => `
const staging = new WebhooksProvider("staging", { apiKey: "key-of-staging" });
const at = (path) => ({ url: "https://hooks.example.com/" + path, type: "production" });
new WebhookEndpoint("jobs", at("jobs"));
new WebhookEndpoint("filtered", { ...at("filtered"), type: "development", ip: "203.0.113.0/24" });
new WebhookEndpoint("confidential", { ...at(""), url: pulumi.secret("https://hooks.example.com/?token=t0ken") });
new WebhookEndpoint("staged", { url: "https://staging.example.com/jobs", type: "development" }, { provider: staging });
new WebhookEndpoint("adopted", { ...at("adopted"), adoptId: ${JSON.stringify(adopted)} });
new WebhookEndpoint("pending", at("pending")); // was registered, and the answer lost
`;

let folder: string;
let emulator: Emulator;
let project: Project;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "webhooks-state-"));
  const dataFile = join(folder, "service.json");
  copyFileSync(join(recorded, "service-0.1.0.json"), dataFile);
  emulator = await startEmulator({ dataFile, accounts: { "key-of-staging": "staging" } });
  project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
  });
  const state = readFileSync(join(recorded, "state-0.1.0.json"), "utf8");
  project.write("state.json", state.replaceAll("{{baseUrl}}", emulator.url));
  await project.succeed("stack", "import", "--file", "state.json");
});

afterEach(async () => {
  project.dispose();
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

const changes = () => emulator.requests.filter(({ method }) => method !== "GET");

describe("the state that the first release left", () => {
  it("the state of the first release previews clean, survives a refresh, and its pending registration is settled", async () => {
    const registered = Object.fromEntries(
      emulator.endpoints().map(({ url, id }) => [new URL(url).pathname, id]),
    );
    project.program(program(registered["/adopted"] ?? ""));
    // Providers of that release did not pass their names on. Recording one is a local update, once.
    const named = /staging update \[diff: \+webhooks:providerName\]/;
    const preview = await project.preview();
    expect(preview).toMatch(named);
    expect(preview).toMatch(/Resources:\s+~ 1 to update\s+\+-1 to replace\s+2 changes\. 6 unchanged/);

    await project.refresh();
    const after = Object.values(await project.endpoints()).map(({ id }) => id);
    expect(after.sort()).toEqual(
      emulator
        .endpoints()
        .map(({ id }) => id)
        .sort(),
    );

    expect(await project.preview()).toMatch(/Resources:\s+~ 1 to update\s+7 unchanged/);
    expect(await project.up()).toMatch(/Resources:\s+~ 1 updated\s+7 unchanged/);
    await project.preview("--expect-no-changes");
    expect(changes()).toEqual([]);
    expect(project.filesAtRest()).not.toMatch(/t0ken|key-of-staging/);
  });

  it("the state of the first release is destroyed, and no endpoint is left behind", async () => {
    await project.destroy();
    expect(emulator.endpoints()).toEqual([]);
    expect(changes().map(({ method }) => method)).toEqual(Array(6).fill("DELETE"));
  });
});
