import { setTimeout as sleep } from "node:timers/promises";
import { type Delivery, type Emulator, startEmulator } from "../../src/emulator";
import type { Receiver } from "../../src/receiver";
import { nodeHandler } from "../../src/receiver/adapters/node";
import { type ConfiguredReceiverOptions, receiverFromEnv, receiverFromFile } from "../../src/stack";
import { delivered } from "../receiver/support";
import { MountedSecret } from "../stack/mountedSecret";
import { always, closeServers, serve } from "../validation/receivers";
import { Project } from "./project";

jest.setTimeout(300_000);

const SENDERS = 20;
const MINUTE_MS = 60_000;

/** What runs receivers: a url that is there before the first of them, and answers 503 while there is none. */
class Platform {
  readonly handled = new Map<string, number>();
  readonly refused: string[] = [];
  url = "";
  #handler = always(503);

  async listen(): Promise<void> {
    this.url = await serve((request, response) => this.#handler(request, response));
  }

  /** Counts how often each delivery is handled. */
  options(now: () => number): ConfiguredReceiverOptions {
    return {
      now,
      handlers: {
        "job.succeeded": async ({ id }) => {
          await new Promise(setImmediate);
          this.handled.set(id, (this.handled.get(id) ?? 0) + 1);
        },
      },
      onRejected: ({ reason }) => this.refused.push(reason),
    };
  }

  run(receiver: Receiver): void {
    this.#handler = nodeHandler(receiver);
  }

  /** What the old receiver has begun it ends, and for a moment there is none. */
  async restart(start: () => Receiver): Promise<void> {
    this.#handler = always(503);
    await sleep(200);
    this.run(start());
  }
}

/** Sends events, from each sender up to ten a second: each waits until its event is delivered. */
function sendSteadily(emulator: Emulator) {
  const sent: Delivery[] = [];
  let isOver = false;
  const send = async () => {
    while (!isOver) {
      const data = { jobId: "job_1", status: "succeeded" };
      sent.push(await emulator.deliver({ type: "job.succeeded", data }));
      await sleep(100);
    }
  };
  const senders = Array.from({ length: SENDERS }, send);
  return {
    /** Lets some more be sent. */
    async more(): Promise<void> {
      const enough = sent.length + 3 * SENDERS;
      while (sent.length < enough) await sleep(20);
    },
    /** Gives what became of each. */
    async stop(): Promise<Delivery[]> {
      isOver = true;
      await Promise.all(senders);
      return sent;
    },
  };
}

let emulator: Emulator;
let project: Project;
let mounted: MountedSecret;
const reloading = new Platform();
const restarted = new Platform();

beforeAll(async () => {
  // For ten seconds: a receiver that is away comes back.
  emulator = await startEmulator({
    deliveryTimeoutMs: 60_000,
    retryDelaysMs: [100, 200, 400, ...Array(10).fill(1_000)],
  });
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
  const output = () => project.succeed("stack", "output", "receiver", "--show-secrets", "--json");
  const fromEnv = () => receiverFromEnv({}, restarted.options(now));
  const rollOut = async () => {
    await project.up();
    const config = await output();
    mounted.update(config);
    process.env.WEBHOOK_RECEIVER = config;
    await restarted.restart(fromEnv);
  };

  const [old = ""] = emulator.secrets("development");
  await setSecret("signingSecret", old);
  await project.up();
  process.env.WEBHOOK_RECEIVER = await output();
  mounted = new MountedSecret(await output());
  reloading.run(receiverFromFile({ path: mounted.path }, reloading.options(now)));
  restarted.run(fromEnv());
  const sender = sendSteadily(emulator);
  await sender.more();

  // 1. The service signs with both.
  const rotation = emulator.rotateSecret();
  await sender.more();
  // 2. and 3. The receivers get both.
  await setSecret("nextSigningSecret", rotation.secret);
  await rollOut();
  // 4. A minute later each has them.
  waited += MINUTE_MS;
  // 5. The service signs with the new one alone.
  rotation.finish();
  await sender.more();
  // 6. So do the receivers forget the old one.
  await setSecret("signingSecret", rotation.secret);
  await project.succeed("config", "rm", "nextSigningSecret");
  await rollOut();
  waited += MINUTE_MS;
  await sender.more();

  const sent = await sender.stop();
  expect(sent.filter((delivery) => !delivery.delivered)).toEqual([]);
  const once = new Map(sent.map(({ id }) => [id, 1]));
  expect(once.size).toBe(sent.length);
  for (const { handled, refused } of [reloading, restarted])
    expect({ handled, refused }).toEqual({ handled: once, refused: [] });
  // The one that was restarted was away; the other never was.
  const answers = (url: string) =>
    new Set(emulator.deliveries.filter((attempt) => attempt.url === url).map(({ statusCode }) => statusCode));
  expect(answers(restarted.url)).toEqual(new Set([200, 503]));
  expect(answers(reloading.url)).toEqual(new Set([200]));

  for (const { url } of [reloading, restarted]) {
    const answerTo = async (secret: string) => (await fetch(url, delivered({ secret, at: now() }))).status;
    expect([await answerTo(old), await answerTo(rotation.secret)]).toEqual([401, 200]);
  }
});
