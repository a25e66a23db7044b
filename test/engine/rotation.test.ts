import type { RequestListener } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type DeliveryRecord, type Emulator, startEmulator } from "../../src/emulator";
import { nodeHandler } from "../../src/receiver/adapters/node";
import { receiverFromEnv, receiverFromFile } from "../../src/stack";
import { delivered } from "../receiver/support";
import { MountedSecret } from "../stack/mountedSecret";
import { always, closeServers, serve } from "../validation/receivers";
import { Project } from "./project";

jest.setTimeout(300_000);

const MINUTE_MS = 60_000;

let emulator: Emulator;
let project: Project;
let mounted: MountedSecret;
beforeAll(async () => {
  // For ten seconds: a receiver that is away comes back.
  emulator = await startEmulator({ deliveryTimeoutMs: 60_000, retryDelaysMs: Array(100).fill(100) });
  project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
  });
});
afterAll(async () => {
  await emulator.close();
  await closeServers();
  mounted.unmount();
  project.dispose();
});

test("rotating a secret as documented, while deliveries go on, loses none and handles none twice", async () => {
  let receiver: RequestListener = always(503);
  const url = await serve((request, response) => receiver(request, response));
  project.program(`const { receiverConfig } = require("pulumi-webhook-endpoints");
const config = new pulumi.Config();
const jobs = new WebhookEndpoint("jobs", { url: ${JSON.stringify(url)}, type: "development" });
const secrets = [config.requireSecret("signingSecret")];
const next = config.getSecret("nextSigningSecret");
if (next) secrets.push(next);
exports.receiver = receiverConfig({ endpoints: { jobs }, secrets });`);

  let waited = 0;
  const now = () => Date.now() + waited;
  const handled: string[] = [];
  const refused: string[] = [];
  const options = {
    now,
    handlers: { "job.succeeded": async ({ id }: { id: string }) => void handled.push(id) },
    onRejected: ({ reason }: { reason: string }) => refused.push(reason),
  };
  const setSecret = (key: string, value: string) => project.succeed("config", "set", "--secret", key, value);
  const deploy = async () => {
    await project.up();
    return project.succeed("stack", "output", "receiver", "--show-secrets", "--json");
  };

  const sent: DeliveryRecord[] = [];
  let isOver = false;
  /** Sends events, each once the one before it is delivered. */
  const send = async () => {
    while (!isOver) {
      const data = { jobId: "job_1", status: "succeeded" };
      sent.push(await emulator.deliver({ event: "job.succeeded", data }));
      await sleep(20);
    }
  };
  const more = async () => {
    for (const enough = sent.length + 20; sent.length < enough; ) await sleep(20);
  };

  const [old = ""] = emulator.secrets("development");
  await setSecret("signingSecret", old);
  mounted = new MountedSecret(await deploy());
  receiver = nodeHandler(receiverFromFile({ path: mounted.path }, options));
  const senders = Promise.all([send(), send(), send(), send(), send()]);
  await more();

  // 1. The service signs with both.
  const rotation = emulator.rotateSecret();
  await more();
  // 2. and 3. The receiver gets both, and a minute later has them, without a restart.
  await setSecret("nextSigningSecret", rotation.secret);
  mounted.update(await deploy());
  waited += MINUTE_MS;
  // 4. and 5. The service signs with the new one alone.
  rotation.finish();
  await more();
  const statusCodes = () => new Set(emulator.deliveries.map(({ status }) => status));
  expect(statusCodes()).toEqual(new Set([200]));
  // 6. So does the receiver forget the old one, here with a restart: for a moment there is none.
  await setSecret("signingSecret", rotation.secret);
  await project.succeed("config", "rm", "nextSigningSecret");
  process.env.WEBHOOK_RECEIVER = await deploy();
  receiver = always(503);
  while (!statusCodes().has(503)) await sleep(20);
  receiver = nodeHandler(receiverFromEnv({}, options));
  await more();
  isOver = true;
  await senders;

  expect(sent.filter((delivery) => !delivery.delivered)).toEqual([]);
  expect(handled.sort()).toEqual(sent.map(({ id }) => id).sort());
  expect(refused).toEqual([]);
  const statusFor = async (secret: string) => (await fetch(url, delivered({ secret, at: now() }))).status;
  expect([await statusFor(old), await statusFor(rotation.secret)]).toEqual([401, 200]);
});
