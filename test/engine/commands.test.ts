import { spawn } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import * as ts from "typescript";
import { type Emulator, startEmulator } from "../../src/emulator";
import { NativeProject } from "./nativeProject";
import { type Deployment, Project } from "./project";

jest.setTimeout(120_000);

const command = join(__dirname, "../../dist/cli/main.js");
const API_KEY = "k3y-that-no-output-may-show";

let emulator: Emulator;
let project: Project;
/** Everything that the commands printed. */
let transcript: string;

beforeEach(async () => {
  transcript = "";
  let count = 0;
  emulator = await startEmulator({ apiKey: API_KEY, newId: () => `wh_${++count}` });
});
afterEach(async () => {
  project.dispose();
  expect(transcript).not.toContain(API_KEY);
  await emulator.close();
});

const settings = () => ({ "webhooks:baseUrl": emulator.url, "webhooks:apiKey": API_KEY });
const at = (path: string) => ({ url: `https://hooks.example.com/${path}`, type: "development" as const });
const changes = () => emulator.requests.filter(({ method }) => method !== "GET");
const stacks = () => join(project.folder, "backend", ".pulumi", "stacks");

async function run(...args: string[]) {
  const child = spawn(process.execPath, [command, ...args], {
    cwd: project.folder,
    env: project.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [status, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  transcript += stdout + stderr;
  return { status, stdout, stderr };
}

/** Changes the state of the stack as a killed run leaves it. */
function editState(edit: (deployment: Deployment) => Deployment): void {
  const file = join(stacks(), "test", "dev.json");
  const saved = JSON.parse(readFileSync(file, "utf8"));
  saved.checkpoint.latest = edit(saved.checkpoint.latest);
  writeFileSync(file, JSON.stringify(saved));
}

test("list, adopt and delete tell who has an endpoint by the states that Pulumi's own command prints", async () => {
  project = new Project({ config: settings() });
  project.declare({ jobs: at("jobs") });
  await project.up();
  const strays = [emulator.add(at("by-hand?quote=\"'`$x")), emulator.add(at("stray"))];
  // Another project in the same backend, which has the same endpoint.
  cpSync(join(stacks(), "test"), join(stacks(), "billing"), { recursive: true });

  const listed = await run("list", "--all");
  expect(listed.stdout).toMatch(/^wh_1 .* jobs in test\/dev and jobs in test\/dev$/m);
  expect(listed.stdout).toMatch(/^wh_3 .* no stack$/m);
  rmSync(join(stacks(), "billing"), { recursive: true });
  expect((await run("list")).stdout).toMatch(/^wh_3 .* no stack of this project$/m);
  expect((await run("doctor", "--all")).stdout).toMatch(/no stack has wh_2 and wh_3 \(UNMANAGED\)/);

  const adopted = await run("adopt", ...strays.map(({ id }) => id));
  expect(adopted.status).toBe(0);
  project.write("adopted.js", ts.transpile(adopted.stdout, { module: ts.ModuleKind.CommonJS }));
  project.program(`new WebhookEndpoint("jobs", ${JSON.stringify(at("jobs"))});\nrequire("./adopted.js");\n`);
  emulator.clearRequests();
  expect(await project.up()).toMatch(/\+ 2 created/);
  expect(changes()).toEqual([]);
  expect((await run("list", "--orphans")).stderr).toMatch(/There are no orphans/);
});

test("what a killed run left is pending, and nothing is deleted while a state cannot be read", async () => {
  project = new Project({ config: settings() });
  project.declare({ jobs: at("jobs") });
  await project.up();
  editState(({ resources = [], ...rest }) => {
    const operations = resources.flatMap((resource) => {
      const { urn, id, outputs, inputs, ...more } = resource;
      if (!urn.endsWith("::jobs") || id === undefined || outputs === undefined) return [];
      const killed = { ...more, urn: urn.replace(/jobs$/, "killed"), inputs: { ...inputs, ...at("killed") } };
      return [{ type: "creating", resource: killed }];
    });
    return { ...rest, resources, pending_operations: operations };
  });
  emulator.add(at("killed"));
  emulator.add(at("stray"));
  emulator.clearRequests();

  expect((await run("list", "--all")).stdout).toMatch(
    /^wh_2 .* perhaps killed in test\/dev \(interrupted\)$/m,
  );
  expect((await run("doctor")).stdout).toMatch(
    /while it worked on killed in test\/dev, and may have made wh_2/,
  );
  expect((await run("delete", "wh_2", "--yes")).stderr).toMatch(/--clear-pending-creates.*\(NOT_DELETABLE\)/);

  writeFileSync(join(stacks(), "old.json"), "{}");
  const orphans = ["delete", "--orphans", "--older-than", "0s", "--yes"];
  expect((await run(...orphans)).stderr).toMatch(/pulumi state upgrade.*\(OWNERSHIP_UNKNOWN\)/);
  rmSync(join(stacks(), "old.json"));
  expect(changes()).toEqual([]);
  expect((await run(...orphans)).stdout).toMatch(/^Deleted wh_3$/m);
  expect(emulator.endpoints().map(({ id }) => id)).toEqual(["wh_1", "wh_2"]);
});

test("adopt --native writes an import file; the import and the next up send nothing that changes the service", async () => {
  const native = new NativeProject({ config: settings() });
  project = native;
  await project.pulumi("stack", "ls");
  const byHand = [emulator.add(at("a")), emulator.add(at("b"))];
  const { status, stdout } = await run("adopt", "--native");
  expect(status).toBe(0);
  project.write("adopted.json", stdout);
  emulator.clearRequests();
  const importing = "import --file adopted.json --yes --skip-preview --protect=false --generate-code=false";
  await project.succeed(...importing.split(" "));
  const { resources } = JSON.parse(stdout) as { resources: { name: string }[] };
  const declared = byHand.map(({ url, type }, index) => [resources[index]?.name ?? "", { url, type }]);
  native.endpointsInYaml(Object.fromEntries(declared));
  expect(await project.up()).toMatch(/unchanged/);
  expect(changes()).toEqual([]);
  expect((await run("list", "--orphans", "--json")).stdout).toBe("[]\n");
});
