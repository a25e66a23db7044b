import type { DiagnoseOptions } from "../../src/cli/doctor/diagnose";
import { versionFindings } from "../../src/cli/doctor/versions";
import { CliError } from "../../src/cli/errors";
import { type Emulator, startEmulator } from "../../src/emulator";
import { diagnosed } from "./doctoring";
import type { FakeProjectOptions } from "./fakeProject";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(() => emulator.close());

const environment = () => ({ WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: emulator.apiKey });
const run = (project: Partial<FakeProjectOptions>, options: Partial<DiagnoseOptions> = {}) =>
  diagnosed(emulator, project, options);

const NO_PROJECT = "error: no Pulumi.yaml project file found";

it.each([
  ["in a folder without a project", { failure: NO_PROJECT }, ["note NO_STACK"]],
  ["without a selected stack", { configFailure: "error: no stack selected" }, []],
  ["without the command pulumi", { failure: "ENOENT" }, ["note CLI_MISSING"]],
])("doctor works with the environment alone %s", async (_where, project, expected) => {
  const { codes, service } = await run(project, { environment: environment() });
  expect(codes).toEqual(expected);
  expect(service.keyAccepted).toBe(true);
});

it.each([
  [{ configFailure: "error: no stack selected" }, "no stack is selected", /`pulumi stack select`.*--stack/],
  [{ failure: NO_PROJECT }, "this folder has no Pulumi project", /folder of a Pulumi program/],
  [
    { failure: "ENOENT" },
    "the command pulumi was not found on PATH",
    /WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY/,
  ],
])("doctor names the cause when there are no settings: %j", async (project, cause, remedy) => {
  const { findings } = await run(project);
  const found = findings.filter(({ code }) => code === "SETTINGS_INVALID");
  expect(found).toEqual([expect.objectContaining({ remedy: expect.stringMatching(remedy) })]);
  expect(found[0]?.message).toContain(`because ${cause}`);
});

const cannotStart = () => {
  throw new CliError("PULUMI_FAILED", "the command pulumi cannot be started (EACCES)");
};

it.each([
  [{ configFailure: "error: passphrase must be set" }, ["error PULUMI_FAILED"]],
  [{ before: cannotStart }, ["error PULUMI_FAILED", "error STACK_UNREADABLE"]],
])(
  "doctor blames nothing but Pulumi's own failure when that hides the settings: %j",
  async (project, codes) => {
    expect((await run(project, { environment: environment() })).codes).toEqual(codes);
  },
);

it("old versions are notes", () => {
  const old = versionFindings({ package: "1.0.0", node: "20.9.0", pulumi: "3.149.9", sdk: "2.999.0" });
  expect(old.map(({ level, code }) => `${level} ${code}`)).toEqual([
    "note NODE_OLD",
    "note CLI_OLD",
    "note SDK_OLD",
  ]);
  expect(versionFindings({ package: "1.0.0", node: "20.18.1", pulumi: "3.150.0", sdk: "4.0.0" })).toEqual([]);
});
