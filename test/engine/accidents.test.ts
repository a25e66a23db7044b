import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { delimiter, join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { read } from "../package/pages";
import { fakeNpm } from "../package/terminal";
import { API_KEY, Project } from "./project";

jest.setTimeout(300_000);

// One stack for all: each test leaves it in order.
let emulator: Emulator;
let project: Project;
beforeAll(async () => {
  emulator = await startEmulator({ apiKey: API_KEY });
  const config = { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": API_KEY };
  project = new Project({ config, env: { NO_COLOR: "1" } });
  project.env.PATH = [fakeNpm(project).bin, project.env.PATH].join(delimiter);
  const endpoint = (name: string) =>
    `new WebhookEndpoint("${name}", { url: "https://hooks.example.com/${name}", type: "production" });`;
  project.program(`${["a", "b", "c"].map(endpoint).join("\n")}\nexports.receiver = "none";`);
  await project.up();
});
afterAll(async () => {
  project.dispose();
  await emulator.close();
});

/** Gives a command a terminal of its own. */
const PTY = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
/** What a person types when a command asks, and what a terminal answers when Pulumi asks for its cursor: it waits five seconds for that. */
const ANSWERS: Readonly<Record<string, string>> = { perform: "yes\r", "[y/N]": "y\r", "[6n": "\u001b[1;1R" };
const QUESTIONS = /(?<=Do you want to )perform|\[y\/N\](?= )|\[6n/g;

type Surroundings = "a pipe" | "a terminal";

/** Runs a command line as a person types it, and agrees where it asks. */
async function typed(command: string, where: Surroundings) {
  const [program, ...args] = [
    ...(where === "a terminal" ? ["python3", "-c", PTY] : []),
    "bash",
    "--norc",
    "-c",
    command,
  ];
  const child = spawn(program ?? "", args, { cwd: project.folder, env: project.env, stdio: "pipe" });
  let output = "";
  let answered = 0;
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
      const questions = output.match(QUESTIONS) ?? [];
      if (where === "a terminal")
        for (const each of questions.slice(answered)) child.stdin.write(ANSWERS[each]);
      answered = questions.length;
    });
  if (where === "a pipe") child.stdin.end();
  const exitCode = await new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
  return { exitCode, output };
}

/** Runs doctor, and returns the remedies of what it found, by code. */
async function doctor(where: Surroundings, flags = "") {
  const { output } = await typed(`npx pulumi-webhook-endpoints doctor${flags}`, where);
  const plain = output.replace(/\r/g, "");
  const found = plain.matchAll(/^(?:error|note): .* \(([A-Z_]+)\)\n {2}(.+)$/gm);
  return { output: plain, remedies: [...found].map(([, code = "", remedy = ""]) => [code, remedy] as const) };
}

const stateFile = () => join(project.folder, "backend/.pulumi/stacks/test/dev.json");

/** Leaves the state as a killed run of this machine does: with an operation of this kind on a resource, and locked. */
function kill(name: string, type: "creating" | "deleting") {
  const saved = JSON.parse(readFileSync(stateFile(), "utf8"));
  const { latest } = saved.checkpoint;
  const resource = latest.resources.find(({ urn }: { urn: string }) => urn.endsWith(`::${name}`));
  const { id, outputs: _outputs, ...begun } = resource;
  latest.pending_operations = [{ type, resource: type === "creating" ? begun : resource }];
  if (type === "creating") latest.resources = latest.resources.filter((each: object) => each !== resource);
  else emulator.remove(id);
  writeFileSync(stateFile(), JSON.stringify(saved));
  const locks = join(project.folder, "backend/.pulumi/locks/organization/test/dev");
  mkdirSync(locks, { recursive: true });
  const { pid } = spawnSync("true");
  const lock = { pid, username: "killed", hostname: hostname(), timestamp: new Date().toISOString() };
  writeFileSync(join(locks, "5f0c2d1a-0000-4000-8000-000000000000.json"), JSON.stringify(lock));
}

const changes = () => emulator.requests.filter(({ method }) => method !== "GET").map(({ method }) => method);
const IN_ORDER = /Everything that was checked is in order\./;

/** Runs a command that a person or a pipeline types, which must succeed. */
async function run(command: string, where: Surroundings) {
  const { exitCode, output } = await typed(command, where);
  if (exitCode !== 0) throw new Error(`${command}: ${output}`);
}

test("the remedies of doctor, run as a person types them, put in order what a killed up left", async () => {
  const first = await doctor("a terminal");
  expect(first.output).toMatch(IN_ORDER);
  expect(first.output).toMatch(
    /^Not checked: whether receivers run, .*: npx pulumi-webhook-endpoints probe /m,
  );

  // An interrupted creation is dated by its resource, which was just registered. Besides, somebody registered an endpoint twice.
  kill("b", "creating");
  emulator.add({ url: "https://hooks.example.com/a", type: "production" });
  emulator.clearRequests();
  const killed = await doctor("a terminal", " --all");
  expect(killed.remedies).toEqual([
    ["DUPLICATE", expect.stringMatching(/^npx pulumi-webhook-endpoints delete wh_\w+ /)],
    [
      "OPERATION_INTERRUPTED",
      expect.stringMatching(/^pulumi cancel --yes --stack dev && pulumi up --stack dev {3}# if this stays, /),
    ],
  ]);
  expect((await typed("pulumi up", "a terminal")).output).toMatch(/currently locked/);
  for (const [, remedy] of killed.remedies) await run(remedy, "a terminal");
  expect(changes()).toEqual(["DELETE"]);
  const healed = await doctor("a terminal");
  expect(healed.remedies).toEqual([
    ["OPERATION_INTERRUPTED", "pulumi refresh --clear-pending-creates --yes --non-interactive --stack dev"],
  ]);
  for (const [, remedy] of healed.remedies) await run(remedy, "a terminal");
  expect((await doctor("a terminal")).output).toMatch(IN_ORDER);
});

test("the remedies of doctor, run as they are printed in a pipe, put in order what a killed destroy left", async () => {
  kill("c", "deleting");
  const gone = await doctor("a pipe");
  const unlock = "pulumi cancel --yes --stack dev && pulumi";
  expect(gone.remedies).toEqual([
    ["ENDPOINT_GONE", expect.stringMatching(`^${unlock} up --yes --refresh --stack dev {3}#`)],
  ]);
  expect(gone.output).toMatch(new RegExp(`^ {2}${unlock} destroy --yes --stack dev {3}# instead`, "m"));
  for (const [, remedy] of gone.remedies) await run(remedy, "a pipe");
  expect((await doctor("a pipe")).output).toMatch(IN_ORDER);
  expect(emulator.endpoints()).toHaveLength(3);
});

test("the four lines for the night are those that doctor and Pulumi advise", () => {
  const [, block = ""] = /```sh\n(.*?)```/s.exec(read("docs/errors.md")) ?? [];
  expect(
    block
      .trim()
      .split("\n")
      .map((line) => line.replace(/ +#.*/, "")),
  ).toEqual([
    "npx pulumi-webhook-endpoints doctor",
    // Nothing unlocks a stack: a run may be under way. Doctor says so if it was killed.
    // It must not run unless the one before has succeeded: it drops what the `up` needs.
    "pulumi up &&",
    "pulumi refresh --clear-pending-creates --yes --non-interactive",
    "npx pulumi-webhook-endpoints doctor",
  ]);
});

/** The part of an output that a person reads in the end. */
const diagnosticsOf = (output: string) => /^Diagnostics:\n(.*?)^Resources:/ms.exec(output)?.[1] ?? "";

test("what fails for all resources is printed once for each, and explained once; and after a rotation, what the message advises works", async () => {
  await emulator.goOffline();
  const down = diagnosticsOf(await project.fail("destroy", "--yes", "--skip-preview"));
  expect(down.match(/Cannot \w+ .*webhook endpoint.* \(UNREACHABLE\)/g)).toHaveLength(3);
  expect(down.match(/nothing was registered or deleted/g)).toHaveLength(1);
  await emulator.goOnline();
  expect(emulator.endpoints()).toHaveLength(3);

  emulator.rotateKey(API_KEY, "another-key");
  const refused = diagnosticsOf(await project.fail("refresh", "--yes", "--skip-preview"));
  expect(refused.match(/\(UNAUTHORIZED\)/g)).toHaveLength(3);
  expect(refused.match(/add --run-program to them/g)).toHaveLength(1);
  const [[code, remedy = ""] = []] = (await doctor("a pipe")).remedies;
  expect(code).toBe("UNAUTHORIZED");
  const set = await typed(`KEY=another-key; ${remedy}`, "a pipe");
  expect(set).toMatchObject({ exitCode: 0 });
  // The last run has stored the old key, which a plain refresh would use.
  expect((await doctor("a pipe")).remedies).toEqual([
    ["SETTINGS_OUTDATED", expect.stringMatching(/^pulumi up --yes --stack dev /)],
  ]);
  await project.refresh("--run-program");
  project.expectHidden(API_KEY, "another-key");
});
