import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { parseReceiverConfig } from "../../src/stack";
import { Project } from "../engine/project";
import { snippetsOf } from "../receiver/readme/snippets";
import { commandsOf, read, root } from "./pages";

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
function type(command: string, answer: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile("bash", ["-c", command], shell(), (error, out, err) => {
      if (error === null) resolve(out);
      else reject(new Error(`${command}:\n${out}${err}`));
    });
    child.stdin?.end(answer);
  });
}

/** Puts an `npm` on PATH that only notes how it was called, as the packages are linked already, and an `npx` that runs the command. */
function fakeNpm(): string {
  mkdirSync(join(project.folder, "bin"));
  const calls = join(project.folder, "npm-calls");
  project.write("bin/npm", `#!/bin/sh\necho "$@" >> '${calls}'\n`);
  project.write("bin/npx", `#!/bin/sh\nshift\nexec node '${join(root, "dist/cli/main.js")}' "$@"\n`);
  for (const name of ["npm", "npx"]) chmodSync(join(project.folder, "bin", name), 0o755);
  return calls;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await once(server.close(), "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

test("the README's quick start, typed as it stands, registers the endpoint of the README's program", async () => {
  const commands = commandsOf(readme.split("\n## Quick start\n")[1]?.split("\n## ")[0] ?? "").slice(2);
  expect(commands).toHaveLength(6);
  const calls = fakeNpm();
  project.write("index.ts", program?.code ?? "");
  await project.succeed("stack", "ls");
  for (const command of commands) {
    const answer = command.endsWith("apiKey") ? emulator.apiKey : SECRET;
    await type(command.replace("https://api.example.com/v1", emulator.url), answer);
  }
  const home = process.env.HOME;
  expect(readFileSync(calls, "utf8")).toMatch(
    new RegExp(`^pack --pack-destination ${home}\ninstall ${home}/pulumi-webhook-endpoints-.*.tgz\n$`),
  );
  const registered = emulator.endpoints().find(({ url }) => url === "https://hooks.example.com/jobs");
  expect(registered?.type).toBe("production");

  // Other tests may listen on the README's port at the same time.
  const port = await freePort();
  const here = (text: string) => text.replace("8080", String(port));
  const [start = "", send = ""] = commandsOf(readme.split("\n## Receiving deliveries\n")[1] ?? "");
  project.write("receiver.mjs", here(receiver?.code ?? ""));
  const child = spawn("bash", ["-c", start], {
    ...shell(),
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [pid, ended] = [child.pid ?? 0, once(child, "exit")];
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  try {
    for (let answer: unknown; answer === undefined && child.exitCode === null; )
      answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    expect(await type(here(send), "")).toMatch(/^job\.succeeded msg_\w+: 200, after \d+ ms\n$/);
    while (!printed.includes("is done")) await once(child.stdout, "data");
  } finally {
    if (child.exitCode === null) process.kill(-pid, "SIGTERM");
    await ended;
  }
});

test("the command of the page of frameworks gives a receiver the stack's output", async () => {
  const [command = ""] = commandsOf(read("docs/frameworks.md"));
  // The receiver's folder is another one; the command runs in the program's here.
  expect(command).toContain("pulumi --cwd ../infra stack output");
  const here = command.replace("--cwd ../infra", "--cwd .");
  const shown = await type(here.replace(/node .*/, "printenv WEBHOOK_RECEIVER"), "");
  expect(parseReceiverConfig(shown)).toMatchObject({ secrets: [SECRET], endpoints: { jobs: {} } });
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
