import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { parseReceiverConfig } from "../../src/stack";
import { NativeProject } from "./nativeProject";

jest.setTimeout(300_000);

const root = join(__dirname, "../..");
const TEMPLATES = join(root, "templates");

let emulator: Emulator;
/** The program of Python finds the generated SDK. */
let project: NativeProject;
const config = () => ({ "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey });
beforeAll(async () => {
  emulator = await startEmulator();
  project = new NativeProject({ config: config() });
  await project.installPythonSdk();
});
afterAll(async () => {
  project.dispose();
  await emulator.close();
});

/** The program of the documentation in this language. */
function documented(language: string): string {
  const page = readFileSync(join(root, "docs/other-languages.md"), "utf8");
  return new RegExp(`\n\`\`\`${language}\n([^]*?)\`\`\``).exec(page)?.[1] ?? "";
}

async function expectToWork(documented: NativeProject): Promise<void> {
  const theirs = emulator.add({ url: "https://hooks.example.com/t0ken", type: "development" });
  await documented.up();
  const { jobs } = documented.ids();
  expect(await documented.outputs()).toEqual({ jobsId: jobs, sandboxes: "[secret]" });
  documented.expectHidden("t0ken");
  const sandboxes = await documented.succeed("stack", "output", "sandboxes", "--show-secrets", "--json");
  expect(JSON.parse(sandboxes)).toMatchObject([{ url: theirs.url }]);
  expect(emulator.endpoints()).toContainEqual(expect.objectContaining({ id: jobs, type: "production" }));
  for (const { id } of emulator.endpoints()) emulator.remove(id);
}

test("the program of the documentation in Python goes up", async () => {
  project.write("Pulumi.yaml", "name: test\nruntime: python\n");
  project.write("requirements.txt", "");
  project.write("__main__.py", documented("python"));
  await expectToWork(project);
});

test("the release file installs, and is all that the program of the documentation in YAML needs", async () => {
  const released = new NativeProject({ config: config(), plugins: [] });
  try {
    const release = join(released.folder, "release");
    await released.shell(`node '${join(root, "scripts/plugin.js")}' '${release}'`);
    const { version } = JSON.parse(readFileSync(join(release, "schema.json"), "utf8"));
    const file = join(release, `pulumi-resource-webhooks-v${version}-linux-amd64.tar.gz`);
    await released.succeed("plugin", "install", "resource", "webhooks", version, "--file", file);
    released.write("Pulumi.yaml", documented("yaml").replace("name: jobs", "name: test"));
    await expectToWork(released);
    expect(released.transcript).not.toMatch(/pulumi-resource-webhooks from \$PATH/);
  } finally {
    released.dispose();
  }
});

test.each(readdirSync(TEMPLATES))(
  "`pulumi new` makes a project of the template for %s, and `pulumi up` registers its endpoint",
  async (name) => {
    const pulumi = (...args: string[]) => project.succeed("--cwd", name, ...args);
    const [secret = ""] = emulator.secrets();
    const url = `https://hooks.example.com/${name}`;
    mkdirSync(join(project.folder, name));
    // It installs nothing: the packages are there, and this one is not on npm. A person would answer its questions.
    await pulumi("new", join(TEMPLATES, name), "--yes", "--name", `mine-${name}`, "--generate-only");
    await pulumi("stack", "init", "dev");
    const secrets = ["--secret", `webhooks:apiKey=${emulator.apiKey}`, "--secret", `signingSecret=${secret}`];
    const plain = ["--plaintext", `webhooks:baseUrl=${emulator.url}`, "--plaintext", `url=${url}`];
    await pulumi("config", "set-all", ...secrets, ...plain);

    await pulumi("up", "--yes", "--skip-preview");
    const registered = emulator.endpoints().find((each) => each.url === url);
    expect(registered).toMatchObject({ type: "development" });
    expect(JSON.parse(await pulumi("stack", "output", "--json")).receiver).toBe("[secret]");
    const receiver = await pulumi("stack", "output", "receiver", "--show-secrets", "--json");
    const endpoints = { jobs: { id: registered?.id, url } };
    expect(parseReceiverConfig(receiver)).toMatchObject({ secrets: [secret], endpoints });
  },
);

/** Compiles a generated SDK. That for Python runs above. */
const compile: Readonly<Record<string, (folder: string) => Promise<string>>> = {
  nodejs: (folder) => {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const options = "--noEmit --strict --skipLibCheck --target es2020 --module commonjs --types node";
    return project.shell(`cd '${folder}' && node '${tsc}' ${options} index.ts`);
  },
  go: (folder) => {
    // The modules that the CLI was built from: they are there, and their checksums are known.
    const engine = readFileSync(join(root, "scripts/setup/go/engine/go.mod"), "utf8");
    const [module = ""] = readFileSync(join(folder, "go.mod"), "utf8").match(/^module .*/) ?? [];
    writeFileSync(join(folder, "go.mod"), engine.replace(/^module .*/, module).replace(/^tool \S+$/m, ""));
    copyFileSync(join(root, "scripts/setup/go/engine/go.sum"), join(folder, "go.sum"));
    const options = "-mod=mod -buildvcs=false -tags osusergo,grpcnotrace";
    return project.shell(`cd '${folder}' && GOGC=100 go build ${options} ./...`);
  },
};

test.each(Object.entries(compile))(
  "an SDK for %s can be generated and compiles, with the alias of the dynamic type",
  async (language, compileIn) => {
    const folder = await project.generateSdk(language);
    // It fails when no file has the alias.
    await project.shell(`grep -r pulumi-nodejs:dynamic/webhooks:WebhookEndpoint '${folder}'`);
    await compileIn(folder);
  },
);
