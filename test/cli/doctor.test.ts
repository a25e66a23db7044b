import type { Finding } from "../../src/cli/commands/doctor/findings";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator";
import {
  type Backend,
  backend,
  interrupted,
  originAt,
  pendingResource,
  recorded,
  SECRET_URL,
} from "./backend";
import { API_KEY, run, runBin } from "./running";

const url = "https://hooks.example.com/jobs";
const root = {
  urn: "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
  type: "pulumi:pulumi:Stack",
  outputs: { receiver: {} },
};

let service: Emulator;
afterEach(() => service.close());

/** Starts the service, with endpoints wh_1, wh_2 and so on. */
async function serve({
  urls = [url],
  ...options
}: EmulatorOptions & { readonly urls?: readonly string[] } = {}) {
  let count = 0;
  service = await startEmulator({ apiKey: API_KEY, newId: () => `wh_${++count}`, ...options });
  for (const each of urls)
    service.add({ url: each, type: "development", createdAt: new Date(at).toISOString() });
  return { origin: originAt(service.url) };
}

/** An endpoint as the state of a healthy stack has it. */
const jobs = (more: Partial<Parameters<typeof recorded>[1]> = {}) =>
  recorded("jobs", { id: "wh_1", url, outputs: originAt(service.url), ...more });

async function findingsOf(given: Partial<Backend>, ...args: string[]) {
  const own = { dev: { resources: [root, jobs()] } };
  const pulumi = backend({ baseUrl: service.url, own, ...given });
  const { status, stdout } = await run(["doctor", "--json", ...args], { pulumi });
  const { findings, ...rest } = JSON.parse(stdout) as {
    findings: Finding[];
    endpoints: number | null;
    notChecked: string[];
  };
  return { status, findings, ...rest };
}

/** Returns the one finding of a stack and a service that are healthy but for one thing, as `level: message (CODE) remedy`. */
async function theFinding(given: Partial<Backend>, ...args: string[]) {
  const { status, findings } = await findingsOf(given, ...args);
  expect(findings).toHaveLength(1);
  const [{ level, code, message, remedy } = {} as Finding] = findings;
  expect(status).toBe(level === "error" ? 1 : 0);
  return `${level}: ${message} (${code}) ${remedy}`;
}

test("doctor finds nothing where everything is in order, and shows where each setting comes from", async () => {
  await serve();
  const { status, findings, ...rest } = await findingsOf({});
  expect({ status, findings }).toEqual({ status: 0, findings: [] });
  expect(rest).toMatchObject({
    endpoints: 1,
    settings: [
      { name: "baseUrl", value: service.url, from: "webhooks:baseUrl" },
      { name: "apiKey", from: "webhooks:apiKey" },
    ],
    stacks: ["dev"],
    versions: { pulumi: "3.255.0", node: process.versions.node },
  });
  const pulumi = backend({ baseUrl: service.url, own: { dev: { resources: [root, jobs()] } } });
  const { stdout } = await run(["doctor"], { pulumi, env: { WEBHOOKS_TIMEOUT_SECONDS: "20" } });
  expect(stdout).toMatch(/^timeoutSeconds +20 +WEBHOOKS_TIMEOUT_SECONDS$/m);
  expect(stdout).toMatch(/^baseUrl +http.* +webhooks:baseUrl$/m);
  expect(stdout).toMatch(
    new RegExp(`^apiKey +the fingerprint ${originAt(service.url).account} +webhooks:apiKey$`, "m"),
  );
  expect(stdout).toMatch(/^The service lists 1 endpoint\.$/m);
  expect(stdout).toMatch(
    /^Versions: .*\.\n\nEverything that was checked is in order\.\n\nNot checked: whether receivers run, .* probe https:\S+\nNot checked: the stacks of other projects, .* doctor --all\n$/m,
  );
});

const at = Date.now();
const elsewhere = "https://x.example.com";
/** The state of the healthy stack with something more. */
const dev = (more: object = {}, ...resources: object[]) => ({
  own: { dev: { resources: [root, jobs(), ...resources], ...more } } as Backend["own"] & object,
});
const recordedAt = (other: object) => ({
  own: { dev: { resources: [root, jobs({ outputs: { ...originAt(service.url), ...other } })] } },
});
const gone = () => recorded("old", { url, outputs: originAt(service.url) });
const healed = () => ({
  own: {
    dev: {
      resources: [root, jobs({ inputs: { __after: at } })],
      pending_operations: [interrupted("jobs", { url, at })],
    },
  },
});

