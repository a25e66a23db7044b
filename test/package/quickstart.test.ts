import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { parseReceiverConfig } from "../../src/stack";
import { Project } from "../engine/project";
import { snippetsOf } from "../receiver/readme/snippets";
import { commandsOf, read } from "./pages";

jest.setTimeout(300_000);

const EXAMPLE_ID = "wh_5f0c2d";
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const readme = read("README.md");
const [program] = snippetsOf(readme.split("\n## ")[0] ?? "");

let emulator: Emulator;
let project: Project;
beforeAll(async () => {
  let made = 0;
  emulator = await startEmulator({ newId: () => (made++ === 0 ? EXAMPLE_ID : `wh_${made}`) });
  emulator.add({ url: "https://hooks.example.com/existing", type: "production" });
  project = new Project();
  project.write("Pulumi.yaml", "name: test\nruntime: nodejs\n");
  project.write("package.json", '{ "main": "index.ts" }');
});
afterAll(async () => {
  project.dispose();
  await emulator.close();
});

/** Runs a shell command of the documentation in the project, with what a person would type in answer to it. */
function type(command: string, answer: string): Promise<string> {
  const bin = join(project.folder, "bin");
  const env = {
    ...project.env,
    PATH: [bin, project.env.PATH].join(delimiter),
    PULUMI_SKIP_CONFIRMATIONS: "true", // a person answers "yes"
    PULUMI_STACK: "dev",
  };
  return new Promise((resolve, reject) => {
    const child = execFile("bash", ["-c", command], { cwd: project.folder, env }, (error, out, err) => {
      if (error === null) resolve(out);
      else reject(new Error(`${command}:\n${out}${err}`));
    });
    child.stdin?.end(answer);
  });
}

/** Puts an `npm` on PATH that only notes how it was called: the packages are linked already. */
function fakeNpm(): string {
  mkdirSync(join(project.folder, "bin"));
  const calls = join(project.folder, "npm-calls");
  project.write("bin/npm", `#!/bin/sh\necho "$@" >> '${calls}'\n`);
  chmodSync(join(project.folder, "bin/npm"), 0o755);
  return calls;
}

test("the README's quick start, typed as it stands, registers the endpoint of the README's program", async () => {
  const commands = commandsOf(readme.split("\n## Quick start\n")[1]?.split("\n## ")[0] ?? "").slice(2);
  expect(commands).toHaveLength(5);
  const calls = fakeNpm();
  project.write("index.ts", program?.code ?? "");
  await project.succeed("stack", "ls");
  for (const command of commands) {
    const answer = command.endsWith("apiKey") ? emulator.apiKey : SECRET;
    await type(command.replace("https://api.example.com/v1", emulator.url), answer);
  }
  expect(readFileSync(calls, "utf8")).toBe("install pulumi-webhook-endpoints\n");
  const registered = emulator.endpoints().find(({ url }) => url === "https://hooks.example.com/jobs");
  expect(registered?.type).toBe("production");

  const receiving = commandsOf(readme.split("\n## Receiving deliveries\n")[1] ?? "")[0] ?? "";
  // The receiver's folder is another one; the command runs in the program's here.
  expect(receiving).toContain("pulumi --cwd ../infra stack output");
  const here = receiving.replace("--cwd ../infra", "--cwd .");
  const shown = await type(here.replace(/node .*/, "printenv WEBHOOK_RECEIVER"), "");
  expect(parseReceiverConfig(shown)).toMatchObject({
    secrets: [SECRET],
    endpoints: { jobs: { id: registered?.id } },
  });
});

test("every program on the pages of settings and of the resource type-checks and runs", async () => {
  const programs = ["docs/settings.md", "docs/resource.md"].flatMap((page) => snippetsOf(read(page)));
  expect(programs.length).toBeGreaterThanOrEqual(5);
  const names = programs.map((_, index) => `program${index}`);
  for (const [index, { code }] of programs.entries())
    project.write(`program${index}.ts`, code.replace("https://staging.example.com/v1", emulator.url));
  project.write("index.ts", names.map((name) => `export * from "./${name}";`).join("\n"));
  const values = ["stagingApiKey", "urlToken"].map((key) => `${key}=${emulator.apiKey}`);
  await project.succeed("config", "set-all", ...values.flatMap((value) => ["--secret", value]));
  await project.up();

  expect(await project.outputs()).toMatchObject({
    sharedUrl: "https://hooks.example.com/existing",
    createdAt: expect.stringMatching(/^20/),
  });
  const { adopted, "new-name": renamed, tokens, sandbox } = await project.endpoints();
  expect(adopted?.id).toBe(EXAMPLE_ID);
  expect(renamed?.id).toBeDefined();
  expect(tokens?.id).toBeDefined();
  expect(sandbox?.provider).toContain("staging");
  // The url that holds it is a secret.
  expect(project.filesAtRest()).not.toContain(`/${emulator.apiKey}`);
});
