import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DiagnoseOptions } from "../../src/cli/doctor/diagnose";
import { withoutSecrets } from "../../src/cli/knownSecrets";
import { type Emulator, startEmulator } from "../../src/emulator";
import { originOf } from "../../src/endpoint/origin";
import type { Deployment, Resource } from "../../src/settlement/deployment";
import { inPages } from "../emulator/odd";
import { diagnosed, settingsOf } from "./doctoring";
import { FakeProject, type FakeProjectOptions, recorded } from "./fakeProject";

let now: number;
let emulator: Emulator;
beforeEach(async () => {
  now = Date.now();
  emulator = await startEmulator({ now: () => now });
});
afterEach(() => emulator.close());

const settings = () => settingsOf(emulator);

const run = (project: Partial<FakeProjectOptions>, options: Partial<DiagnoseOptions> = {}) =>
  diagnosed(emulator, project, { now: () => now, ...options });

const STACK_URN = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
const withReceiver = (resources: Resource[]): Deployment => ({
  resources: [
    {
      urn: STACK_URN,
      type: "pulumi:pulumi:Stack",
      created: new Date(now - 7_200_000).toISOString(),
      outputs: { receiver: { ciphertext: "v1:x" } },
    },
    ...resources,
  ],
});
const today = () => originOf({ baseUrl: emulator.url, apiKey: emulator.apiKey, providerName: "" });
const made = (name: string, origin: object = today()) => {
  const endpoint = emulator.add({ url: `https://a.example.com/${name}`, type: "production" });
  const resource = recorded(name, endpoint);
  return { ...resource, outputs: { ...resource.outputs, ...origin } };
};

it("doctor finds nothing wrong with a stack in order", async () => {
  const { codes, service } = await run({ stacks: { dev: withReceiver([made("a")]) } });
  expect(codes).toEqual([]);
  expect(service).toEqual({
    reachable: true,
    keyAccepted: true,
    clockDifferenceSeconds: expect.any(Number),
    endpoints: 1,
  });
});

it("doctor shows where each setting comes from, and no value of a secret", async () => {
  const { settings: shown } = await run(
    { config: { "webhooks:apiKey": emulator.apiKey, "webhooks:apiKeyHeader": "x-api-key" } },
    { environment: { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: "unused" } },
  );
  expect(shown).toEqual({
    baseUrl: { value: emulator.url, from: "environment", name: "WEBHOOKS_BASE_URL" },
    apiKey: { value: null, from: "stack", name: "webhooks:apiKey", fingerprint: today().account },
    apiKeyHeader: { value: "x-api-key", from: "stack", name: "webhooks:apiKeyHeader" },
    apiKeyScheme: { value: null, from: "default", name: null },
    timeoutSeconds: { value: "30", from: "default", name: null },
    showResponses: { value: "false", from: "default", name: null },
  });
});

it.each([
  { "webhooks:apiKeyHeader": "Authorization: Bearer KEY" },
  { "webhooks:apiKeyScheme": "Bearer KEY" },
  { "webhooks:apiKeyScheme": "sk_live_51HxYz0123456789" },
])("doctor shows no key in the place of another setting: %j", async (wrong) => {
  const [[name, value] = ["", ""]] = Object.entries(wrong);
  const given = value.replace("KEY", emulator.apiKey);
  const { settings: shown } = await run({ config: { ...settings(), [name]: given } });
  expect(JSON.stringify(shown)).not.toContain(given);
});

it("doctor shows no base URL that may hold a password, and goes on without the service", async () => {
  const config = { ...settings(), "webhooks:baseUrl": "https://user:passw0rd@example.com" };
  const { service, codes, stacks, ...rest } = await run({
    config,
    stacks: { dev: withReceiver([made("a")]) },
  });
  expect(JSON.stringify(rest)).not.toContain("passw0rd");
  expect(codes).toEqual(["error SETTINGS_INVALID"]);
  expect(service).toEqual({
    reachable: null,
    keyAccepted: null,
    clockDifferenceSeconds: null,
    endpoints: null,
  });
  expect(stacks).toEqual(["dev"]);
});

