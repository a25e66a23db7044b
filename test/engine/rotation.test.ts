import type { RequestListener } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Delivery, type Emulator, startEmulator } from "../../src/emulator";
import { nodeHandler } from "../../src/receiver/adapters/node";
import { type ConfiguredReceiverOptions, receiverFromEnv, receiverFromFile } from "../../src/stack";
import { delivered } from "../receiver/support";
import { MountedSecret } from "../stack/mountedSecret";
import { always, closeServers, serve } from "../validation/receivers";
import { Project } from "./project";

jest.setTimeout(300_000);

const MINUTE_MS = 60_000;

/** A url that is there before the first receiver, and answers 503 while there is none. */
class Platform {
  readonly handled: string[] = [];
  readonly refused: string[] = [];
  url = "";
  receiver: RequestListener = always(503);

  async listen(): Promise<void> {
    this.url = await serve((request, response) => this.receiver(request, response));
  }

  options(now: () => number): ConfiguredReceiverOptions {
    return {
      now,
      handlers: { "job.succeeded": async ({ id }) => void this.handled.push(id) },
      onRejected: ({ reason }) => this.refused.push(reason),
    };
  }
}

let emulator: Emulator;
let project: Project;
let mounted: MountedSecret;
const reloading = new Platform();
const restarted = new Platform();

beforeAll(async () => {
  // For ten seconds: a receiver that is away comes back.
  emulator = await startEmulator({ deliveryTimeoutMs: 60_000, retryDelaysMs: Array(100).fill(100) });
  project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
  });
  await Promise.all([reloading.listen(), restarted.listen()]);
  project.program(`const { receiverConfig } = require("pulumi-webhook-endpoints");
const config = new pulumi.Config();
const reloading = new WebhookEndpoint("reloading", { url: ${JSON.stringify(reloading.url)}, type: "development" });
const restarted = new WebhookEndpoint("restarted", { url: ${JSON.stringify(restarted.url)}, type: "development" });
const secrets = [config.requireSecret("signingSecret")];
const next = config.getSecret("nextSigningSecret");
if (next) secrets.push(next);
exports.receiver = receiverConfig({ endpoints: { reloading, restarted }, secrets });`);
});

afterAll(async () => {
  await emulator.close();
  await closeServers();
  mounted.unmount();
  project.dispose();
});

test("rotating a secret as documented, while deliveries go on, loses none and handles none twice", async () => {
  let waited = 0;
  const now = () => Date.now() + waited;
  const setSecret = (key: string, value: string) => project.succeed("config", "set", "--secret", key, value);
  const rollOut = async () => {
    await project.up();
    const config = await project.succeed("stack", "output", "receiver", "--show-secrets", "--json");
    // What the old receiver has begun it ends, and for a moment there is none.
    restarted.receiver = always(503);
    mounted ??= new MountedSecret(config);
    mounted.update(config);
    process.env.WEBHOOK_RECEIVER = config;
    await sleep(200);
    restarted.receiver = nodeHandler(receiverFromEnv({}, restarted.options(now)));
  };

  const sent: Delivery[] = [];
  let isOver = false;
  /** Sends events, each once the one before it is delivered. */
  const send = async () => {
    while (!isOver) {
      const data = { jobId: "job_1", status: "succeeded" };
      sent.push(await emulator.deliver({ type: "job.succeeded", data }));
      await sleep(20);
    }
  };
  const more = async () => {
    for (const enough = sent.length + 20; sent.length < enough; ) await sleep(20);
  };

  const [old = ""] = emulator.secrets("development");
  await setSecret("signingSecret", old);
  await rollOut();
  reloading.receiver = nodeHandler(receiverFromFile({ path: mounted.path }, reloading.options(now)));
  const senders = Promise.all([send(), send(), send(), send(), send()]);
  await more();

  // 1. The service signs with both.
  const rotation = emulator.rotateSecret();
  await more();
  // 2. and 3. The receivers get both.
  await setSecret("nextSigningSecret", rotation.secret);
  await rollOut();
  // 4. A minute later each has them.
  waited += MINUTE_MS;
  // 5. The service signs with the new one alone.
  rotation.finish();
  await more();
  // 6. So do the receivers forget the old one.
  await setSecret("signingSecret", rotation.secret);
  await project.succeed("config", "rm", "nextSigningSecret");
  await rollOut();
  waited += MINUTE_MS;
  await more();
  isOver = true;
  await senders;

  expect(sent.filter((delivery) => !delivery.delivered)).toEqual([]);
  const ids = sent.map(({ id }) => id).sort();
  for (const { url, handled, refused } of [reloading, restarted]) {
    expect([handled.sort(), refused]).toEqual([ids, []]);
    const answerTo = async (secret: string) => (await fetch(url, delivered({ secret, at: now() }))).status;
    expect([await answerTo(old), await answerTo(rotation.secret)]).toEqual([401, 200]);
  }
  // The one that was restarted was away; the other never was.
  const statusCodes = (url: string) =>
    emulator.deliveries.filter((each) => each.url === url).map((each) => each.statusCode);
  expect(new Set(statusCodes(restarted.url))).toEqual(new Set([200, 503]));
  expect(new Set(statusCodes(reloading.url))).toEqual(new Set([200]));
});
