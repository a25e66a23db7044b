import { type Emulator, startEmulator } from "../../src/emulator";
import { backend } from "./backend";
import { API_KEY, fakePulumi, type RunOptions, run } from "./running";

let service: Emulator;
beforeEach(async () => {
  service = await startEmulator({ apiKey: API_KEY });
});
afterEach(() => service.close());

const list = (options: RunOptions, ...args: string[]) => run(["list", "--json", ...args], options);
const env = () => ({ WEBHOOKS_BASE_URL: service.url, WEBHOOKS_API_KEY: API_KEY });
const config = () => ({ "webhooks:baseUrl": service.url, "webhooks:apiKey": API_KEY });

test("the settings come from the stack, and then from the environment", async () => {
  const pulumi = fakePulumi({ config: config() });
  const elsewhere = { ...env(), WEBHOOKS_BASE_URL: "http://127.0.0.1:1" };
  for (const options of [{ pulumi }, { env: env() }, { env: elsewhere, pulumi }])
    expect(await list(options)).toMatchObject({ status: 0, stdout: "[]\n" });
});

test("an operation takes as long as the settings say", async () => {
  service.fault({ operation: "list", kind: "hang-before", times: Number.POSITIVE_INFINITY });
  const { stderr } = await list({ env: { ...env(), WEBHOOKS_TIMEOUT_SECONDS: "1" } });
  expect(stderr).toMatch(/\(TIMED_OUT\)\n$/);
  // An attempt may take ten seconds, and the default allows several.
  expect(service.requests).toHaveLength(1);
});

test.each([
  ["nothing", {}, /because the command pulumi was not found.*WEBHOOKS_BASE_URL.*WEBHOOKS_API_KEY/],
  [
    "a stack without a key",
    { pulumi: fakePulumi({ config: { "webhooks:baseUrl": "https://a.example.com" } }) },
    /API key is missing.*pulumi config set --secret webhooks:apiKey/,
  ],
  ["a wrong url", { env: { WEBHOOKS_BASE_URL: "a.example.com", WEBHOOKS_API_KEY: API_KEY } }, /baseUrl/],
] as const)("%s is an error that names the places of the settings", async (_what, options, why) => {
  const { status, stderr } = await list(options);
  expect(status).toBe(1);
  expect(stderr).toMatch(/\(SETTINGS_INVALID\)\n$/);
  expect(stderr).toMatch(why);
});

test.each(["http", "HTTP"])(
  "the key and a base URL that the configuration has as a secret are in no output: %s",
  async (scheme) => {
    const url = service.url.replace("http", scheme);
    const secretConfig = { "webhooks:apiKey": API_KEY, "webhooks:baseUrl": `${url}/` };
    await service.close();
    const { stdout, stderr } = await run(["doctor"], { pulumi: fakePulumi({ secretConfig }) });
    expect(stdout).toMatch(/^baseUrl +…\/ +webhooks:baseUrl$/m);
    expect(stdout + stderr).toMatch(/ECONNREFUSED/);
    expect((stdout + stderr).toLowerCase()).not.toContain(service.url);
  },
);

test("every setting that the configuration has as a secret is hidden", async () => {
  const texts = {
    apiKey: API_KEY,
    baseUrl: service.url,
    apiKeyHeader: "X-Secret-Header",
    apiKeyScheme: "SecretScheme",
  };
  const secretConfig = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [`webhooks:${name}`, text]),
  );
  const { stdout, stderr } = await run(["doctor"], { pulumi: fakePulumi({ secretConfig }) });
  expect(stdout).toMatch(/^apiKeyScheme +… /m);
  for (const text of Object.values(texts)) expect(stdout + stderr).not.toContain(text);
});

test("a refusal of the service is shown only if the settings say so", async () => {
  service.rotateKey(API_KEY, "another-key");
  expect((await list({ env: env() })).stderr).toMatch(/^error: .*\(UNAUTHORIZED\)\n$/);
  const { stderr } = await list({ env: { ...env(), WEBHOOKS_SHOW_RESPONSES: "true" } });
  expect(stderr).toMatch(/^warning: the service \w+ 401: .*\nerror: .*\(UNAUTHORIZED\)\n$/);
});

test.each([
  ["acme/shop/prod", 0],
  ["tester/shop/prod", 0],
  ["acme/billing/prod", 1],
])(
  "a stack may have its full name, if the project is this folder's, which alone has the settings: %s",
  async (stack, status) => {
    const pulumi = backend({ baseUrl: service.url, own: { prod: {}, "tester/prod": {} } });
    const { stderr, ...ended } = await list({ pulumi }, "--stack", stack);
    expect(ended.status).toBe(status);
    if (status === 1)
      expect(stderr).toMatch(/in this folder has no stack acme\/billing\/prod: .*\(WRONG_USE\)\n$/);
  },
);
