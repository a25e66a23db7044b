import type { Finding } from "../../src/cli/doctor/finding";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator";
import { type Backend, backend, interrupted, originAt, pendingResource, recorded } from "./backend";
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
  for (const each of urls) service.add({ url: each, type: "development" });
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
    service: object;
    settings: object;
  };
  return { status, findings, ...rest };
}

/** The finding of a healthy stack and service but for one thing. */
async function theFinding(given: Partial<Backend>, ...args: string[]) {
  const { status, findings } = await findingsOf(given, ...args);
  expect(findings).toHaveLength(1);
  const [finding] = findings;
  expect(status).toBe(finding?.level === "error" ? 1 : 0);
  return finding;
}

test("doctor finds nothing where everything is in order, and shows where each setting comes from", async () => {
  await serve();
  const { status, findings, ...rest } = await findingsOf({});
  expect({ status, findings }).toEqual({ status: 0, findings: [] });
  expect(rest).toMatchObject({
    service: { clockDifferenceSeconds: expect.any(Number), endpoints: 1 },
    settings: expect.arrayContaining([
      { name: "baseUrl", value: service.url, from: "webhooks:baseUrl" },
      {
        name: "apiKey",
        value: `set (fingerprint ${originAt(service.url).account})`,
        from: "webhooks:apiKey",
      },
      { name: "timeoutSeconds", value: "30", from: null },
    ]),
    stacks: ["dev"],
    versions: { pulumi: "3.255.0", node: process.versions.node },
  });
  const pulumi = backend({ baseUrl: service.url, own: { dev: { resources: [root, jobs()] } } });
  const { stdout } = await run(["doctor"], { pulumi });
  expect(stdout).toMatch(/^baseUrl +http.* +webhooks:baseUrl$/m);
  expect(stdout).toMatch(/^apiKey +set \(fingerprint [0-9a-f]{6}\) +webhooks:apiKey$/m);
  expect(stdout).toMatch(/^The service lists 1 endpoint\.$/m);
  expect(stdout).toMatch(/^Versions: .*\.\n\nEverything is in order\.\n$/m);
});

const NOW = Date.now();
const unlisted = (more: object) => ({ dev: { resources: [root, jobs()], ...more } });

