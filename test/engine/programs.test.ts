import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

const esm: Program = {
  "package.json": '{ "type": "module" }',
  "index.js": `
import { WebhookEndpoint } from "pulumi-webhook-endpoints";
const jobs = new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" });
export const url = await Promise.resolve(jobs.url);
`,
};

const typescript: Program = {
  "Pulumi.yaml": "name: test\nruntime: nodejs\n",
  "package.json": '{ "main": "index.ts" }',
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

const wrongType = `
import { WebhookEndpoint } from "pulumi-webhook-endpoints";
new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "prod" });
`;

/** What \`pulumi new typescript\` wrote for years. */
const oldSettings = JSON.stringify({
  compilerOptions: { strict: true, target: "es2016", module: "commonjs", moduleResolution: "node" },
  files: ["index.ts"],
});

type PulumiVersion = { readonly "@pulumi/pulumi": string };
const manifest: { readonly devDependencies: PulumiVersion; readonly peerDependencies: PulumiVersion } =
  JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// One stack for all: the first program registers its endpoint, and to each other one it is unchanged.
let emulator: Emulator;
let project: Project;
beforeAll(async () => {
  emulator = await startEmulator();
  project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
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

async function expectTypesToBeChecked(program: Program): Promise<void> {
  use({ ...program, "index.ts": wrongType });
  expect(await project.fail("preview")).toMatch(/TS2322: Type '"prod"' is not assignable/);
}

test("a program in ECMAScript modules works", () => expectToWork(esm));

test("a program that esbuild bundles, with this package in it, works", async () => {
  const { outputFiles } = await build({
    stdin: { contents: commonJs, resolveDir: root },
    ...{ bundle: true, platform: "node", external: ["@pulumi/pulumi"], write: false },
  });
  await expectToWork({ "index.js": outputFiles[0]?.text ?? "" });
});

test("a program in TypeScript with its own compiler works", () => expectToWork(typescript));

describe("installed by pnpm from the packed package", () => {
  const folder = mkdtempSync(join(tmpdir(), "webhooks-pnpm-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Writes a package.json, and other files, to a folder of that name. */
  function write(name: string, manifest: object, files: Program = {}): string {
    const place = join(folder, name);
    mkdirSync(place);
    for (const [file, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files }))
      writeFileSync(join(place, file), text);
    return place;
  }

  /** Installs these packages by themselves and gives the folder that holds them. */
  async function install(name: string, dependencies: object): Promise<string> {
    const cwd = write(name, { private: true, dependencies });
    const args = ["-y", "pnpm@9.15.9", "install", "--ignore-scripts", "--store-dir", join(folder, "store")];
    const places = ["CACHE", "STATE", "DATA"].map((kind) => [`XDG_${kind}_HOME`, join(folder, kind)]);
    await run("npx", args, { cwd, env: { ...process.env, ...Object.fromEntries(places) } });
    return join(cwd, "node_modules");
  }

  let ours: { readonly "pulumi-webhook-endpoints": string };
  beforeAll(async () => {
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
    const [packed]: { filename: string }[] = JSON.parse((await run("npm", args, { cwd: root })).stdout);
    ours = { "pulumi-webhook-endpoints": `file:${join(folder, packed?.filename ?? "")}` };
    const peerDependencies = { "@pulumi/pulumi": "*" };
    const its = { name: "acme", version: "1.0.0", peerDependencies, dependencies: ours };
    const declare = `
const { WebhookEndpoint } = require("pulumi-webhook-endpoints");
exports.declare = (path) => new WebhookEndpoint(path, { url: "https://hooks.example.com/" + path, type: "production" });
`;
    const acme = { acme: `file:${write("acme", its, { "index.js": declare })}` };
    const pulumi = { "@pulumi/pulumi": manifest.devDependencies["@pulumi/pulumi"] };
    project.useModules(await install("all", { ...pulumi, ...ours, ...acme }));
  });

  test("a program in TypeScript without its own compiler works and has its types checked", async () => {
    // Pulumi looks for a compiler from where it is itself, and takes its vendored 3.8 when there is none.
    const sdk = createRequire(realpathSync(join(project.folder, "node_modules/@pulumi/pulumi/package.json")));
    expect(() => sdk.resolve("typescript")).toThrow(/Cannot find module/);

    const program = { ...typescript, "tsconfig.json": oldSettings };
    await expectToWork(program);
    await expectTypesToBeChecked(program);
  });

  test("a program that gets its endpoints through another package works when it lists this one too", () =>
    expectToWork({ "index.js": 'exports.url = require("acme").declare("jobs").url;' }));

  test("a program on the oldest allowed @pulumi/pulumi works in every verb", async () => {
    const oldest = manifest.peerDependencies["@pulumi/pulumi"].replace("^", "");
    project.useModules(await install("oldest", { "@pulumi/pulumi": oldest, ...ours }));
    await expectToWork({ "index.js": commonJs });
    const { jobs } = project.ids();
    use({ "index.js": commonJs.replace('.com/jobs"', '.com/moved"') });
    expect(await project.up("--refresh")).toMatch(/\+-1 replaced/);
    expect(emulator.endpoints()).toMatchObject([{ url: "https://hooks.example.com/moved" }]);
    expect(project.ids().jobs).not.toBe(jobs);
  });
});