it("doctor names everything at once: what is unreachable, unreadable, pending and interrupted", async () => {
  const pending = { ...made("pending"), id: "pending:1" };
  const { id: _, ...creating } = made("interrupted");
  const stacks = {
    dev: {
      ...withReceiver([pending]),
      pending_operations: [
        { type: "creating", resource: creating },
        { type: "deleting", resource: made("leaving") },
      ],
    },
    prod: "access denied",
  };
  const { codes, findings } = await run({
    config: { ...settings(), "webhooks:baseUrl": "http://127.0.0.1:1" },
    stacks,
  });
  expect(codes).toEqual(
    [
      "error OPERATION_INTERRUPTED",
      "error OTHER_BASE_URL",
      "error REGISTRATION_INTERRUPTED",
      "error REGISTRATION_PENDING",
      "error STACK_UNREADABLE",
      "error UNREACHABLE",
    ]
      .filter((code) => code !== "error OTHER_BASE_URL")
      .concat("note OTHER_BASE_URL"),
  );
  const remedies = findings.map(({ remedy }) => remedy).join("\n");
  expect(remedies).toMatch(/pulumi cancel --stack dev.*pulumi up --stack dev.*recover --stack dev/);
});

describe("after an interrupted run", () => {
  const creating = (name: string, { url, type }: { url: string; type: string }) => {
    const { id: _, ...resource } = recorded(name, { id: "", url, type });
    return { type: "creating", resource };
  };

  it("doctor names an operation that is settled in one line, with the command that ends Pulumi's warning", async () => {
    const [a, b] = [made("a"), made("b")];
    const operations = [a, b].map(({ id: _, ...resource }) => ({ type: "creating", resource }));
    const dev = { ...withReceiver([a, b]), pending_operations: operations };
    const { codes, findings } = await run({ stacks: { dev } });
    expect(codes).toEqual(["note OPERATIONS_SETTLED"]);
    expect(findings[0]?.message).toMatch(/a in test\/dev and b in test\/dev/);
    expect(findings[0]?.remedy).toMatch(/`pulumi refresh --stack dev --clear-pending-creates --yes`/);
  });

  it("doctor leaves to up what up takes over", async () => {
    const endpoint = emulator.add({ url: "https://a.example.com/", type: "production" });
    const manifest = { time: new Date(now - 60_000).toISOString() };
    const dev = { ...withReceiver([]), manifest, pending_operations: [creating("a", endpoint)] };
    const { codes } = await run({ stacks: { dev } });
    expect(codes).toEqual(["error REGISTRATION_INTERRUPTED"]);
  });

  it("doctor says what is in doubt in the words of up", async () => {
    const endpoints = [1, 2].map(() => emulator.add({ url: "https://a.example.com/", type: "production" }));
    const manifest = { time: new Date(now - 60_000).toISOString() };
    const [endpoint = { url: "", type: "" }] = endpoints;
    const dev = { ...withReceiver([]), manifest, pending_operations: [creating("a", endpoint)] };
    const { codes, findings } = await run({ stacks: { dev } });
    expect(codes).toEqual(["error REGISTRATION_INTERRUPTED", "error REGISTRATION_IN_DOUBT"]);
    const doubt = findings.find(({ code }) => code === "REGISTRATION_IN_DOUBT");
    for (const { id } of endpoints) expect(doubt?.message).toContain(id);
    expect(doubt?.message).toMatch(/set adoptId: .*ifExists: "register"/);
    expect(doubt?.remedy).toContain("recover --stack dev");
  });

  it("doctor names what a killed replacement left, and calls it neither a duplicate nor unmanaged", async () => {
    const old = made("a");
    const { id: _, ...operation } = old;
    const created = new Date(now - 3_600_000).toISOString();
    const manifest = { time: new Date(now).toISOString() };
    const left = emulator.add({ url: "https://a.example.com/a", type: "production" });
    now += 600_000;
    const dev = {
      ...{ ...withReceiver([{ ...old, created }]), manifest },
      pending_operations: [{ type: "creating", resource: operation }],
    };
    const { codes, findings } = await run({ stacks: { dev } });
    expect(codes).toEqual(["error LEFTOVER", "note OPERATIONS_SETTLED"]);
    const theirs = {
      ...old,
      urn: made("theirs").urn,
      id: left.id,
      outputs: { ...old.outputs, id: left.id },
    };
    const taken = await run({ stacks: { dev, prod: withReceiver([theirs]) } });
    expect(taken.codes).not.toContain("error LEFTOVER");
    // First, because the other finding's remedy makes the state forget the operation.
    expect(findings[0]?.message).toContain(left.id);
    expect(findings[0]?.remedy).toContain("recover --stack dev");
  });
});

