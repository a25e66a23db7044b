import { type Account, withAccount } from "../../src/cli/account";
import { stackOption } from "../../src/cli/options";
import type { Context } from "../../src/cli/run";
import { type Emulator, startEmulator } from "../../src/emulator";
import { API_KEY, fakePulumi, type RunOptions, run } from "./running";

let service: Emulator;
beforeAll(async () => {
  service = await startEmulator({ apiKey: API_KEY });
});
afterAll(() => service.close());

/** Opens the account as a subcommand does, and lists its endpoints. */
async function list(
  options: RunOptions,
  work: (account: Account) => Promise<unknown> = listed,
  ...args: string[]
) {
  const look = () => ({
    summary: "",
    description: "",
    options: [stackOption()],
    examples: [],
    run: async (context: Context) => {
      const value = await withAccount(context, work);
      context.output.data(value, () => context.output.line(String(value)));
      return true;
    },
  });
  return run(["look", ...args], { ...options, commands: { look } });
}
const listed = async ({ client }: Account) => (await client.list()).endpoints.length;

const env = () => ({ WEBHOOKS_BASE_URL: service.url, WEBHOOKS_API_KEY: API_KEY });
const config = () => ({ "webhooks:baseUrl": service.url, "webhooks:apiKey": API_KEY });

test("the settings come from the stack, and then from the environment", async () => {
  expect(await list({ pulumi: fakePulumi({ config: config() }) })).toMatchObject({
    status: 0,
    stdout: "0\n",
  });
  expect(await list({ env: env() })).toMatchObject({ status: 0, stdout: "0\n" });
  const both = {
    env: { ...env(), WEBHOOKS_BASE_URL: "http://127.0.0.1:1" },
    pulumi: fakePulumi({ config: config() }),
  };
  expect(await list(both)).toMatchObject({ status: 0 });
  const limit = async ({ connection }: Account) => connection.timeoutMs;
  const limited = { ...env(), WEBHOOKS_TIMEOUT_SECONDS: "2" };
  expect(await list({ env: limited }, limit)).toMatchObject({ stdout: "2000\n" });
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

test("the key and a base URL that the configuration has as a secret are in no output", async () => {
  const secretConfig = { "webhooks:apiKey": API_KEY, "webhooks:baseUrl": `${service.url}/` };
  const told = async ({ origin, connection }: Account) => `${origin.baseUrl} ${connection.apiKey}`;
  expect(await list({ pulumi: fakePulumi({ secretConfig }) }, told)).toMatchObject({ stdout: "… …\n" });
});

test("a refusal of the service is shown only if the settings say so", async () => {
  const fail = async ({ client }: Account) => client.get("wh_nothing");
  const plain = await list({ env: env() }, fail);
  expect(plain.stderr).toMatch(/^error: .*\(NOT_FOUND\)\n$/);
  const shown = await list({ env: { ...env(), WEBHOOKS_SHOW_RESPONSES: "true" } }, fail);
  expect(shown.stderr).toMatch(/^warning: the service answered 404: .*\nerror: .*\(NOT_FOUND\)\n$/);
});

test("a stack is named without its project, whose own folder alone has the settings", async () => {
  const { stderr } = await list({ env: env() }, listed, "--stack", "acme/billing/prod");
  expect(stderr).toMatch(/name the stack acme\/billing\/prod without its project.*\(WRONG_USE\)\n$/);
});
