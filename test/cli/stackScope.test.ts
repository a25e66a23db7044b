import { adopt } from "../../src/cli/adopt/command";
import { leftover, questionOf } from "../../src/cli/checkService/report";
import { diagnose } from "../../src/cli/doctor/diagnose";
import { get } from "../../src/cli/get";
import { list } from "../../src/cli/list";
import { Pulumi } from "../../src/cli/pulumi";
import { readStackReceivers } from "../../src/cli/secrets/stackReceivers";
import { openAccount } from "../../src/cli/service";
import { TemporaryEndpoint } from "../../src/cli/temporaryEndpoint";
import { originOf } from "../../src/endpoint/origin";
import type { Deployment, Resource } from "../../src/settlement/deployment";
import { FakeProject, type FakeProjectOptions, KeptOutput, recorded } from "./fakeProject";
import { FakePulumi } from "./fakePulumi";
import { args, clock, emulator, environment, interrupted, killed, run, said } from "./recovery";

const settings = () => ({ "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey });
const project = (options: Partial<FakeProjectOptions>, stack = "prod") =>
  new FakeProject({ config: settings(), ...options }, stack);

async function findings(pulumi: FakeProject, alsoStacks: readonly string[] = []) {
  const output = new KeptOutput(false);
  const options = { pulumi, output, alsoStacks, folder: __dirname, now: clock.date };
  return diagnose({ ...options, environment: environment() });
}

const add = (path: string) => emulator.add({ url: `https://a.example.com/${path}`, type: "production" });
const managed = (name: string, endpoint: ReturnType<typeof add>, origin: object = {}): Resource => {
  const resource = recorded(name, { ...endpoint, stack: "prod" });
  const today = originOf({ baseUrl: emulator.url, apiKey: emulator.apiKey, providerName: "" });
  return { ...resource, outputs: { ...resource.outputs, ...today, ...origin } };
};

/** Returns the command lines that a text tells to run. */
const commandsIn = (text: string) =>
  [...text.matchAll(/`([^`]+)`|"(pulumi [^"]+)"/g)].map(([, quoted = "", command = quoted]) => command);

function expectStack(text: string, ...wanted: RegExp[]): void {
  const commands = commandsIn(text);
  for (const command of commands) expect(command).toMatch(/ --stack prod( |$)/);
  for (const each of wanted) expect(commands).toContainEqual(expect.stringMatching(each));
}

it("withStack names the stack that the user named, quoted for a shell, and no other", () => {
  expect(new Pulumi(undefined).withStack("pulumi up")).toBe("pulumi up");
  expect(new Pulumi("acme/prod").withStack("pulumi up")).toBe("pulumi up --stack acme/prod");
  expect(new Pulumi("a b").withStack("pulumi up")).toBe("pulumi up --stack 'a b'");
});

it("each command that doctor --stack advises names that stack", async () => {
  const [own, moved, rotated] = [add("own"), add("moved"), add("rotated")];
  add("own");
  add("orphan");
  emulator.edit(add("odd").id, { url: "" });
  const lost = managed("lost", { ...own, url: "https://a.example.com/orphan" });
  const { id: _, ...creating } = lost;
  const prod: Deployment = {
    manifest: { time: new Date(clock.date() - 60_000).toISOString() },
    resources: [
      managed("own", own),
      managed("moved", moved, { baseUrl: "https://old.example.com" }),
      managed("rotated", rotated, { account: "ffffff" }),
    ],
    pending_operations: [{ type: "creating", resource: creating }],
  };
  add("orphan");
  add("unmanaged");
  const { findings: found } = await findings(project({ stacks: { dev: {}, prod } }));
  expect(found.map(({ code }) => code).sort()).toEqual([
    "DUPLICATE",
    "ENDPOINT_UNREADABLE",
    "OTHER_BASE_URL",
    "OTHER_KEY",
    "RECEIVER_OUTPUT_MISSING",
    "REGISTRATION_INTERRUPTED",
    "REGISTRATION_IN_DOUBT",
    "UNMANAGED",
  ]);
  expectStack(
    found.map(({ message, remedy }) => `${message} ${remedy}`).join("\n"),
    ...[/ delete wh_/, / get <id>/, / list --orphans/, /^adopt/, /^prune/, / recover/],
    ...[/^pulumi up/, /^pulumi refresh/, /^destroy/, /^pulumi config set --secret webhooks:apiKey/],
  );
});

it("doctor --stack says of a refused key and of missing settings how to set those of that stack", async () => {
  const refused = await findings(project({ config: { ...settings(), "webhooks:apiKey": "wr0ng" } }));
  expectStack(
    refused.findings.map(({ remedy }) => remedy).join("\n"),
    /^pulumi config set --secret webhooks:apiKey/,
  );
  const missing = await findings(project({ config: {} }));
  expectStack(
    missing.findings.map(({ message }) => message).join("\n"),
    /^pulumi config set webhooks:baseUrl …/,
    /^pulumi config set --secret webhooks:apiKey …/,
  );
});

it("doctor sends the reader to the folder of a stack of another project that --also-stack names, not of its own", async () => {
  const gone = add("gone");
  emulator.remove(gone.id);
  const deployment = { resources: [managed("a", gone)] };
  const name = "organization/other/dev";
  const pulumi = project({ stacks: { prod: deployment }, others: { [name]: deployment } });
  const { findings: found } = await findings(pulumi, [name]);
  const remedies = found.filter(({ code }) => code === "ENDPOINT_GONE").map(({ remedy }) => remedy);
  expect(remedies).toEqual([
    expect.stringMatching(
      /^Change to the folder of this stack's project\. Run `pulumi refresh --stack organization\/other\/dev`/,
    ),
    expect.stringMatching(/^Run `pulumi refresh --stack prod`/),
  ]);
});

it("each command that list and get advise for --stack names that stack", async () => {
  const options = { output: new KeptOutput(false), alsoStacks: [], environment: {} };
  const missing = list({ ...options, pulumi: project({ config: {} }), orphans: false });
  expectStack(
    String(await missing.catch((error: unknown) => error)),
    /^pulumi config set webhooks:baseUrl …/,
  );
  const found = get({ ...options, pulumi: project({ stacks: { prod: {} } }), id: "wh_none" });
  expectStack(String(await found.catch((error: unknown) => error)), / list /);
});

it("a command that lacks the output of --stack names that stack in its advice", async () => {
  const pulumi = Object.assign(new Pulumi("prod"), { json: async () => ({}) });
  const reading = readStackReceivers(pulumi, "receiver");
  expectStack(String(await reading.catch((error: unknown) => error)), /^pulumi up/);
});

it("each command that adopt advises for --stack names that stack", async () => {
  const own = add("own");
  add("own");
  add("orphan");
  const stacks = { prod: { resources: [managed("own", own)] } };
  for (const native of [false, true]) {
    const output = new KeptOutput(false);
    const options = { output, native, ids: [], alsoStacks: [], environment: {} };
    await adopt({ ...options, pulumi: project({ stacks }) });
    expectStack(output.kept.stderr, / delete wh_/, native ? /^pulumi import --file/ : /^pulumi up/);
  }
});

it("each command that recover --stack advises names that stack", async () => {
  const adopting = interrupted("b", { adoptId: "wh_1", url: "https://b.example.com/" });
  emulator.add(args);
  const { deployment, config } = killed({ operations: [interrupted("a"), adopting] });
  await run(new FakePulumi(deployment, config, "prod"));
  expectStack(said.join("\n"), /^pulumi up/, /^pulumi refresh --clear-pending-creates --yes/);
});

it("recover --stack names that stack where it tells how to decide what is in doubt", async () => {
  emulator.add(args);
  emulator.add(args);
  const { deployment, config } = killed({ operations: [interrupted("a")] });
  await run(new FakePulumi(deployment, config, "prod"));
  expectStack(said.join("\n"), / recover/);
});

it("each command that listen and check-service advise for --stack names that stack", async () => {
  const account = openAccount(
    (name) => new Map(Object.entries(settings())).get(name),
    {},
    new Pulumi("prod"),
  );
  try {
    emulator.fault({ operation: "delete", kind: "status", status: 400 });
    const url = "https://a.example.com/";
    const endpoint = new TemporaryEndpoint({ account, url, note: () => {} });
    await endpoint.register();
    expectStack(String(await endpoint.remove().catch((error: unknown) => error)), / list /, /^prune/);
    expect(leftover(["wh_1"], account)).toContain("Run check-service --stack prod");
    const question = questionOf({
      ...{ account, urls: { own: url, invalid: "not a url" } },
      marked: { left: [], open: ["wh_1"] },
    });
    expectStack(question.join("\n"), / delete wh_1/);
  } finally {
    await account.client.close();
  }
});