test.each<[given: () => Partial<Backend>, finding: RegExp]>([
  [
    () => ({ own: { ...dev().own, prod: "denied" } }),
    /^error: the stack prod cannot be read: .*denied.*nothing is deleted.*\(STACK_UNREADABLE\) pulumi stack export --stack prod$/,
  ],
  [
    () => dev({}, pendingResource("mails", { url: elsewhere, at })),
    /^error: the registration of mails in shop\/dev got no response \(REGISTRATION_PENDING\) pulumi up --yes --stack dev +# takes over/,
  ],
  [
    () => dev({ pending_operations: [interrupted("mails", { url: elsewhere, at })] }),
    /^error: .*interrupted while it registered mails in shop\/dev \(OPERATION_INTERRUPTED\) pulumi up --yes --stack dev {3}# if this stays, .*--clear-pending-creates --yes --non-interactive --stack dev$/,
  ],
  [
    () => dev({ pending_operations: [interrupted("jobs", { kind: "deleting", id: "wh_1", url })] }),
    /^note: .*deleted or read jobs in shop\/dev \(OPERATION_INTERRUPTED\) pulumi up --yes --refresh --stack dev {3}# then doctor again/,
  ],
  [
    healed,
    /^note: .*registered jobs in shop\/dev\. .* \(OPERATION_INTERRUPTED\) pulumi refresh --clear-pending-creates --yes --non-interactive --stack dev$/,
  ],
  [
    () => dev({}, gone()),
    /^error: .*no longer has old, which the stack dev manages \(ENDPOINT_GONE\) pulumi up --yes --refresh --stack dev {3}# remove adoptId/,
  ],
  [
    // The key was rotated, as jobs shows.
    () => {
      const outputs = { ...originAt(service.url), account: "ffffff" };
      return { own: { dev: { resources: [root, jobs({ outputs }), recorded("old", { url, outputs })] } } };
    },
    /^error: .*no longer has old, which the stack dev manages \(ENDPOINT_GONE\)/,
  ],
  [
    () => {
      service.remove("wh_1");
      return recordedAt({ account: "ffffff" });
    },
    /^error: The account of today's key \(fingerprint [0-9a-f]{6}\) has none of the endpoints that the stack dev registered with the key ffffff: it is another account \(jobs\) \(OTHER_ACCOUNT\) printf %s "\$KEY" \| pulumi config set --secret webhooks:apiKey --stack dev {3}# the key of before/,
  ],
  [
    () => recordedAt({ baseUrl: "https://b.example.com" }),
    /^error: .*registered jobs at https:\/\/b\.example\.com, and today's base URL is http.* \(OTHER_BASE_URL\) pulumi config set webhooks:baseUrl https:\/\/b\.example\.com --stack dev {3}# unless/,
  ],
  [
    () => ({ own: { dev: { resources: [jobs()] } } }),
    /^note: the stack dev has endpoints and no output "receiver".* \(RECEIVER_OUTPUT_MISSING\) pulumi up --yes --stack dev +# .* export const receiver = receiverConfig\(/,
  ],
  [
    () => ({ own: {} }),
    /^note: .*this folder has no project with a stack in this backend, so it is unknown which endpoints no stack has \(NO_STACK\) pulumi stack ls/,
  ],
  [
    () => ({ version: "v3.100.0" }),
    /^note: pulumi 3\.100\.0 is older than .*\(VERSION_OLD\) .*get\.pulumi\.com/,
  ],
  [
    () => ({ isKeySecret: false }),
    /^error: webhooks:apiKey is stored without --secret.* \(SETTINGS_INVALID\) printf %s "\$KEY" \| pulumi config set --secret webhooks:apiKey --stack dev /,
  ],
])("doctor finds what is wrong with a stack, and says what to do %#", async (given, finding) => {
  await serve();
  expect(await theFinding(given())).toMatch(finding);
});

const listing = (body: unknown): EmulatorOptions => ({
  answer: (_request, right) => ({ ...right, body }),
});
const listed = { id: "wh_1", url, type: "development" };

