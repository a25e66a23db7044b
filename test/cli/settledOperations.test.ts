import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diagnose } from "../../src/cli/doctor/diagnose";
import { prune } from "../../src/cli/prune";
import { type Emulator, startEmulator } from "../../src/emulator";
import { originOf } from "../../src/endpoint/origin";
import type { Deployment, Resource } from "../../src/settlement/deployment";
import { FakeProject, type FakeProjectOptions, KeptOutput, recorded } from "./fakeProject";

let now: number;
let emulator: Emulator;
let home: string;
beforeEach(async () => {
  now = Date.now();
  emulator = await startEmulator({ now: () => now });
  home = mkdtempSync(join(tmpdir(), "a17-"));
});
afterEach(async () => {
  rmSync(home, { recursive: true, force: true });
  await emulator.close();
});
const environment = () => ({ PULUMI_HOME: home, PULUMI_BACKEND_URL: "file:///backend" });
const settings = () => ({ "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey });
async function doctor(project: Partial<FakeProjectOptions>) {
  const pulumi = new FakeProject({ config: settings(), stacks: { dev: {} }, ...project });
  const diagnosis = await diagnose({
    ...{
      pulumi,
      output: new KeptOutput(false),
      alsoStacks: [],
      environment: environment(),
      folder: __dirname,
      now: () => now,
    },
  });
  return { ...diagnosis, codes: diagnosis.findings.map(({ level, code }) => `${level} ${code}`).sort() };
}
const urn = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
const iso = (offset: number) => new Date(now + offset).toISOString();
const HOUR = 3_600_000;
const root = (resources: Resource[], created = -100 * HOUR): Deployment => ({
  resources: [
    { urn, type: "pulumi:pulumi:Stack", created: iso(created), outputs: { receiver: "x" } },
    ...resources,
  ],
});
const today = () => originOf({ baseUrl: emulator.url, apiKey: emulator.apiKey, providerName: "" });
const args = { url: "https://a.example.com/a", type: "production" as const };
const made = (name: string, createdAt: string, stack = "dev") => {
  const resource = recorded(name, { ...emulator.add({ ...args, createdAt }), stack });
  return { ...resource, outputs: { ...resource.outputs, ...today() } };
};

/** The state of a stack whose url is a secret: the healed operation and the resource have the url with another nonce. */
function secretHealed() {
  const a = { ...made("a", iso(-50 * HOUR)), created: iso(-49 * HOUR) };
  const secret = (ciphertext: string) => ({
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    ciphertext,
  });
  const { id: _id, outputs: _o, ...operation } = a;
  const resource = {
    ...a,
    inputs: { ...a.inputs, url: secret("v1:aaa") },
    outputs: { ...a.outputs, url: secret("v1:bbb") },
  };
  const interrupted = { ...operation, inputs: { ...a.inputs, url: secret("v1:ccc") } };
  const dev = {
    ...root([resource]),
    manifest: { time: iso(-49 * HOUR) },
    pending_operations: [{ type: "creating", resource: interrupted }],
  };
  const history = [
    {
      kind: "update",
      result: "succeeded",
      startTime: iso(-49 * HOUR - 10_000),
      endTime: iso(-49 * HOUR + 1_000),
    },
  ];
  return { stacks: { dev }, history };
}
test("doctor: a killed registration with a secret url that an up has healed is settled", async () => {
  const { codes } = await doctor(secretHealed());
  expect(codes).toEqual(["note OPERATIONS_SETTLED"]);
});
test("prune is not kept from deleting any endpoint by a killed registration with a secret url that an up has healed", async () => {
  const project = secretHealed();
  emulator.add({ url: "https://b.example.com/unrelated", type: "production", createdAt: iso(-500 * HOUR) });
  emulator.add({ url: "https://b.example.com/later", type: "production", createdAt: iso(-20 * HOUR) });
  const output = new KeptOutput(true);
  const pulumi = new FakeProject({ config: settings(), ...project });
  await prune({
    pulumi,
    output,
    type: "production",
    yes: true,
    alsoStacks: [],
    environment: environment(),
    olderThanMs: 10 * HOUR,
  });
  expect(emulator.endpoints()).toHaveLength(1);
});
