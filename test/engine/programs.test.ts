import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { type Emulator, startEmulator } from "../../src/emulator";
import { Project } from "./project";

jest.setTimeout(300_000);

const run = promisify(execFile);
const root = join(__dirname, "../..");

/** The files of a program, by their names. Each declares one endpoint, `jobs`, and has its url as the output `url`. */
type Program = Readonly<Record<string, string>>;

const commonJs: Program = {
  "index.js": `
const { WebhookEndpoint } = require("pulumi-webhook-endpoints");
const jobs = new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" });
exports.url = jobs.url;
`,
};

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
const jobs = new WebhookEndpoint("jobs", args, { provider, additionalSecretOutputs: ["url"] });
const secrets = [pulumi.secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
export const receiver = receiverConfig({ endpoints: { jobs }, secrets });
export const known: pulumi.Output<string[]> = getWebhookEndpoints({ type: "development" }, { provider }).apply((all) => all.map(({ url }) => url));
export const createdAt: pulumi.Output<string | null> = getWebhookEndpoint({ id: jobs.id }, { provider }).createdAt;
export const url: pulumi.Output<string> = pulumi.unsecret(jobs.url);
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

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

interface Given {
  readonly program: Program;
  readonly modules?: string;
}

async function inProject(
  { program, ...options }: Given,
  use: (project: Project) => Promise<void>,
): Promise<void> {
  const config = { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey };
  const project = new Project({ config, ...options });
  try {
    for (const [name, text] of Object.entries(program)) project.write(name, text);
    await use(project);
  } finally {
    project.dispose();
  }
}

/** Up, up again, perhaps more, and destroy, each held against what is at the service then. */
async function expectToWork(given: Given, more?: (project: Project) => Promise<void>): Promise<void> {
  await inProject(given, async (project) => {
    await project.up();
    expect(emulator.endpoints()).toMatchObject([
      { url: "https://hooks.example.com/jobs", type: "production" },
    ]);
    const [stack] = (await project.state()).resources ?? [];
    expect(stack?.outputs).toMatchObject({ url: "https://hooks.example.com/jobs" });

    emulator.clearRequests();
    expect(await project.up()).toMatch(/Resources:\s+\d unchanged/);
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    await more?.(project);

    await project.destroy();
    expect(emulator.endpoints()).toEqual([]);
  });
}

async function expectTypesToBeChecked(given: Given): Promise<void> {
  await inProject({ ...given, program: { ...given.program, "index.ts": wrongType } }, async (project) => {
    expect(await project.fail("preview")).toMatch(/TS2322: Type '"prod"' is not assignable/);
  });
}

describe("a program", () => {
  it("a program in ECMAScript modules works", () => expectToWork({ program: esm }));

  it("a program that esbuild bundles, with this package in it, works", async () => {
    const { outputFiles } = await build({
      stdin: { contents: commonJs["index.js"] ?? "", resolveDir: root },
      ...{ bundle: true, platform: "node", external: ["@pulumi/pulumi"], write: false },
    });
    await expectToWork({ program: { "index.js": outputFiles[0]?.text ?? "" } });
  });

  it("a program in TypeScript with its own compiler works and has its types checked", async () => {
    await expectToWork({ program: typescript });
    await expectTypesToBeChecked({ program: typescript });
  });
});

describe("installed by pnpm from the packed package, a program", () => {
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

  const pulumi = { "@pulumi/pulumi": manifest.devDependencies["@pulumi/pulumi"] };
  let ours: { readonly "pulumi-webhook-endpoints": string };
  /** A package that declares endpoints with ours. */
  let acme: { readonly acme: string };
  /** Has them all. */
  let modules: string;
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
    acme = { acme: `file:${write("acme", its, { "index.js": declare })}` };
    modules = await install("all", { ...pulumi, ...ours, ...acme });
  });

  it("a program in TypeScript without its own compiler, installed by pnpm, works and has its types checked", async () => {
    // Pulumi looks for a compiler from where it is itself, and takes its vendored 3.8 when there is none.
    const sdk = createRequire(realpathSync(join(modules, "@pulumi/pulumi/package.json")));
    expect(() => sdk.resolve("typescript")).toThrow(/Cannot find module/);

    const program = { ...typescript, "tsconfig.json": oldSettings };
    await expectToWork({ program, modules });
    await expectTypesToBeChecked({ program, modules });
  });

  it("a program that gets its endpoints through another package works when it lists this one too", async () => {
    const program = { "index.js": 'exports.url = require("acme").declare("jobs").url;' };
    await expectToWork({ program, modules });

    await inProject({ program, modules: await install("alone", { ...pulumi, ...acme }) }, async (project) => {
      expect(await project.fail("preview")).toMatch(
        /Cannot find module 'pulumi-webhook-endpoints\/provider'/,
      );
    });
  });

  it("a program on the oldest allowed @pulumi/pulumi works in every verb", async () => {
    const oldest = manifest.peerDependencies["@pulumi/pulumi"].replace("^", "");
    const older = await install("oldest", { "@pulumi/pulumi": oldest, ...ours });
    await expectToWork({ program: commonJs, modules: older }, async (project) => {
      emulator.remove(emulator.endpoints()[0]?.id ?? "");
      expect(await project.refresh()).toMatch(/jobs deleted/);
      await project.up();
      project.write("index.js", commonJs["index.js"]?.replace('.com/jobs"', '.com/moved"') ?? "");
      expect(await project.up()).toMatch(/\+-1 replaced/);
      expect(emulator.endpoints()).toMatchObject([{ url: "https://hooks.example.com/moved" }]);
    });
  });
});