it("doctor says that the key is refused, and still compares the clocks", async () => {
  const { codes, service, findings } = await run(
    { config: { ...settings(), "webhooks:apiKey": "wr0ng" } },
    { now: () => now - 90_000 },
  );
  expect(codes).toEqual(["error CLOCK_DIFFERS", "error UNAUTHORIZED"]);
  expect(findings[0]?.remedy).toMatch(/`pulumi config set --secret webhooks:apiKey`/);
  expect(service).toMatchObject({ reachable: true, keyAccepted: false });
  expect(Math.abs((service.clockDifferenceSeconds ?? 0) - 90)).toBeLessThanOrEqual(1);
});

it.each([
  ["another key that finds the endpoints", { account: "ffffff" }, true, "note OTHER_KEY"],
  ["another key that does not find them", { account: "ffffff" }, false, "error OTHER_KEY"],
  [
    "a base URL that the service moved from",
    { baseUrl: "https://old.example.com" },
    true,
    "note OTHER_BASE_URL",
  ],
  ["another service", { baseUrl: "https://old.example.com" }, false, "error OTHER_BASE_URL"],
])("doctor compares today's settings with those recorded: %s", async (_what, origin, isListed, expected) => {
  const resource = made("a", { ...today(), ...origin });
  if (!isListed) emulator.remove(resource.id ?? "");
  const { codes } = await run({ stacks: { dev: withReceiver([resource]) } });
  expect(codes).toEqual([expected]);
});

it("doctor compares today's settings with what a resource of the default provider recorded, also if it had another before", async () => {
  const resource = made("a", { ...today(), account: "ffffff", provider: "before" });
  expect((await run({ stacks: { dev: withReceiver([resource]) } })).codes).toEqual(["note OTHER_KEY"]);
});

it("doctor names the endpoints that were registered with another key as a sentence", async () => {
  const resources = ["a", "b", "c", "d", "e", "f", "g"].map((name) =>
    made(name, { ...today(), account: "ffffff" }),
  );
  const { findings } = await run({ stacks: { dev: withReceiver(resources) } });
  expect(findings[0]?.message).toBe(
    `a, b, c, d, e and 2 more of the stack dev were registered with the key ffffff, not with the current one (${today().account})`,
  );
  expect(findings[0]?.remedy).toMatch(/`pulumi config set --secret webhooks:apiKey`/);
});

it("doctor names only what the service lacks of what was registered with another key", async () => {
  const [kept, gone] = ["kept", "gone"].map((name) => made(name, { ...today(), account: "ffffff" }));
  emulator.remove(gone?.id ?? "");
  const { findings } = await run({
    stacks: { dev: withReceiver([kept, gone].filter((each) => each !== undefined)) },
  });
  expect(findings.map(({ message }) => message)).toEqual([
    `gone of the stack dev was registered with the key ffffff, not with the current one (${today().account}), and the service doesn't list it`,
  ]);
});

it("doctor names the endpoints that a stack manages and a complete list lacks", async () => {
  const [gone, lost, kept] = [made("gone"), made("lost"), made("kept")];
  const leaving = made("leaving");
  const explained = [
    { ...made("read"), external: true },
    { ...made("replaced"), delete: true },
    leaving,
    { ...made("pending"), id: "pending:1" },
    made("elsewhere", { ...today(), baseUrl: "https://other.example.com" }),
  ];
  for (const { id } of emulator.endpoints()) if (id !== kept.id) emulator.remove(id);
  const dev = {
    ...withReceiver([gone, kept, lost, ...explained]),
    pending_operations: [{ type: "deleting", resource: leaving }],
  };
  const { findings, codes } = await run({ stacks: { main: {}, dev } });
  expect(codes).toEqual(["error ENDPOINT_GONE", "error OPERATION_INTERRUPTED", "error REGISTRATION_PENDING"]);
  expect(findings.find(({ code }) => code === "ENDPOINT_GONE")).toMatchObject({
    message: "the service no longer has gone and lost, which the stack dev manages",
    remedy: expect.stringMatching(/`pulumi refresh --stack dev`.*`pulumi up --stack dev`/),
  });
});