test.each<[code: string, level: string, given: () => Partial<Backend>, message: RegExp, remedy: RegExp]>([
  [
    "STACK_UNREADABLE",
    "error",
    () => ({ own: { ...unlisted({}), prod: "denied" } }),
    /the stack prod cannot be read: .*denied.*nothing is deleted/,
    /^pulumi stack export --stack prod$/,
  ],
  [
    "REGISTRATION_PENDING",
    "error",
    () => ({
      own: {
        dev: {
          resources: [root, jobs(), pendingResource("mails", { url: "https://x.example.com", at: NOW })],
        },
      },
    }),
    /registration of mails in shop\/dev got no answer$/,
    /^pulumi up --stack dev +# takes over/,
  ],
  [
    "OPERATION_INTERRUPTED",
    "error",
    () => ({
      own: unlisted({
        pending_operations: [interrupted("mails", { url: "https://x.example.com", at: NOW })],
      }),
    }),
    /interrupted while it registered mails in shop\/dev$/,
    /^pulumi up --stack dev .*pulumi cancel.*--clear-pending-creates/,
  ],
  [
    "OPERATION_INTERRUPTED",
    "error",
    () => ({
      own: unlisted({ pending_operations: [interrupted("jobs", { kind: "deleting", id: "wh_1", url })] }),
    }),
    /unfinished operations on jobs in shop\/dev/,
    /^pulumi refresh --clear-pending-creates --yes --stack dev/,
  ],
  [
    "OPERATION_INTERRUPTED",
    "note",
    () => ({
      own: {
        dev: {
          resources: [root, jobs({ inputs: { __after: NOW } })],
          pending_operations: [interrupted("jobs", { url, at: NOW })],
        },
      },
    }),
    /unfinished operations on jobs in shop\/dev/,
    /^pulumi refresh --clear-pending-creates/,
  ],
  [
    "ENDPOINT_GONE",
    "error",
    () => ({
      own: { dev: { resources: [root, jobs(), recorded("old", { url, outputs: originAt(service.url) })] } },
    }),
    /no longer has old, which the stack dev manages/,
    /^pulumi refresh --yes --stack dev && pulumi up --stack dev$/,
  ],
  [
    "OTHER_ACCOUNT",
    "error",
    () => ({
      own: { dev: { resources: [root, jobs({ outputs: { ...originAt(service.url), account: "ffffff" } })] } },
    }),
    /the stack dev registered jobs with another API key \(fingerprint ffffff; today's is [0-9a-f]{6}\)/,
    /^pulumi up --stack dev +# if the key was rotated/,
  ],
  [
    "OTHER_ACCOUNT",
    "error",
    () => ({
      own: {
        dev: {
          resources: [
            root,
            jobs({ outputs: { ...originAt(service.url), baseUrl: "https://b.example.com" } }),
          ],
        },
      },
    }),
    /registered jobs at https:\/\/b\.example\.com, and webhooks:baseUrl is http/,
    /^pulumi up --stack dev/,
  ],
  [
    "RECEIVER_OUTPUT_MISSING",
    "note",
    () => ({ own: { dev: { resources: [jobs()] } } }),
    /the stack dev has endpoints and no output "receiver"/,
    /^export const receiver = receiverConfig\(/,
  ],
  ["NO_STACK", "note", () => ({ own: {} }), /the project has no stack in this backend/, /^pulumi stack ls/],
  [
    "VERSION_OLD",
    "note",
    () => ({ version: "v3.100.0" }),
    /pulumi 3\.100\.0 is older than/,
    /get\.pulumi\.com/,
  ],
  [
    "SETTINGS_INVALID",
    "error",
    () => ({ isKeySecret: false }),
    /webhooks:apiKey is stored without --secret/,
    /^pulumi config set --secret webhooks:apiKey /,
  ],
])("doctor finds %s as %s %#", async (code, level, given, message, remedy) => {
  await serve();
  const finding = await theFinding(given());
  expect(finding).toMatchObject({
    code,
    level,
    message: expect.stringMatching(message),
    remedy: expect.stringMatching(remedy),
  });
});

test("doctor tells that this machine's clock is wrong", async () => {
  await serve({ now: () => Date.now() + 600_000 });
  expect(await theFinding({})).toMatchObject({
    code: "CLOCK_DIFFERS",
    message: expect.stringMatching(/this machine's clock is (59\d|60\d) s behind the service's/),
  });
});

test.each([
  [{ data: [{ id: "wh_1", url, type: "development" }], hasMore: true }, /only a part of its endpoints/],
  [
    [
      { id: "wh_1", url, type: "development" },
      { id: "wh_2", url, type: "odd" },
    ],
    /lists wh_2 in a form that cannot be read/,
  ],
])("doctor finds LIST_PARTIAL in the list %#", async (body, message) => {
  await serve({ answer: (_request, answer) => ({ ...answer, body }) });
  expect(await theFinding({})).toMatchObject({
    code: "LIST_PARTIAL",
    message: expect.stringMatching(message),
    remedy: expect.stringContaining("check-service"),
  });
});

test.each([
  [
    url,
    "DUPLICATE",
    "error",
    /wh_2 has the url \(https:\/\/hooks\.example\.com\/…\) and type of jobs in shop\/dev/,
    /^npx pulumi-webhook-endpoints delete wh_2 /,
  ],
  [
    "https://x.example.com",
    "UNMANAGED",
    "note",
    /^no stack has wh_2$/,
    /^npx pulumi-webhook-endpoints list --orphans /,
  ],
])("doctor --all finds what no stack has: %s is %s", async (second, code, level, message, remedy) => {
  await serve({ urls: [url, second] });
  expect(await theFinding({}, "--all")).toEqual({
    code,
    level,
    message: expect.stringMatching(message),
    remedy: expect.stringMatching(remedy),
  });
});

test("without --all, doctor says that no stack of this project has an endpoint", async () => {
  await serve({ urls: [url, "https://x.example.com"] });
  const finding = await theFinding({});
  expect(finding).toMatchObject({
    code: "UNMANAGED",
    message: "no stack of this project has wh_2",
    remedy: "npx pulumi-webhook-endpoints doctor --all",
  });
});

test("doctor finds an endpoint that two stacks manage, also in another project", async () => {
  await serve();
  const twin = jobs({ stack: "mail/dev" });
  const others = { "organization/mail/dev": { resources: [root, twin] } };
  expect(await theFinding({ others }, "--all")).toMatchObject({
    code: "MANAGED_TWICE",
    message: expect.stringMatching(/jobs in shop\/dev and jobs in mail\/dev manage one endpoint, wh_1/),
    remedy: expect.stringMatching(
      new RegExp(`^pulumi state delete ${twin.urn} --stack organization/mail/dev `),
    ),
  });
  const ofAnotherAccount = {
    "organization/mail/dev": {
      resources: [root, jobs({ stack: "mail/dev", outputs: { account: "ffffff" } })],
    },
  };
  expect((await findingsOf({ others: ofAnotherAccount }, "--all")).findings).toEqual([]);
});

test("doctor names the endpoint that an interrupted run may have made", async () => {
  await serve({ urls: [url, "https://x.example.com"] });
  const own = unlisted({
    pending_operations: [interrupted("mails", { url: "https://x.example.com", at: NOW })],
  });
  expect(await theFinding({ own })).toMatchObject({
    message: expect.stringMatching(/registered mails in shop\/dev, and may have made wh_2$/),
  });
});

test("a list that lags behind is no reason to call an endpoint gone", async () => {
  await serve({ lagMs: 3_600_000 });
  expect((await findingsOf({})).findings).toEqual([]);
});

test.each<[what: string, break_: () => unknown, code: string, health: object, remedy: RegExp]>([
  [
    "refuses the key",
    () => service.rotateKey(API_KEY, "another-key"),
    "UNAUTHORIZED",
    { clockDifferenceSeconds: expect.any(Number) },
    /^pulumi config set --secret webhooks:apiKey /,
  ],
  [
    "cannot be reached",
    () => service.goOffline(),
    "UNREACHABLE",
    { clockDifferenceSeconds: null },
    /^pulumi config .*webhooks:baseUrl/,
  ],
])(
  "if the service %s, doctor says so and still looks into the stacks",
  async (_what, break_, code, health, remedy) => {
    await serve();
    await break_();
    const { status, findings, ...rest } = await findingsOf({
      own: { dev: { resources: [jobs()] } },
      config: { "webhooks:timeoutSeconds": "1" },
    });
    expect(status).toBe(1);
    expect(findings.map((each) => each.code)).toEqual([code, "RECEIVER_OUTPUT_MISSING"]);
    expect(findings[0]?.remedy).toMatch(remedy);
    expect(rest).toMatchObject({ service: { ...health, endpoints: null } });
  },
);

test("without Pulumi and settings, doctor says what to set", async () => {
  await serve();
  const { status, stdout } = await runBin(["doctor", "--json"], { PATH: "/nowhere" });
  expect(status).toBe(1);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  expect(findings.map(({ code }) => code)).toEqual(["SETTINGS_INVALID", "NO_STACK"]);
  expect(findings[0]?.remedy).toMatch(/^pulumi stack select/);
});
