import * as pulumi from "@pulumi/pulumi";
import { receiverConfig, WebhookEndpoint } from "../../src";
import { parseReceiverConfig } from "../../src/stack";
import { newSecret } from "./support";

beforeAll(() =>
  pulumi.runtime.setMocks(
    {
      newResource: ({ name, inputs }) => ({ id: `wh_${name}`, state: inputs }),
      call: ({ inputs }) => inputs,
    },
    "project",
    "stack",
    false,
  ),
);

const secrets = [newSecret(), newSecret()];

function known<T>(output: pulumi.Output<T>): Promise<unknown> {
  return new Promise((resolve) => output.apply(resolve));
}

test("receiverConfig and each of its parts are secret, even if its arguments are not", async () => {
  const plain = receiverConfig({ secrets });
  const parts: pulumi.Output<unknown>[] = [plain, plain.fingerprint, pulumi.jsonStringify(plain)];
  for (const part of parts) expect(await pulumi.isSecret(part)).toBe(true);
  expect(await pulumi.isSecret(pulumi.unsecret(plain.fingerprint))).toBe(false);
});

test("receiverConfig holds the secrets, the tolerance, each endpoint, and the fingerprint that receivers compute", async () => {
  const jobs = new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" });
  const config = await known(
    receiverConfig({
      endpoints: { jobs },
      secrets: secrets.map((each) => pulumi.secret(each)),
      toleranceSeconds: 60,
    }),
  );
  expect(config).toEqual({
    version: 1,
    secrets,
    toleranceSeconds: 60,
    endpoints: { jobs: { id: "wh_jobs", url: "https://hooks.example.com/jobs", type: "production" } },
    fingerprint: expect.any(String),
  });
  expect(parseReceiverConfig(JSON.stringify(config))).toEqual(config);
});

test("receiverConfig defaults to a tolerance of five minutes and no endpoints", async () => {
  expect(await known(receiverConfig({ secrets }))).toMatchObject({ toleranceSeconds: 300, endpoints: {} });
});

test.each([
  ["one secret, as createReceiver takes it", secrets[0]],
  ["one secret as an output", pulumi.secret(secrets[0])],
  ["none", undefined],
])("receiverConfig refuses %s in place of a list, and says what to pass", (_what, given) => {
  const made = () => receiverConfig({ secrets: given as unknown as string[] });
  expect(made).toThrow(pulumi.RunError);
  expect(made).toThrow(/^receiverConfig: secrets must be a list, .*\(CONFIG_INVALID\)$/);
});

test("receiverConfig refuses an endpoint in place of endpoints by name, and says what to pass", () => {
  const jobs = new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" });
  for (const endpoints of [jobs, { jobs: undefined }]) {
    const made = () =>
      receiverConfig({ secrets, endpoints: endpoints as unknown as { jobs: WebhookEndpoint } });
    expect(made).toThrow(/^receiverConfig: endpoints must be .* such as { jobs }\. \(CONFIG_INVALID\)$/);
  }
});
