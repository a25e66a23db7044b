import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { OUTPUT_LINE } from "../../src/cli/commands/doctor/stackFindings";
import { type Emulator, startEmulator } from "../../src/emulator";
import { AFTER_INPUT } from "../../src/shared/permanent";
import { API_KEY, Project } from "./project";

jest.setTimeout(300_000);

const command = join(__dirname, "../../dist/cli/main.js");

// One stack for both: the second test begins with what the first one left.
let emulator: Emulator;
let project: Project;
beforeAll(async () => {
  let count = 0;
  emulator = await startEmulator({ apiKey: API_KEY, newId: () => `wh_${++count}` });
  project = new Project({ config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": API_KEY } });
});
afterAll(async () => {
  project.dispose();
  await emulator.close();
});

const at = (path: string) => ({ url: `https://hooks.example.com/${path}`, type: "development" as const });
const changes = () => emulator.requests.filter(({ method }) => method !== "GET");
const stacks = () => join(project.folder, "backend", ".pulumi", "stacks");
const run = async (...args: string[]) => project.run(process.execPath, command, ...args);

test("list and doctor tell who has an endpoint by the states that Pulumi's own command prints, and what adopt writes runs", async () => {
  project.declare({ jobs: at("jobs") });
  await project.up();
  const strays = [emulator.add(at("by-hand?quote=\"'`$x")), emulator.add(at("stray"))];
  // Another project in the same backend, which has the same endpoint.
  cpSync(join(stacks(), "test"), join(stacks(), "billing"), { recursive: true });
  const listed = await run("list", "--all");
  expect(listed.stdout).toMatch(/^wh_1 .* jobs in test\/dev and jobs in test\/dev$/m);
  expect(listed.stdout).toMatch(/^wh_3 .* no stack$/m);
  rmSync(join(stacks(), "billing"), { recursive: true });
  expect((await run("doctor", "--all")).stdout).toMatch(/no stack has wh_2 and wh_3 \(UNMANAGED\)/);

  const adopted = await run("adopt", ...strays.map(({ id }) => id));
  // Beside what doctor has to paste.
  const code = `${adopted.stdout}\n${OUTPUT_LINE}\n`;
  project.write("adopted.ts", code);
  const tsc = join(project.folder, "node_modules/typescript/bin/tsc");
  const strict = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "commonjs",
    "--moduleResolution",
    "node10",
  ];
  const compiled = await project.run(process.execPath, tsc, ...strict, "adopted.ts");
  expect(compiled).toMatchObject({ output: "", exitCode: 0 });
  await project.succeed(
    "config",
    "set",
    "--secret",
    "signingSecret",
    `whsec_${Buffer.alloc(24, 1).toString("base64")}`,
  );
  project.write("adopted.js", ts.transpile(code, { module: ts.ModuleKind.CommonJS }));
  project.declare({ jobs: at("jobs") }, 'require("./adopted.js");');
  emulator.clearRequests();
  expect(await project.up()).toMatch(/\+ 2 created/);
  expect(changes()).toEqual([]);
  expect((await run("list", "--orphans")).output).toMatch(/There are no orphans/);
});

test("what a killed run left is pending, and nothing is deleted while a state cannot be read", async () => {
  const file = join(stacks(), "test", "dev.json");
  const saved = JSON.parse(readFileSync(file, "utf8"));
  const { id: _id, outputs: _outputs, inputs, urn, ...more } = project.endpoints().jobs ?? { urn: "" };
  const killed = { ...more, urn: urn.replace(/jobs$/, "killed"), inputs: { ...inputs, ...at("killed") } };
  saved.checkpoint.latest.pending_operations = [{ type: "creating", resource: killed }];
  writeFileSync(file, JSON.stringify(saved));
  // At once, as a run does, however long ago that was here.
  emulator.add({ ...at("killed"), createdAt: new Date(Number(inputs?.[AFTER_INPUT])).toISOString() });
  emulator.add(at("orphan"));
  emulator.clearRequests();

  expect((await run("list", "--all")).stdout).toMatch(
    /^wh_4 .* perhaps killed in test\/dev \(interrupted\)$/m,
  );
  expect((await run("doctor")).stdout).toMatch(
    /while it registered killed in test\/dev, and may have made wh_4/,
  );
  expect((await run("delete", "wh_4", "--yes")).output).toMatch(/--clear-pending-creates.*\(NOT_DELETABLE\)/);

  writeFileSync(join(stacks(), "old.json"), "{}");
  const orphans = ["delete", "--orphans", "--older-than", "0s", "--yes"];
  expect((await run(...orphans)).output).toMatch(/pulumi state upgrade.*\(OWNERSHIP_UNKNOWN\)/);
  rmSync(join(stacks(), "old.json"));
  expect(changes()).toEqual([]);
  expect((await run(...orphans)).stdout).toMatch(/^Deleted wh_5$/m);
  expect(emulator.endpoints().map(({ id }) => id)).toEqual(["wh_1", "wh_2", "wh_3", "wh_4"]);
  project.expectHidden(API_KEY);
});
