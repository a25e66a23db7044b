import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { type Emulator, startEmulator } from "../../src/emulator";
import { JAVASCRIPT, Project } from "./project";

jest.setTimeout(300_000);

const run = promisify(execFile);
const root = join(__dirname, "../..");

/** The files of a program, by their names. Each declares one endpoint, `jobs`, and has its url as the output `url`. */
type Program = Readonly<Record<string, string>>;

const commonJs = `
const { WebhookEndpoint } = require("pulumi-webhook-endpoints");
const jobs = new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" });
exports.url = jobs.url;
`;

const typescript = {
  "Pulumi.yaml": "name: test\nruntime: nodejs\n",
  "package.json": '{ "main": "index.ts" }',
  // What `pulumi new typescript` wrote for years.
  "tsconfig.json": JSON.stringify({
    compilerOptions: { strict: true, target: "es2016", module: "commonjs", moduleResolution: "node" },
    files: ["index.ts"],
  }),
  "index.ts": `
import * as pulumi from "@pulumi/pulumi";
import { EndpointType, getWebhookEndpoint, getWebhookEndpoints, receiverConfig, WebhookEndpoint, WebhookEndpointArgs, WebhooksProvider } from "pulumi-webhook-endpoints";
const type: EndpointType = "production";
const args: WebhookEndpointArgs = { url: pulumi.output("https://hooks.example.com/jobs"), type };
const provider = new WebhooksProvider("account", { timeoutSeconds: 20 });
const jobs = new WebhookEndpoint("jobs", args);
const secrets = [pulumi.secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
export const receiver = receiverConfig({ endpoints: { jobs }, secrets });
export const known: pulumi.Output<string[]> = getWebhookEndpoints({ type: "development" }, { provider }).apply((all) => all.map(({ url }) => url));
export const createdAt: pulumi.Output<string | null> = getWebhookEndpoint({ id: jobs.id }, { provider }).createdAt;
export const url: pulumi.Output<string> = jobs.url;
`,
};

const { devDependencies, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// One stack for all: the first program registers its endpoint, and to each other one it is unchanged.
let emulator: Emulator;
let project: Project;
beforeAll(async () => {
  emulator = await startEmulator();
  project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
    env: { PULUMI_NODEJS_TRANSPILE_ONLY: "false" },
  });
});
afterAll(async () => {
  project.dispose();
  await emulator.close();
});

function use(program: Program): void {
  const files = { "Pulumi.yaml": JAVASCRIPT, "package.json": "{}", ...program };
  for (const [name, text] of Object.entries(files)) project.write(name, text);
}

async function expectToWork(program: Program): Promise<void> {
  use(program);
  await project.up();
  const { jobs } = project.ids();
  expect(emulator.endpoints()).toMatchObject([{ id: jobs, url: "https://hooks.example.com/jobs" }]);
  const [stack] = project.state().resources ?? [];
  expect(stack?.outputs).toMatchObject({ url: "https://hooks.example.com/jobs" });
  expect(emulator.requests.filter(({ method }) => method !== "GET")).toHaveLength(1);
}

test("a program in ECMAScript modules works", () =>
  expectToWork({
    "package.json": '{ "type": "module" }',
    "index.js": `
import { WebhookEndpoint } from "pulumi-webhook-endpoints";
const jobs = new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" });
export const url = await Promise.resolve(jobs.url);
`,
  }));

test("a program that esbuild bundles, with this package in it, works", async () => {
  const { outputFiles } = await build({
    stdin: { contents: commonJs, resolveDir: root },
    ...{ bundle: true, platform: "node", external: ["@pulumi/pulumi"], write: false },
  });
  await expectToWork({ "index.js": outputFiles[0]?.text ?? "" });
});

