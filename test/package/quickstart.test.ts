import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { parseReceiverConfig } from "../../src/stack";
import { Project } from "../engine/project";
import { snippetsOf } from "../receiver/readme/snippets";
import { commandsOf, read } from "./pages";
import { fakeNpm, freePort, Terminal } from "./terminal";

jest.setTimeout(300_000);

const EXAMPLE_ID = "wh_5f0c2d";
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const readme = read("README.md");
const [program] = snippetsOf(readme.split("\n## ")[0] ?? "");
const [receiver] = snippetsOf(readme, "Receiving deliveries");

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

/** Where a person types the commands of the documentation. */
function shell() {
  const env = {
    ...project.env,
    PATH: [join(project.folder, "bin"), project.env.PATH].join(delimiter),
    PULUMI_SKIP_CONFIRMATIONS: "true", // a person answers "yes"
    PULUMI_STACK: "dev",
  };
  return { cwd: project.folder, env };
}

/** Runs a shell command of the documentation in the project, with what a person would type in answer to it. */
async function type(command: string, answer: string): Promise<string> {
  const { hasFailed, output } = await new Terminal(shell()).run(command, answer);
  if (hasFailed) throw new Error(`${command}:\n${output}`);
  return output;
}

test("the README's quick start, typed as it stands, registers the endpoint of the README's program", async () => {
  const commands = commandsOf(readme.split("\n## Quick start\n")[1]?.split("\n## ")[0] ?? "");
  expect(commands).toHaveLength(5);
  const { calls } = fakeNpm(project);
  project.write("index.ts", program?.code ?? "");
  await project.makeStack();
  for (const command of commands) {
    const answer = command.endsWith("apiKey") ? emulator.apiKey : SECRET;
    await type(command.replace("https://api.example.com/v1", emulator.url), answer);
  }
  expect(readFileSync(calls, "utf8")).toBe("install pulumi-webhook-endpoints @pulumi/pulumi\n");
  const registered = emulator.endpoints().find(({ url }) => url === "https://hooks.example.com/jobs");
  expect(registered?.type).toBe("production");

  const port = await freePort();
  const here = (text: string) => text.replace("8080", String(port));
  const [start = "", send = ""] = commandsOf(readme.split("\n## Receiving deliveries\n")[1] ?? "");
  project.write("receiver.mjs", here(receiver?.code ?? ""));
  const terminal = new Terminal(shell());
  try {
    terminal.start(start);
    for (let answer: unknown; answer === undefined; )
      answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    expect(await type(here(send), "")).toMatch(/^job\.succeeded msg_\w+ to \S+: 200 after \d+ ms\n$/);
    await terminal.until(/^job_\w+ is done$/m);
  } finally {
    await terminal.end();
  }
});

test("the command of the page of receivers gives a receiver the stack's output", async () => {
  const [command = ""] = commandsOf(read("docs/receiving.md"));
  // The receiver's folder is another one; the command runs in the program's here.
  expect(command).toContain("pulumi --cwd ../infra stack output");
  const here = command.replace("--cwd ../infra", "--cwd .");
  const shown = await type(here.replace(/node .*/, "printenv WEBHOOK_RECEIVER"), "");
  expect(parseReceiverConfig(shown)).toMatchObject({ secrets: [SECRET], endpoints: { jobs: {} } });
});

test("every program on the page of the resource type-checks and runs", async () => {
  // A policy pack is no program: test/integration/recipes runs it.
  const programs = snippetsOf(read("docs/resource.md")).filter(
    ({ code }) => !code.includes("@pulumi/policy"),
  );
  expect(programs.length).toBeGreaterThanOrEqual(5);
  const names = programs.map((_, index) => `program${index}`);
  for (const [index, { code }] of programs.entries())
    project.write(`program${index}.ts`, code.replace("https://staging.example.com/v1", emulator.url));
  project.env.PULUMI_NODEJS_TRANSPILE_ONLY = "false";
  project.write("index.ts", names.map((name) => `export * from "./${name}";`).join("\n"));
  const values = ["stagingApiKey", "urlToken"].map((key) => `${key}=${emulator.apiKey}`);
  await project.succeed("config", "set-all", ...values.flatMap((value) => ["--secret", value]));
  await project.up();

  expect(await project.outputs()).toMatchObject({
    sharedUrl: "[secret]",
    createdAt: expect.stringMatching(/^20/),
    sandboxes: "[secret]",
  });
  const { adopted, "new-name": renamed, tokens, sandbox } = await project.endpoints();
  expect(adopted?.id).toBe(EXAMPLE_ID);
  expect(renamed?.id).toBeDefined();
  expect(tokens?.id).toBeDefined();
  expect(sandbox?.provider).toContain("staging");
  // The url that holds it is a secret.
  expect(project.filesAtRest()).not.toContain(`/${emulator.apiKey}`);
});