it("doctor does not call an endpoint gone that a run registers while doctor works", async () => {
  const stacks: Record<string, Deployment> = { dev: {} };
  const before = (command: string) => {
    if (command === "stack ls") stacks.dev = withReceiver([made("a")]);
  };
  expect((await run({ stacks, before })).codes).toEqual([]);
});

it("doctor does not call an endpoint gone that a run has just registered and the list lacks still", async () => {
  const [fresh, old] = [made("fresh"), made("old")];
  const empty = { operation: "list", kind: "status", status: 200, body: "[]" } as const;
  const codesAt = async (resource: Resource, time: number) => {
    emulator.fault({ ...empty, times: 3 });
    const manifest = { time: new Date(time).toISOString() };
    const { codes } = await run({ stacks: { dev: { ...withReceiver([resource]), manifest } } });
    emulator.clearFaults();
    return codes;
  };
  expect(await codesAt(fresh, now - 2_000)).toEqual([]);
  expect(await codesAt(old, now - 6_000)).toEqual(["error ENDPOINT_GONE"]);
});

it("doctor does not call an endpoint gone, nor a moved one lost, whose id the list spells in another case", async () => {
  const [here, moved] = [made("here"), made("moved", { ...today(), baseUrl: "https://old.example.com" })];
  const inCapitals = [here, moved].map((each) => ({ ...each, id: each.id?.toUpperCase() ?? "" }));
  const { codes } = await run({ stacks: { dev: withReceiver(inCapitals) } });
  expect(codes).toEqual(["note OTHER_BASE_URL", "note PERHAPS_MANAGED", "note PERHAPS_MANAGED"]);
});

it("doctor reads and counts a stack once that --stack or --also-stack names in full", async () => {
  const gone = made("gone");
  const moved = made("moved", { ...today(), account: "ffffff" });
  emulator.remove(gone.id ?? "");
  const project = { config: settings(), stacks: { prod: {}, dev: withReceiver([gone, moved]) } };
  const pulumi = new FakeProject(project, "organization/test/dev");
  const named = await run({}, { pulumi });
  expect(named).toMatchObject({
    stacks: ["dev", "prod"],
    codes: ["error ENDPOINT_GONE", "note OTHER_KEY"],
    findings: [{ message: expect.stringContaining("the stack dev ") }, {}],
  });
  const also = await run(project, { alsoStacks: ["organization/test/dev"] });
  expect([also.stacks, also.codes]).toEqual([["dev", "prod"], ["error ENDPOINT_GONE"]]);
});

it("doctor reads a stack of another organization besides one with the same project and name", async () => {
  const [here, there] = [made("here"), made("there")];
  const unlisted = { "acme/test/dev": withReceiver([there]) };
  const project = { stacks: { dev: withReceiver([here]) }, unlisted };
  const { stacks, codes } = await run(project, { alsoStacks: ["acme/test/dev"] });
  expect([stacks, codes]).toEqual([["acme/test/dev", "dev"], []]);
});

it("doctor shows no base URL in a finding if it is a secret of the configuration", async () => {
  const before = "https://old.example.com";
  const stacks = { dev: withReceiver([made("a", { ...today(), baseUrl: before })]) };
  const { settings: shown, findings, codes } = await run({ stacks, secrets: ["webhooks:baseUrl"] });
  expect([shown.baseUrl.value, codes]).toEqual([null, ["note OTHER_BASE_URL"]]);
  for (const url of [before, emulator.url]) expect(JSON.stringify(findings)).not.toContain(url);
});

it("no output holds a base URL that is a secret of the configuration, as the message of a lost connection would", async () => {
  const config = { ...settings(), "webhooks:baseUrl": "http://LOCALHOST:1/" };
  const { findings } = await run({ config, secrets: ["webhooks:baseUrl"] });
  const message = findings.find(({ code }) => code === "UNREACHABLE")?.message ?? "";
  expect(message).toContain("http://localhost:1/");
  expect(withoutSecrets(message)).not.toContain("localhost");
});

it("doctor calls no endpoint gone because a partial list lacks it", async () => {
  await emulator.close();
  emulator = await startEmulator({ answer: inPages(1) });
  const resources = [made("listed"), made("unlisted")];
  expect((await run({ stacks: { dev: withReceiver(resources) } })).codes).toEqual(["error LIST_PARTIAL"]);
});

