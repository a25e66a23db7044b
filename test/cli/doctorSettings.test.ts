import type { Finding } from "../../src/cli/commands/doctor/finding";
import { backend, pendingResource } from "./backend";
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
} from "./doctoring";
import { API_KEY, run, runBin } from "./running";

test.each<[break_: () => unknown, code: string, remedy: RegExp]>([
  [
    () => service.rotateKey(API_KEY, "another-key"),
    "UNAUTHORIZED",
    /^: "\$\{KEY:\?.*\}" && printf %s "\$KEY" \| pulumi config set --secret webhooks:apiKey --stack dev {3}# then pulumi up/,
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
  [
    "unable to open bucket file:///gone: no such file",
    /^error: .*file:\/\/\/gone.*\. If it is lost, follow \S+\/docs\/lost-state\.md \(PULUMI_FAILED\) pulumi login …/,
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
    ["UNAUTHORIZED", expect.stringMatching(/^: .* \| pulumi config set --secret/)],
    ["REGISTRATION_PENDING", "npx pulumi-webhook-endpoints doctor   # again, once UNAUTHORIZED is resolved"],
  ]);
});

test("doctor corrects a key that comes from the environment there", async () => {
  await serve();
  const ofStack = backend({ baseUrl: service.url, own: { dev: { resources: [root, jobs()] } } });
  const config = JSON.stringify({ "webhooks:baseUrl": { value: service.url, secret: false } });
  const pulumi: typeof ofStack = async (args) =>
    args[0] === "config" ? { exitCode: 0, stdout: config, stderr: "" } : ofStack(args);
  const { stdout } = await run(["doctor"], { pulumi, env: { WEBHOOKS_API_KEY: "wrong" } });
  expect(stdout).toMatch(/\(UNAUTHORIZED\)\n {2}export WEBHOOKS_API_KEY=… {3}# then pulumi up --yes/);
});

test("with a wrong base URL, the command that restores the recorded one comes first", async () => {
  await serve();
  service.fault({ operation: "list", kind: "status", status: 404, times: 99 });
  const { findings } = await findingsOf(recordedAt({ baseUrl: "https://b.example.com" }));
  expect(findings.map(({ code }) => code)).toEqual(["OTHER_BASE_URL", "REJECTED"]);
  expect(findings[0]?.remedy).toMatch(
    /^pulumi config set webhooks:baseUrl https:\/\/b\.example\.com --stack dev {3}# unless/,
  );
  expect(findings[1]?.remedy).toMatch(/ doctor {3}# again, once OTHER_BASE_URL is resolved$/);
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
    notChecked: [expect.anything(), expect.anything(), expect.anything()],
  });
  expect(explicit).toMatchObject({
    notChecked: [
      expect.anything(),
      expect.anything(),
      `the account of the WebhooksProvider eu: export WEBHOOKS_BASE_URL=${service.url} WEBHOOKS_API_KEY=…`,
      expect.anything(),
    ],
  });
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
