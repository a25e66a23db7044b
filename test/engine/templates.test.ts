import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Emulator, startEmulator } from "../../src/emulator";
import { parseReceiverConfig } from "../../src/stack";
import { root } from "../package/pages";
import { NativeProject } from "./nativeProject";

jest.setTimeout(300_000);

const TEMPLATES = join(root, "templates");
const URL = "https://hooks.example.com/mine";

let emulator: Emulator;
let project: NativeProject;
beforeEach(async () => {
  emulator = await startEmulator();
  project = new NativeProject();
});
afterEach(async () => {
  project.dispose();
  await emulator.close();
});

/** What each language needs besides the template: what `npm install` or `pulumi package add` would bring. */
const PREPARE: Readonly<Record<string, (folder: string) => void>> = {
  typescript: (folder) => symlinkSync(join(root, "node_modules"), join(folder, "node_modules")),
  yaml: () => undefined,
  python: () => project.installPythonSdk(),
};

/** Runs a command while the emulator, which is in this process, goes on. */
async function run(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const child = execFile(command, args, { cwd, env: project.env, maxBuffer: 2 ** 26 }, () => undefined);
  child.stdin?.end();
  const printed = [child.stdout, child.stderr].map((stream) => (stream === null ? "" : text(stream)));
  const [status] = await once(child, "close");
  const [stdout = "", stderr = ""] = await Promise.all(printed);
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}:\n${stdout}${stderr}`);
  return stdout;
}

test("every template is tested here", () => {
  expect(readdirSync(TEMPLATES).sort()).toEqual(Object.keys(PREPARE).sort());
});

test.each(Object.entries(PREPARE))(
  "`pulumi new` makes a project of the template for %s, and `pulumi up` registers its endpoint",
  async (name, prepare) => {
    const folder = join(project.folder, "new");
    mkdirSync(folder);
    const [secret = ""] = emulator.secrets();
    // It installs nothing: the packages are there, and this one is not on npm. A person would answer its questions.
    await run(folder, "pulumi", ["new", join(TEMPLATES, name), "--yes", "--name", "mine", "--generate-only"]);
    await run(folder, "pulumi", ["stack", "init", "dev"]);
    const secrets = [`webhooks:apiKey=${emulator.apiKey}`, `signingSecret=${secret}`];
    const plain = [`webhooks:baseUrl=${emulator.url}`, `url=${URL}`];
    await run(folder, "pulumi", ["config", "set-all", ...secrets.flatMap((value) => ["--secret", value])]);
    await run(folder, "pulumi", ["config", "set-all", ...plain.flatMap((value) => ["--plaintext", value])]);
    prepare(folder);

    await run(folder, "pulumi", ["up", "--yes", "--skip-preview"]);
    expect(emulator.endpoints()).toMatchObject([{ url: URL, type: "development" }]);
    const stored = await run(folder, "pulumi", ["stack", "output", "--json"]);
    expect(JSON.parse(stored).receiver).toBe("[secret]");
    const receiver = await run(folder, "pulumi", ["stack", "output", "receiver", "--show-secrets", "--json"]);
    const endpoints = { jobs: { id: emulator.endpoints()[0]?.id, url: URL } };
    expect(parseReceiverConfig(receiver)).toMatchObject({ secrets: [secret], endpoints });
  },
);
