import type { EmulatorOptions } from "../../src/emulator";
import {
  type Backend,
  backend,
  interrupted,
  originAt,
  pendingResource,
  recorded,
  SECRET_URL,
} from "./backend";
import {
  at,
  dev,
  elsewhere,
  findingsOf,
  jobs,
  recordedAt,
  root,
  serve,
  service,
  theFinding,
  url,
} from "./doctoring";
import { API_KEY, run } from "./running";

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
    /^Versions: .*\.\n\nEverything that was checked is in order\.\n\nNot checked: whether receivers run, .* probe https:\S+\nNot checked: whether the program .*: pulumi preview\nNot checked: the stacks of other projects, .* doctor --all\n$/m,
  );
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
    /^error: .*interrupted while it registered mails in shop\/dev \(OPERATION_INTERRUPTED\) pulumi up --yes --stack dev {3}# if this stays, the program no longer declares them/,
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
    () => {
      service.add({ url: elsewhere, type: "development" });
      const outputs = originAt(service.url);
      return dev({}, recorded("jobs", { id: "wh_2", url: elsewhere, outputs, more: { delete: true } }));
    },
    /^error: a run has replaced jobs in shop\/dev, and stopped before it deleted wh_2, .* \(OPERATION_INTERRUPTED\) pulumi up --yes --stack dev {3}# deletes/,
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
    /^error: The account of today's key \(fingerprint [0-9a-f]{6}\) has none of the endpoints that the stack dev registered with the key ffffff: it is another account \(jobs\) \(OTHER_ACCOUNT\) : "\$\{KEY:\?.*\}" && printf %s "\$KEY" \| pulumi config set --secret webhooks:apiKey --stack dev {3}# the key of before/,
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
    /^error: webhooks:apiKey is stored without --secret.* \(SETTINGS_INVALID\) : "\$\{KEY:\?.*\}" && printf %s "\$KEY" \| pulumi config set --secret webhooks:apiKey --stack dev /,
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
    { urls: [url, url] },
    [],
    /^note: wh_2 has the url .*\(DUPLICATE\) npx pulumi-webhook-endpoints get wh_2 --all {3}# says whether another project has it, .* delete --yes wh_2$/,
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
      "take them out of the other program, or, if both are stacks of one program, give each its own urls",
  );
  const [both] = (await findingsOf({ others: managed }, "--all")).findings;
  expect(both?.otherwise).toMatch(
    /^pulumi state delete --yes \S+ --stack dev {3}# if organization\/mail\/dev is to keep/,
  );
  // A copy of another stack's state has that one's URNs, with which its program can do nothing.
  const own = { copy: { resources: [root, jobs()] }, dev: { resources: [root, jobs()] } };
  const [copied] = (await findingsOf({ own })).findings;
  expect(copied?.remedy).toMatch(/^pulumi state delete --yes \S+ --stack copy {3}# if dev is to keep/);
  expect(copied).not.toHaveProperty("otherwise");
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
      ["UNMANAGED", expect.stringMatching(/: WEBHOOKS_IF_EXISTS=adopt pulumi up --yes --refresh --stack /)],
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

test("a key that was rotated leads to the same endpoints, and is in order once Pulumi has stored it", async () => {
  await serve();
  const provider = (key: string, baseUrl = service.url) => ({
    urn: "urn:pulumi:dev::shop::pulumi:providers:pulumi-nodejs::default",
    type: "pulumi:providers:pulumi-nodejs",
    id: "1",
    inputs: {
      "webhooks:apiKey": {
        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
        plaintext: JSON.stringify(key),
      },
      "webhooks:baseUrl": baseUrl,
    },
  });
  const rotated = jobs({ outputs: { ...originAt(service.url), account: "ffffff" } });
  const stackWith = (stored: object) => ({
    own: { dev: { resources: [root, rotated, stored] } } as Backend["own"] & object,
  });
  const { findings, notChecked } = await findingsOf(stackWith(provider(API_KEY)));
  expect(findings).toEqual([]);
  expect(notChecked).toEqual([
    expect.stringContaining(` probe ${url}`),
    expect.stringContaining(" declares these endpoints: pulumi preview"),
    expect.stringContaining(" doctor --all"),
  ]);
  const outdated =
    /\(SETTINGS_OUTDATED\) pulumi up --yes --stack dev {3}# before any refresh, destroy or move/;
  const oldKey = await theFinding(stackWith(provider("old-key")));
  expect(oldKey).toMatch(/^error: .*dev stored another API key \(fingerprint [0-9a-f]{6}\) than today's/);
  expect(oldKey).toMatch(outdated);
  expect(oldKey).not.toContain("old-key");
  const oldUrl = await theFinding(stackWith(provider(API_KEY, "https://b.example.com")));
  expect(oldUrl).toMatch(/^error: .*dev stored another base URL \(https:\/\/b\.example\.com\) than today's/);
  expect(oldUrl).toMatch(outdated);
});

test("a list that lags behind is no reason to call an endpoint gone", async () => {
  await serve({ lagMs: 3_600_000 });
  expect((await findingsOf({})).findings).toEqual([]);
});

test("doctor misses nothing that a killed replacement has deleted first", async () => {
  await serve();
  const { findings } = await findingsOf(dev({}, { ...gone(), pendingReplacement: true }));
  expect(findings.map(({ code }) => code)).not.toContain("ENDPOINT_GONE");
});
