// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how a YAML program refers to a value
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { NativeProject } from "./nativeProject";

jest.setTimeout(300_000);

let emulator: Emulator;
let project: NativeProject;
let folder: string;

async function start(options: Parameters<typeof startEmulator>[0] = {}): Promise<void> {
  emulator = await startEmulator(options);
  project = new NativeProject({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
  });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "webhooks-move-"));
});

afterEach(async () => {
  project.dispose();
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

const changes = () => emulator.requests.filter(({ method }) => method !== "GET");
const at = (path: string, more: object = {}) => ({
  url: `https://hooks.example.com/${path}`,
  type: "production",
  ...more,
});
const nativeType = "webhooks:index:WebhookEndpoint";

/** Makes a program of the dynamic provider current. */
function dynamicProgram(endpoints: Readonly<Record<string, object>>): void {
  project.write(
    "Pulumi.yaml",
    "name: test\nruntime: { name: nodejs, options: { typescript: false } }\nmain: index.js\n",
  );
  project.declare(endpoints as never);
}

/** Endpoints of a YAML program: the schema has the alias of the dynamic type. */
function nativeResources(endpoints: Readonly<Record<string, object>>): object {
  const resources = Object.entries(endpoints).map(([name, properties]) => [
    name,
    { type: "webhooks:WebhookEndpoint", properties },
  ]);
  return Object.fromEntries(resources);
}

async function idsAndCode(): Promise<{ ids: Record<string, string | undefined>; text: string }> {
  const endpoints = await project.endpoints();
  const ids = Object.fromEntries(Object.entries(endpoints).map(([name, { id }]) => [name, id]));
  return { ids, text: JSON.stringify(endpoints) };
}

test("a stack moves from the dynamic provider to the native plugin and back, without a request that changes the service", async () => {
  await start();
  const endpoints = { jobs: at("jobs", { ip: "203.0.113.7" }), sandbox: at("sandbox") };
  dynamicProgram(endpoints);
  await project.up();
  await project.refresh("--target", project.urn("jobs"));
  const before = await idsAndCode();
  expect(before.text).toContain("__provider");
  emulator.clearRequests();

  project.yaml(nativeResources(endpoints));
  await project.up();
  const native = await idsAndCode();
  expect(native.ids).toEqual(before.ids);
  expect(native.text).not.toContain("__provider");
  expect(native.text).toContain(nativeType);
  expect(await project.preview("--expect-no-changes")).toMatch(/3 unchanged/);
  expect(await project.up()).toMatch(/3 unchanged/);
  expect(await project.refresh()).toMatch(/3 unchanged/);

  const aliases = [{ type: nativeType }];
  const back = Object.entries(endpoints).map(([name, args]) => [name, { ...args, opts: { aliases } }]);
  dynamicProgram(Object.fromEntries(back));
  await project.up();
  const dynamic = await idsAndCode();
  expect(dynamic.ids).toEqual(before.ids);
  expect(dynamic.text).toContain("__provider");
  expect(await project.up()).toMatch(/3 unchanged/);
  expect(await project.refresh()).toMatch(/3 unchanged/);
  expect(changes()).toEqual([]);
});

test("the state that the first release left moves to the native plugin, and what was pending is settled", async () => {
  const recorded = join(__dirname, "fixtures");
  const dataFile = join(folder, "service.json");
  copyFileSync(join(recorded, "service-0.1.0.json"), dataFile);
  await start({ dataFile, accounts: { "key-of-staging": "staging" } });
  const state = readFileSync(join(recorded, "state-0.1.0.json"), "utf8");
  project.write("state.json", state.replaceAll("{{baseUrl}}", emulator.url));
  await project.succeed("stack", "import", "--file", "state.json");
  const registered = emulator.endpoints();
  const adoptId = registered.find(({ url }) => url.endsWith("/adopted"))?.id;

  // Between explicit providers the engine replaces: their endpoints go out of the state and are imported.
  const { staged } = await project.endpoints();
  await project.succeed("state", "delete", staged?.urn ?? "", "--yes");
  const staging = {
    type: "pulumi:providers:webhooks",
    properties: { apiKey: { "fn::secret": "key-of-staging" } },
  };
  const resources = nativeResources({
    jobs: at("jobs"),
    filtered: at("filtered", { type: "development", ip: "203.0.113.0/24" }),
    confidential: at("", { url: { "fn::secret": "https://hooks.example.com/?token=t0ken" } }),
    adopted: at("adopted", { adoptId }),
    pending: at("pending"),
  });
  project.yaml({ staging, ...resources });
  const early = await project.pulumi("up", "--yes", "--skip-preview");
  expect(early.output).toMatch(/pending, so the resource cannot move.*STILL_PENDING/);
  expect(changes()).toEqual([]);
  await project.refresh();
  await project.up();
  const provider = "staging=urn:pulumi:dev::test::pulumi:providers:webhooks::staging";
  const options = ["--provider", provider, "--yes", "--protect=false"];
  await project.succeed("import", nativeType, "staged", staged?.id ?? "", ...options);
  const imported = {
    type: nativeType,
    properties: { url: "https://staging.example.com/jobs", type: "development" },
    options: { provider: "${staging}" },
  };
  project.yaml({ staging, ...resources, staged: imported });
  expect(await project.up()).toMatch(/8 unchanged/);

  const { ids, text } = await idsAndCode();
  expect(Object.values(ids).sort()).toEqual(registered.map(({ id }) => id).sort());
  expect(text).not.toContain("__provider");
  expect(await project.preview("--expect-no-changes")).toMatch(/8 unchanged/);
  expect(changes()).toEqual([]);
  project.yaml({});
  expect(project.filesAtRest()).not.toContain("t0ken");
});
