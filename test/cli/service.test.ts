import { openService } from "../../src/cli/service";
import { type Emulator, startEmulator } from "../../src/emulator";
import { FakePulumi } from "./fakePulumi";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

const NO_PROJECT = "error: no Pulumi.yaml project file found (searching upwards from /here).\n";
const NO_STACK = "error: no stack selected; please use `pulumi stack select`\n";

function pulumiWith(
  config: Record<string, string>,
  { stack, failure = "" }: { stack?: string; failure?: string } = {},
) {
  const values = Object.fromEntries(Object.entries(config).map(([key, value]) => [key, { value }]));
  const pulumi = new FakePulumi({}, values, stack);
  if (failure !== "") pulumi.failures.set("config --json", failure);
  return pulumi;
}

async function endpointsOf(pulumi: FakePulumi, environment: NodeJS.ProcessEnv) {
  const { client } = await openService({ pulumi, environment });
  try {
    return (await client.list()).endpoints;
  } finally {
    await client.close();
  }
}

it("openService prefers the stack's configuration, setting by setting", async () => {
  const pulumi = pulumiWith({ "webhooks:baseUrl": emulator.url });
  const environment = { WEBHOOKS_BASE_URL: "http://127.0.0.1:1", WEBHOOKS_API_KEY: emulator.apiKey };
  expect(await endpointsOf(pulumi, environment)).toEqual([]);
});

it.each([NO_PROJECT, NO_STACK, "ENOENT"])("openService uses the environment after: %s", async (failure) => {
  const environment = { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: emulator.apiKey };
  expect(await endpointsOf(pulumiWith({}, { failure }), environment)).toEqual([]);
});

it.each([
  [NO_PROJECT, "this folder has no Pulumi project"],
  [NO_STACK, "no stack is selected"],
  ["ENOENT", "the command pulumi was not found"],
])("openService names both ways when neither gives the settings after: %s", async (failure, why) => {
  const opening = openService({
    pulumi: pulumiWith({}, { failure }),
    environment: { WEBHOOKS_API_KEY: "key" },
  });
  await expect(opening).rejects.toMatchObject({ code: "SETTINGS_INVALID" });
  await expect(opening).rejects.toThrow(why);
  await expect(opening).rejects.toThrow(
    /webhooks:baseUrl and webhooks:apiKey.*WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY/,
  );
});

it("openService names both ways when the stack lacks a setting that the environment lacks too", async () => {
  const opening = openService({ pulumi: pulumiWith({ "webhooks:baseUrl": emulator.url }), environment: {} });
  await expect(opening).rejects.toThrow(
    /API key is missing.*webhooks:apiKey.*WEBHOOKS_API_KEY.*SETTINGS_INVALID/,
  );
});

it("openService never falls back to the environment for a stack that was named, or that cannot be read", async () => {
  const environment = { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: emulator.apiKey };
  for (const options of [
    { stack: "prod", failure: NO_PROJECT },
    { failure: "error: incorrect passphrase\n" },
  ])
    await expect(openService({ pulumi: pulumiWith({}, options), environment })).rejects.toMatchObject({
      code: "PULUMI_FAILED",
    });
});
