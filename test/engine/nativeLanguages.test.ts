// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how a YAML program refers to a value
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { otherSecret, secret } from "../receiver/support";
import { always, closeServers, ours, serve } from "../validation/receivers";
import { NativeProject, plugin } from "./nativeProject";

jest.setTimeout(300_000);

const root = join(__dirname, "../..");

let emulator: Emulator;
let project: NativeProject;

async function start(options: ConstructorParameters<typeof NativeProject>[0] = {}): Promise<void> {
  emulator = await startEmulator();
  project = new NativeProject({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
    ...options,
  });
}

afterEach(async () => {
  project.dispose();
  await closeServers();
  await emulator.close();
});

/** The program of the documentation in this language. */
function documented(language: string): string {
  const page = readFileSync(join(root, "docs/other-languages.md"), "utf8");
  return new RegExp(`\n\`\`\`${language}\n([^]*?)\`\`\``).exec(page)?.[1] ?? "";
}

/** Makes the program of the documentation in this language the project's. */
const PREPARE: Readonly<Record<string, () => void>> = {
  yaml: () => project.write("Pulumi.yaml", documented("yaml").replace("name: jobs", "name: test")),
  python: () => {
    project.installPythonSdk();
    project.write("Pulumi.yaml", "name: test\nruntime: python\n");
    project.write("requirements.txt", "");
    project.write("__main__.py", documented("python"));
  },
};

test.each(Object.entries(PREPARE))(
  "the program of the documentation in %s goes up, up and to destroy",
  async (_, prepare) => {
    await start();
    prepare();
    const theirs = emulator.add({ url: "https://hooks.example.com/theirs", type: "development" });
    await project.up();
    const jobsId = (await project.endpoints()).jobs?.id;
    const { sandboxes, ...others } = await project.outputs();
    expect(others).toMatchObject({ jobsId });
    expect(sandboxes).toMatchObject([{ url: theirs.url }]);
    emulator.clearRequests();
    expect(await project.up()).toMatch(/2 unchanged/);
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    await project.destroy();
    expect(emulator.endpoints()).toEqual([theirs]);
  },
);

/** Compiles a generated SDK. That for Python runs in a test of its own. */
const compile: Readonly<Record<string, (folder: string) => void>> = {
  nodejs: (folder) => {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const options = ["--noEmit", "--strict", "--target", "es2020", "--module", "commonjs", "--types", "node"];
    execFileSync(process.execPath, [tsc, ...options, join(folder, "index.ts")]);
  },
  go: (folder) => {
    // The modules that the CLI was built from: they are there, and their checksums are known.
    const engine = readFileSync(join(root, "scripts/setup/go/engine/go.mod"), "utf8");
    const [module = ""] = readFileSync(join(folder, "go.mod"), "utf8").match(/^module .*/) ?? [];
    writeFileSync(join(folder, "go.mod"), engine.replace(/^module .*/, module).replace(/^tool \S+$/m, ""));
    copyFileSync(join(root, "scripts/setup/go/engine/go.sum"), join(folder, "go.sum"));
    const options = ["-mod=mod", "-buildvcs=false", "-tags", "osusergo,grpcnotrace"];
    execFileSync("go", ["build", ...options, "./..."], { cwd: folder, stdio: "pipe" });
  },
};

test.each(Object.entries(compile))(
  "an SDK for %s can be generated and compiles, with the alias of the dynamic type",
  async (language, compileIn) => {
    await start();
    const folder = project.generateSdk(language);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const text = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")).join("\n");
    expect(text).toContain("pulumi-nodejs:dynamic/webhooks:WebhookEndpoint");
    compileIn(folder);
  },
);

test("in YAML an endpoint is registered once its receiver is validated, and not before", async () => {
  await start();
  const program = (url: string, more: object = {}) =>
    project.yaml({
      proven: {
        type: "webhooks:ReceiverValidation",
        properties: { url, secrets: [secret], timeoutSeconds: 1, ...more },
      },
      jobs: {
        type: "webhooks:WebhookEndpoint",
        properties: { url: "https://hooks.example.com/jobs", type: "production" },
        options: { dependsOn: ["${proven}"] },
      },
    });
  let listener = ours(otherSecret);
  const url = await serve((request, response) => listener(request, response));
  program(url);
  expect(await project.fail("up", "--yes", "--skip-preview")).toMatch(/GENUINE_REFUSED/);
  expect(emulator.endpoints()).toEqual([]);

  listener = ours(secret);
  await project.up();
  expect(emulator.endpoints()).toHaveLength(1);
  expect(await project.refresh()).toMatch(/3 unchanged/);
  program(url, { triggers: ["b"] });
  expect(await project.up()).toMatch(/~ 1 updated/);
  const { resources = [] } = await project.state();
  const recorded = resources.find(({ type }) => type === "webhooks:index:ReceiverValidation");
  expect(recorded?.outputs).toMatchObject({ url, validatedAt: expect.any(String) });

  listener = always(200);
  expect(await project.refresh()).toMatch(/BROKEN_ACCEPTED[\s\S]*- 1 deleted/);
  project.yaml({});
  await project.destroy();
  expect(project.filesAtRest() + project.transcript).not.toContain(secret.slice("whsec_".length));
});

test("the release file installs, and is all that a program needs", async () => {
  await start({ plugins: [] });
  const folder = join(project.folder, "release");
  mkdirSync(folder);
  const release = join(root, "scripts/plugin.js");
  const file = project.run(process.execPath, [release, folder]).trim();
  const { version }: { version: string } = JSON.parse(
    project.run("pulumi", ["package", "get-schema", plugin]),
  );
  await project.succeed("plugin", "install", "resource", "webhooks", version, "--file", file);
  project.endpointsInYaml({ jobs: { url: "https://hooks.example.com/jobs", type: "production" } });
  const output = await project.up();
  expect(output).not.toMatch(/pulumi-resource-webhooks from \$PATH/);
  expect(emulator.endpoints()).toHaveLength(1);
  await project.destroy();
  expect(emulator.endpoints()).toEqual([]);
});