test.each<[options: Parameters<typeof serve>[0], args: string[], finding: RegExp]>([
  [
    { now: () => Date.now() + 600_000 },
    [],
    /^error: this machine's clock is [56]\d\d s behind the service's.*\(CLOCK_DIFFERS\) sudo timedatectl/,
  ],
  [
    listing({ data: [listed], hasMore: true }),
    [],
    /^error: .*only a part of its endpoints.*\(LIST_PARTIAL\) .*check-service/,
  ],
  [
    listing([listed, { ...listed, id: "wh_2", type: "odd" }]),
    [],
    /^error: .*some that cannot be read \(wh_2\): a lost registration .*\(LIST_PARTIAL\) .*check-service/,
  ],
  [
    { urls: [url, url] },
    ["--all"],
    /^error: wh_2 has the url \(https:\/\/hooks\.example\.com\/jobs\) and type of jobs in shop\/dev.*\(DUPLICATE\) npx pulumi-webhook-endpoints delete --yes wh_2 /,
  ],
  [
    { urls: [url, elsewhere] },
    ["--all"],
    /^note: no stack has wh_2 \(UNMANAGED\) npx pulumi-webhook-endpoints list --orphans /,
  ],
  [
    { urls: [url, elsewhere] },
    [],
    /^note: no stack of this project has wh_2 \(UNMANAGED\) npx pulumi-webhook-endpoints list --orphans /,
  ],
])("doctor finds what is wrong with the service, and says what to do %#", async (options, args, finding) => {
  await serve(options);
  expect(await theFinding({}, ...args)).toMatch(finding);
});

test("doctor finds an endpoint that two stacks manage, but ids may count for each account", async () => {
  await serve();
  const duplicate = jobs({ stack: "mail/dev" });
  const managed = { "organization/mail/dev": { resources: [root, duplicate] } };
  expect(await theFinding({ others: managed }, "--all")).toBe(
    "error: the stacks dev and organization/mail/dev have wh_1: the first that deletes one takes it from the others. Choose which stack " +
      `keeps them (MANAGED_TWICE) pulumi state delete --yes ${duplicate.urn} --stack organization/mail/dev   # if dev is to keep them: then ` +
      "take them out of the other program",
  );
  const [both] = (await findingsOf({ others: managed }, "--all")).findings;
  expect(both?.otherwise).toMatch(
    /^pulumi state delete --yes \S+ --stack dev {3}# if organization\/mail\/dev is to keep/,
  );
  const foreign = jobs({ stack: "mail/dev", outputs: { account: "ffffff" } });
  const others = { "organization/mail/dev": { resources: [root, foreign] } };
  expect((await findingsOf({ others }, "--all")).findings).toEqual([]);
});

test.each<[kind: string, otherwise: string | undefined]>([
  [
    "deleting",
    "pulumi destroy --yes --stack dev   # instead, to go on after a killed destroy: it deletes all that the stack has",
  ],
  ["reading", undefined],
])(
  "what a run that was killed while %s left is one finding, with one line that restores",
  async (kind, otherwise) => {
    await serve();
    const of = (name: string) => interrupted(name, { kind, id: `wh_${name}`, url });
    const { findings } = await findingsOf(dev({ pending_operations: [of("old")] }, gone()));
    expect(findings).toEqual([
      {
        level: "error",
        code: "ENDPOINT_GONE",
        message:
          "the service no longer has old, which the stack dev manages: a run was interrupted while it deleted or read old in shop/dev",
        remedy:
          "pulumi up --yes --refresh --stack dev   # remove adoptId, if the program names one of them; then doctor again, as deletions may end late",
        otherwise,
      },
    ]);
  },
);

