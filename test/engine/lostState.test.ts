import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { commandsOf, read } from "../package/pages";
import { fakeNpm, Terminal } from "../package/terminal";
import { API_KEY, allAt, Project } from "./project";

jest.setTimeout(300_000);

const PATHS = ["a", "b"];
const SIGNING_SECRET = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;

// One stack for all: each test ends with a stack that has the same endpoints, and the last one with another program.
let emulator: Emulator;
let project: Project;
beforeAll(async () => {
  emulator = await startEmulator({ apiKey: API_KEY });
  project = new Project({ config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": API_KEY } });
  project.env.PATH = [fakeNpm(project).bin, project.env.PATH].join(delimiter);
  project.declare(allAt(PATHS));
  await project.up();
});
afterAll(async () => {
  project.dispose();
  await emulator.close();
});

/** The commands of each section of the page, for this project's stack, in a pipeline. */
const sections = new Map(
  read("docs/lost-state.md")
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.split("\n", 1)[0] ?? "", commandsOf(section)] as const),
);
const typed = (command: string) =>
  command
    .replace(/\bprod\b/g, "dev")
    .replace("https://api.example.com/v1", emulator.url)
    .replace("index.ts", "adopted.ts")
    .replace(/pulumi up/, "$& --yes");
const answers: Readonly<Record<string, string>> = {
  "pulumi config set --secret webhooks:apiKey": API_KEY,
  "pulumi config set --secret signingSecret": SIGNING_SECRET,
};

/** Follows the commands of a section, as they are typed. Each must succeed. */
async function follow(commands: readonly string[]) {
  const outputs: string[] = [];
  for (const line of commands) {
    const [, name = "", value] = /^export (\w+)=(.*)$/.exec(line) ?? [];
    if (value !== undefined) {
      project.env[name] = "another-passphrase";
      continue;
    }
    const { hasFailed, output } = await new Terminal({ cwd: project.folder, env: project.env }).run(
      typed(line),
      answers[line],
    );
    if (hasFailed) throw new Error(`${line}: ${output}`);
    outputs.push(output);
  }
  return outputs.join("\n");
}

const ids = () =>
  emulator
    .endpoints()
    .map(({ id }) => id)
    .sort();
const changes = () => emulator.requests.filter(({ method }) => method !== "GET");

/** Checks that nothing changed at the service, and that the stack has each endpoint. */
async function expectWhole(before: readonly string[]) {
  expect(changes()).toEqual([]);
  expect(ids()).toEqual(before);
  expect(Object.values(project.ids()).sort()).toEqual(before);
}

test("a lost passphrase: the way on, as it is typed, gives a new stack the same endpoints", async () => {
  const before = ids();
  emulator.clearRequests();
  project.env.PULUMI_CONFIG_PASSPHRASE = "forgotten";
  const doctor = await project.run("npx", "pulumi-webhook-endpoints", "doctor");
  expect(doctor.output).toMatch(
    /incorrect passphrase.*lost-state\.md \(PULUMI_FAILED\)\n {2}export PULUMI_CONFIG_PASSPHRASE=/,
  );
  expect(await follow(sections.get("The passphrase") ?? [])).toMatch(/adopts wh_[\s\S]*adopts wh_/);
  expect(readFileSync(join(project.folder, "dev-settings.yaml"), "utf8")).toContain("webhooks:baseUrl");
  await expectWhole(before);
});

test("a lost state: an export is imported, or else a new stack adopts what the program declares", async () => {
  const before = ids();
  await project.succeed("stack", "export", "--file", "dev-backup.json");
  const commands = sections.get("The state") ?? [];
  const restoring = commands.slice(0, 3);
  const adopting = commands.slice(3);
  emulator.clearRequests();
  for (const way of [restoring, adopting]) {
    copyFileSync(join(project.folder, "Pulumi.dev.yaml"), join(project.folder, "saved.yaml"));
    await project.succeed("stack", "rm", "--force", "--preserve-config", "--yes", "dev");
    const lost = await project.run("npx", "pulumi-webhook-endpoints", "doctor");
    expect(lost.output).toMatch(
      /no stack is selected in the backend file:.*\(SETTINGS_INVALID\)\n {2}pulumi stack ls --all .*lost-state\.md/,
    );
    await follow(way);
    await expectWhole(before);
  }
});

test("the wrong backend: forgetting a stack there deletes nothing, and the right one still has its endpoints", async () => {
  const before = ids();
  const right = project.env.PULUMI_BACKEND_URL;
  project.env.PULUMI_BACKEND_URL = `${right}/..`;
  const [whoami = "", list = "", forget = ""] = sections.get("The wrong backend") ?? [];
  expect(await follow([whoami, list])).toContain(project.env.PULUMI_BACKEND_URL);
  await project.succeed("stack", "init", "dev");
  expect(await project.fail("preview")).toMatch(/ENDPOINT_EXISTS/);
  emulator.clearRequests();
  await follow([forget]);
  project.env.PULUMI_BACKEND_URL = right;
  await project.succeed("stack", "select", "dev");
  expect(await project.preview()).toMatch(/3 unchanged/);
  await expectWhole(before);
});

test("a lost program: adopt writes it anew", async () => {
  const before = ids();
  project.program("");
  emulator.clearRequests();
  const commands = sections.get("The program") ?? [];
  await follow(commands.slice(0, -1));
  expect(existsSync(join(project.folder, "adopted.ts"))).toBe(true);
  project.write("Pulumi.yaml", "name: test\nruntime: nodejs\nmain: adopted.ts\n");
  await follow(commands.slice(-1));
  await expectWhole(before);
});