describe("installed by pnpm from the packed package", () => {
  const folder = mkdtempSync(join(tmpdir(), "webhooks-pnpm-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Makes a package with these dependencies, installs them, and gives the folder that holds them. */
  async function install(dependencies: object): Promise<string> {
    const cwd = write("all", { dependencies });
    const args = ["-y", "pnpm@9.15.9", "install", "--ignore-scripts", "--store-dir", join(folder, "store")];
    const places = ["CACHE", "STATE", "DATA"].map((kind) => [`XDG_${kind}_HOME`, join(folder, kind)]);
    await run("npx", args, { cwd, env: { ...process.env, ...Object.fromEntries(places) } });
    return join(cwd, "node_modules");
  }

  function write(name: string, manifest: object, index = ""): string {
    const place = join(folder, name);
    mkdirSync(place);
    writeFileSync(join(place, "package.json"), JSON.stringify({ name, ...manifest }));
    writeFileSync(join(place, "index.js"), index);
    return place;
  }

  const [newest, oldest] = [devDependencies, peerDependencies].map((versions): string =>
    versions["@pulumi/pulumi"].replace("^", ""),
  );
  let modules: string;
  beforeAll(async () => {
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
    const [packed]: { filename: string }[] = JSON.parse((await run("npm", args, { cwd: root })).stdout);
    const ours = { "pulumi-webhook-endpoints": `file:${join(folder, packed?.filename ?? "")}` };
    const its = { version: "1.0.0", peerDependencies: { "@pulumi/pulumi": "*" }, dependencies: ours };
    const acme = `file:${write("acme", its, commonJs)}`;
    // It brings the oldest SDK, and thereby a second copy of this package.
    const old = { version: "1.0.0", dependencies: { "@pulumi/pulumi": oldest, ...ours } };
    const index = `module.exports = require("pulumi-webhook-endpoints").WebhookEndpoint;`;
    const hooks = `file:${write("hooks", old, index)}`;
    modules = await install({ "@pulumi/pulumi": newest, ...ours, acme, hooks });
  });
  beforeEach(() => project.useModules(modules));

  test("a program in TypeScript without its own compiler works and has its types checked", async () => {
    // Pulumi looks for a compiler from where it is itself, and takes its vendored 3.8 when there is none.
    const sdk = createRequire(realpathSync(join(project.folder, "node_modules/@pulumi/pulumi/package.json")));
    expect(() => sdk.resolve("typescript")).toThrow(/Cannot find module/);

    await expectToWork(typescript);
    use({ ...typescript, "index.ts": typescript["index.ts"].replace('"production"', '"prod"') });
    expect(await project.fail("preview")).toMatch(/TS2322: Type '"prod"' is not assignable/);
  });

  test("a program that gets its endpoints through another package works when it lists this one too", () =>
    expectToWork({ "index.js": 'module.exports = require("acme");' }));

  test("a program on the oldest allowed @pulumi/pulumi works in every verb", async () => {
    project.useModules(dirname(realpathSync(join(modules, "hooks"))));
    const sdk = readFileSync(join(project.folder, "node_modules/@pulumi/pulumi/package.json"), "utf8");
    expect(JSON.parse(sdk).version).toBe(oldest);
    await expectToWork({ "index.js": commonJs });
    const { jobs } = project.ids();
    use({ "index.js": commonJs.replace('.com/jobs"', '.com/moved"') });
    expect(await project.up("--refresh")).toMatch(/\+-1 replaced/);
    expect(emulator.endpoints()).toMatchObject([{ url: "https://hooks.example.com/moved" }]);
    expect(project.ids().jobs).not.toBe(jobs);
  });

  test("of two copies, which pnpm makes for two versions of the SDK, one shows no secret url that the other declared", async () => {
    use({
      "index.js": `
const pulumi = require("@pulumi/pulumi");
const { getWebhookEndpoint, getWebhookEndpoints, WebhookEndpoint } = require("pulumi-webhook-endpoints");
const Other = require("hooks");
const jobs = new Other("jobs", { url: pulumi.secret("https://hooks.example.com/t0ken"), type: "production" });
exports.isOther = Other !== WebhookEndpoint;
exports.one = getWebhookEndpoint({ id: jobs.id }).url;
exports.all = getWebhookEndpoints().apply((all) => all.map(({ url }) => url));
exports.read = WebhookEndpoint.get("read", jobs.id).url;
`,
    });
    await project.up();
    const [one, all, read] = Array(3).fill("[secret]");
    expect(await project.outputs()).toEqual({ isOther: true, one, all, read });
    expect(emulator.endpoints()).toMatchObject([{ url: "https://hooks.example.com/t0ken" }]);
    project.expectHidden("t0ken");
  });
});
