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

test("is secret, whatever it was made of, and so is every part of it", async () => {
  const plain = receiverConfig({ secrets });
  const parts: pulumi.Output<unknown>[] = [plain, plain.fingerprint, pulumi.jsonStringify(plain)];
  for (const part of parts) expect(await pulumi.isSecret(part)).toBe(true);
  expect(await pulumi.isSecret(pulumi.unsecret(plain.fingerprint))).toBe(false);
});

test("holds what receivers read: the secrets, the tolerance and each endpoint, by the fingerprint that they see too", async () => {
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

test("without more it is for five minutes of tolerance and endpoints of anywhere", async () => {
  expect(await known(receiverConfig({ secrets }))).toMatchObject({ toleranceSeconds: 300, endpoints: {} });
});