test("doctor names the endpoint that an interrupted run may have made", async () => {
  await serve({ urls: [url, elsewhere] });
  const given = dev({ pending_operations: [interrupted("mails", { url: elsewhere, at })] });
  const { findings } = await findingsOf(given);
  expect(findings[0]?.otherwise).toMatch(
    /^pulumi refresh --clear-pending-creates --yes --non-interactive --stack dev && npx pulumi-webhook-endpoints delete --yes wh_2 {3}# instead/,
  );
  expect(await theFinding(given)).toMatch(
    /registered mails in shop\/dev, and may have made wh_2 \(mails in shop\/dev\) \(/,
  );
});

test("what is gone, and was registered anew by somebody, is one finding, whose command forgets the one and adopts the other", async () => {
  await serve({ urls: [url, elsewhere] });
  const lost = recorded("old", { url: elsewhere, outputs: originAt(service.url) });
  expect(await theFinding(dev({}, lost))).toBe(
    "error: the service no longer has old, which the stack dev manages. wh_2, which no known stack has, has the url " +
      "(https://x.example.com/…) and type of old (ENDPOINT_GONE) WEBHOOKS_IF_EXISTS=adopt pulumi up --yes --refresh --stack dev   " +
      "# in one run, forgets what is gone and adopts wh_2, unless another stack has it; remove adoptId, if the program names one of them",
  );
  // Whose it is, is not known.
  const denied = { own: { ...dev({}, lost).own, prod: "denied" } };
  expect((await findingsOf(denied)).findings.map(({ code, remedy }) => [code, remedy])).toEqual([
    ["STACK_UNREADABLE", expect.anything()],
    ["ENDPOINT_GONE", expect.stringMatching(/^pulumi up --yes --refresh --stack dev /)],
  ]);
  // Nor which of two is meant, nor what a state encrypts.
  service.add({ url: elsewhere, type: "development" });
  for (const given of [lost, recorded("old", { url: SECRET_URL, outputs: originAt(service.url) })])
    expect((await findingsOf(dev({}, given))).findings.map(({ code, remedy }) => [code, remedy])).toEqual([
      ["ENDPOINT_GONE", expect.stringMatching(/^pulumi up --yes --refresh --stack dev /)],
      ["UNMANAGED", expect.stringMatching(/: WEBHOOKS_IF_EXISTS=adopt pulumi up --yes --refresh$/)],
    ]);
});

test("after a killed up and a destroy, doctor cleans up first and registers second, but not before it knows what the run has made", async () => {
  await serve({ urls: [elsewhere] });
  const own = { dev: { resources: [], pending_operations: [interrupted("mails", { url: elsewhere, at })] } };
  const { findings } = await findingsOf({ own });
  expect(findings.map(({ remedy, otherwise }) => [remedy, otherwise])).toEqual([
    [
      "pulumi refresh --clear-pending-creates --yes --non-interactive --stack dev && npx pulumi-webhook-endpoints delete --yes wh_1   " +
        "# nothing of this package is left in the stack, as after a destroy",
      "pulumi up --yes --stack dev   # instead, to register what the program declares",
    ],
  ]);
  const { stderr } = await run(["list", "--orphans"], { pulumi: backend({ baseUrl: service.url, own }) });
  expect(stderr).toMatch(
    /^There are no orphans\.\n1 endpoint may be of a run that has not ended, .* npx pulumi-webhook-endpoints doctor says/m,
  );
  service.rotateKey(API_KEY, "another-key");
  expect((await findingsOf({ own })).findings[1]).toMatchObject({
    code: "OPERATION_INTERRUPTED",
    remedy: "npx pulumi-webhook-endpoints doctor   # again, once UNAUTHORIZED is resolved",
  });
});

test("a key that was rotated leads to the same endpoints, and is in order", async () => {
  await serve();
  const { findings, notChecked } = await findingsOf(recordedAt({ account: "ffffff" }));
  expect(findings).toEqual([]);
  expect(notChecked).toEqual([
    expect.stringContaining(` probe ${url}`),
    expect.stringMatching(
      /refresh and destroy have today's API key.*`pulumi up --yes`.*`pulumi refresh --yes`/,
    ),
    expect.stringContaining(" doctor --all"),
  ]);
});

test("a list that lags behind is no reason to call an endpoint gone", async () => {
  await serve({ lagMs: 3_600_000 });
  expect((await findingsOf({})).findings).toEqual([]);
});

test.each<[break_: () => unknown, code: string, remedy: RegExp]>([
  [
    () => service.rotateKey(API_KEY, "another-key"),
    "UNAUTHORIZED",
    /^printf %s "\$KEY" \| pulumi config set --secret webhooks:apiKey --stack dev {3}# or/,
  ],
  [() => service.goOffline(), "UNREACHABLE", / doctor {3}# again, in a while; .*pulumi config$/],
  [
    () => service.fault({ operation: "list", kind: "status", status: 503, times: 99 }),
    "SERVER_ERROR",
    /^npx pulumi-webhook-endpoints doctor {3}# again, in a while/,
  ],
])("if the service cannot be asked, doctor still looks into the stacks %#", async (break_, code, remedy) => {
  await serve();
  await break_();
  const own = { dev: { resources: [jobs()] } };
  const config = code === "UNAUTHORIZED" ? {} : { "webhooks:timeoutSeconds": "1" };
  const { status, findings, endpoints } = await findingsOf({ own, config });
  expect(status).toBe(1);
  expect(findings.map((each) => each.code)).toEqual([code, "RECEIVER_OUTPUT_MISSING"]);
  expect(findings[0]?.remedy).toMatch(remedy);
  expect(endpoints).toBeNull();
});

test.each([
  [
    "incorrect passphrase",
    /^error: .*incorrect passphrase\. If it is lost, follow \S+\/docs\/lost-state\.md \(PULUMI_FAILED\) export PULUMI_CONFIG_PASSPHRASE=/,
  ],
  ["no such file", /^error: .*no such file \(PULUMI_FAILED\) pulumi config {3}# .*follow the message/],
])("if Pulumi cannot read the settings, doctor repeats why: %s", async (configError, finding) => {
  await serve();
  expect(await theFinding({ configError })).toMatch(finding);
});

test("doctor gives no remedy that needs the service before that can be asked, and in a terminal it lets Pulumi ask", async () => {
  await serve();
  const given = () => dev({}, pendingResource("mails", { url: elsewhere, at }));
  const pulumi = backend({ baseUrl: service.url, ...given() });
  const { stdout } = await run(["doctor"], { pulumi, answers: [] });
  expect(stdout).toMatch(/^ {2}pulumi up --stack dev {3}# takes over/m);
  service.rotateKey(API_KEY, "another-key");
  const { findings } = await findingsOf(given());
  expect(findings.map(({ code, remedy }) => [code, remedy])).toEqual([
    ["UNAUTHORIZED", expect.stringMatching(/^printf .* \| pulumi config set --secret/)],
    ["REGISTRATION_PENDING", "npx pulumi-webhook-endpoints doctor   # again, once UNAUTHORIZED is resolved"],
  ]);
});

test("with a wrong base URL, the command that restores the recorded one comes first", async () => {
  await serve();
  service.fault({ operation: "list", kind: "status", status: 404, times: 99 });
  const { findings } = await findingsOf(recordedAt({ baseUrl: "https://b.example.com" }));
  expect(findings.map(({ code }) => code)).toEqual(["OTHER_BASE_URL", "REJECTED"]);
  expect(findings[0]?.remedy).toMatch(
    /^pulumi config set webhooks:baseUrl https:\/\/b\.example\.com --stack dev {3}# unless/,
  );
});

test("with another account's key, doctor says when to forget the endpoints before it gives the command, and lets a terminal ask for the key", async () => {
  await serve({ urls: [] });
  const given = recordedAt({ account: "ffffff" });
  const options = { pulumi: backend({ baseUrl: service.url, ...given }), answers: [] };
  const { stdout } = await run(["doctor"], options);
  expect(stdout).toMatch(
    /\(OTHER_ACCOUNT\)\n {2}pulumi config set --secret webhooks:apiKey --stack dev .*\n {2}# instead, only if it is the same account, .*:\n {2}pulumi state delete --yes \S+ --stack dev$/m,
  );
});

test("doctor names the settings of a WebhooksProvider, which it does not read", async () => {
  await serve();
  const provider = "urn:pulumi:dev::shop::pulumi:providers:pulumi-nodejs::eu::1";
  const own = { dev: { resources: [root, jobs({ more: { provider } })] } };
  const explicit = await findingsOf({ own, baseUrl: "" });
  expect(explicit.findings).toHaveLength(1);
  expect(explicit.findings[0]).toMatchObject({
    code: "SETTINGS_INVALID",
    message: expect.stringMatching(
      /base URL is missing; .* or the environment variable WEBHOOKS_BASE_URL\. This command does not read .* WebhooksProvider/,
    ),
    remedy: expect.stringMatching(/^pulumi config .*follow the message/),
  });
  expect(await findingsOf({ own })).toMatchObject({
    findings: [],
    notChecked: [expect.anything(), expect.anything()],
  });
  expect(explicit).toMatchObject({
    notChecked: [
      expect.anything(),
      `the account of the WebhooksProvider eu: export WEBHOOKS_BASE_URL=${service.url} WEBHOOKS_API_KEY=…`,
      expect.anything(),
    ],
  });
});

test("doctor misses nothing that a killed replacement has deleted first", async () => {
  await serve();
  const { findings } = await findingsOf(dev({}, { ...gone(), pendingReplacement: true }));
  expect(findings.map(({ code }) => code)).not.toContain("ENDPOINT_GONE");
});

test("without Pulumi and settings, doctor says what to set", async () => {
  await serve();
  const { status, stdout } = await runBin(["doctor", "--json"], { PATH: "/nowhere" });
  expect(status).toBe(1);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  expect(findings.map(({ code }) => code)).toEqual(["SETTINGS_INVALID"]);
  expect(findings[0]?.message).toMatch(
    /pulumi was not found on PATH.*base URL is missing.*WEBHOOKS_BASE_URL/,
  );
  expect(findings[0]?.remedy).toMatch(
    /^curl .*get\.pulumi\.com \| sh {3}# then, in the folder of the program/,
  );
  const named = await runBin(["doctor", "--json", "--stack", "dev"], { PATH: "/nowhere" });
  expect(JSON.parse(named.stdout).findings).toEqual([
    expect.objectContaining({ code: "PULUMI_MISSING", remedy: expect.stringMatching(/^curl /) }),
  ]);
});
