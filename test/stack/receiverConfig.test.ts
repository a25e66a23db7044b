import * as pulumi from "@pulumi/pulumi";
import { receiverConfig, WebhookEndpoint } from "../../src";
import { parseReceiverConfig } from "../../src/stack";
import type { ReceiverConfigArgs } from "../../src/stack/receiverConfig";
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

test("receiverConfig and each of its parts are secret, even if its arguments are not, and have the documented defaults", async () => {
  const plain = receiverConfig({ secrets });
  expect(await known(plain)).toMatchObject({ toleranceSeconds: 300, endpoints: {} });
  const parts: pulumi.Output<unknown>[] = [plain, plain.fingerprint, pulumi.jsonStringify(plain)];
  for (const part of parts) expect(await pulumi.isSecret(part)).toBe(true);
  expect(await pulumi.isSecret(pulumi.unsecret(plain.fingerprint))).toBe(false);
});

const endpoint = { id: "wh_jobs", url: "https://hooks.example.com/jobs", type: "production" };
const jobs = () => new WebhookEndpoint("jobs", { url: endpoint.url, type: "production" });

test.each<[what: string, endpoints: () => ReceiverConfigArgs["endpoints"]]>([
  ["as one output of a map", () => pulumi.output(["jobs"]).apply(() => ({ jobs: jobs() }))],
  ["as a promise of a map", () => Promise.resolve({ jobs: jobs() })],
  ["as outputs in a map", () => ({ jobs: pulumi.output("").apply(jobs) })],
  ["as plain values, such as another stack's", () => pulumi.output({ jobs: endpoint })],
])("receiverConfig takes the endpoints %s", async (_what, endpoints) => {
  const config = receiverConfig({ endpoints: endpoints(), secrets });
  expect(await known(config)).toMatchObject({ endpoints: { jobs: endpoint } });
});

test("receiverConfig takes one secret in place of a list", async () => {
  const [secret = ""] = secrets;
  for (const given of [secret, pulumi.secret(secret), Promise.resolve(secret)])
    expect(await known(receiverConfig({ secrets: given }))).toMatchObject({ secrets: [secret] });
});

test.each<[what: string, given: pulumi.Input<pulumi.Input<string>[]>]>([
  ["as plain strings", secrets],
  ["as outputs", secrets.map((each) => pulumi.secret(each))],
  ["as one output of a list, as requireSecretObject returns it", pulumi.secret(secrets)],
  ["as a promise of a list", Promise.resolve(secrets)],
])("receiverConfig takes the secrets %s, and holds what receivers parse", async (_what, given) => {
  const output = receiverConfig({ endpoints: { jobs: jobs() }, secrets: given, toleranceSeconds: 60 });
  const config = await known(output);
  expect(config).toEqual({
    version: 1,
    secrets,
    toleranceSeconds: 60,
    endpoints: { jobs: endpoint },
    fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
  });
  expect(parseReceiverConfig(JSON.stringify(config))).toEqual(config);
});