it("doctor reports duplicates, unmanaged endpoints and a missing receiver output, and only the first is an error", async () => {
  const managed = made("a");
  emulator.add({ url: "https://A.example.com/a", type: "production" });
  const { id } = emulator.add({ url: "https://a.example.com/b", type: "production" });
  const reader = (name: string) => ({ ...made(name), external: true });
  // One has the url of the managed one.
  const alike = {
    ...recorded("alike", emulator.add({ url: "https://a.example.com/a", type: "production" })),
    external: true,
  };
  const { codes, findings } = await run({ stacks: { dev: { resources: [managed, reader("read"), alike] } } });
  expect(codes).toEqual(["error DUPLICATE", "note RECEIVER_OUTPUT_MISSING", "note UNMANAGED"]);
  // Not the duplicate, which has its own finding, and not the endpoint that a stack reads.
  expect(findings.find(({ code }) => code === "UNMANAGED")?.message).toBe(`no stack manages ${id}`);
});

it("doctor names an endpoint that two stacks have, of whatever project, and list and get name both", async () => {
  const here = made("here");
  const there = { ...here, urn: here.urn.replace("dev::test", "prod::shop") };
  const [twice, once] = [made("twice"), made("once", { ...today(), account: "ffffff" })];
  const dev = withReceiver([here, { ...twice, urn: `${twice.urn}2` }, twice]);
  const ofAnotherKey = { ...once, urn: once.urn.replace("dev::test", "prod::shop") };
  const others = { "organization/shop/prod": { resources: [there, ofAnotherKey] } };
  const { codes, findings } = await run({ stacks: { dev }, others });
  expect(codes).toEqual(["error MANAGED_TWICE"]);
  const [{ message = "", remedy = "" } = {}] = findings;
  expect(message).toBe(
    `here in test/dev and here in shop/prod manage the same endpoint, ${here.id}. The first stack that deletes it takes it from the others`,
  );
  expect(remedy).toContain(`(${here.urn}, ${there.urn})`);
});

it("doctor looks for owners in every project, and reports the states of this one", async () => {
  const elsewhere = made("elsewhere");
  const lost = { ...made("lost"), id: "pending:1" };
  const { id } = emulator.add({ url: "https://a.example.com/x", type: "production" });
  const others = { "organization/other/dev": { resources: [elsewhere, lost] } };
  for (const { id: each } of emulator.endpoints())
    if (each !== elsewhere.id && each !== id) emulator.remove(each);
  const project = { stacks: { dev: withReceiver([]) }, others };
  const { codes, findings, stacks } = await run(project);
  expect(codes).toEqual(["note UNMANAGED"]);
  expect(findings[0]?.message).toBe(`no stack manages ${id}`);
  expect(stacks).toEqual(["dev", "organization/other/dev"]);

  const narrow = await run(project, { projectOnly: true });
  expect(narrow.codes).toEqual(["note UNMANAGED"]);
  expect(narrow.findings[0]?.message).toBe(`no stack of this project manages ${elsewhere.id} and ${id}`);
  expect(narrow.stacks).toEqual(["dev"]);
});

it("doctor says who may have an endpoint whose id a state has with another base URL", async () => {
  const resource = made("a", {
    ...today(),
    baseUrl: "https://other.example.com",
    url: "https://b.example.com",
  });
  const others = { "organization/other/dev": { resources: [resource] } };
  const { codes, findings } = await run({ stacks: { dev: withReceiver([]) }, others });
  expect(codes).toEqual(["note PERHAPS_MANAGED"]);
  expect(findings[0]?.message).toContain(`${resource.id} may be managed: a in test/dev may be its resource`);
});

it("doctor names the command as it works in the folder of a program without this package", async () => {
  const folder = mkdtempSync(join(tmpdir(), "doctor-"));
  try {
    emulator.add({ url: "https://a.example.com/x", type: "production" });
    const { findings } = await run({ stacks: { dev: withReceiver([]) } }, { folder });
    expect(findings[0]?.remedy).toContain("`npx pulumi-webhook-endpoints list --orphans`");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("doctor calls nothing unmanaged while a stack cannot be read", async () => {
  made("a");
  expect((await run({ stacks: { dev: {}, prod: "access denied" } })).codes).toEqual([
    "error STACK_UNREADABLE",
  ]);
});
