import http from "node:http";
import type { AddressInfo } from "node:net";
import { type Delivery, type Emulator, startEmulator } from "../../src/emulator";
import type { Receiver } from "../../src/receiver";
import { nodeHandler } from "../../src/receiver/adapters/node";
import { type ConfiguredReceiverOptions, receiverFromEnv, receiverFromFile } from "../../src/stack";
import { delivered } from "../receiver/support";
import { MountedSecret } from "../stack/mountedSecret";
import { Project } from "./project";

jest.setTimeout(300_000);

const EVENTS_PER_SECOND = 100; // to two receivers: 200 deliveries
const MOST_UNDER_WAY = 500;
const MINUTE_MS = 60_000;

/** What runs receivers: a url that is there before the first of them, and answers 503 while there is none. */
class Platform {
  readonly handled = new Map<string, number>();
  readonly refused: string[] = [];
  #handler: http.RequestListener = (_, response) => response.writeHead(503).end();
  readonly #away = this.#handler;
  readonly #server = http.createServer((request, response) => this.#handler(request, response));

  async listen(): Promise<void> {
    await new Promise<void>((listening) => this.#server.listen(0, "127.0.0.1", listening));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/jobs`;
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
    this.#handler = this.#away;
    await new Promise((wake) => setTimeout(wake, 200));
    this.run(start());
  }

  close(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((closed) => this.#server.close(closed));
  }
}

/** Sends events at that pace. A machine too busy for it would only fall behind further: then it waits for those under way. */
function sendSteadily(emulator: Emulator) {
  const started = performance.now();
  const sent: Promise<Delivery>[] = [];
  let underWay = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - started) / 1000) * EVENTS_PER_SECOND;
    while (sent.length < due && underWay < MOST_UNDER_WAY) {
      const data = { jobId: `job_${sent.length}`, status: "succeeded" };
      underWay += 1;
      sent.push(emulator.deliver({ type: "job.succeeded", data }).finally(() => (underWay -= 1)));
    }
  }, 10);
  return {
    /** Lets some more be sent, and waits for these. */
    async more(): Promise<void> {
      const enough = sent.length + EVENTS_PER_SECOND / 2;
      while (sent.length < enough) await new Promise((wake) => setTimeout(wake, 20));
      await Promise.all(sent.slice(0, enough));
    },
    /** Gives what became of each. */
    stop(): Promise<Delivery[]> {
      clearInterval(timer);
      return Promise.all(sent);
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
  await Promise.all([reloading.close(), restarted.close()]);
  mounted.unmount();
  project.dispose();
});

test("rotating a secret as documented, under 200 deliveries a second, loses none and handles none twice", async () => {
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
  for (const { handled, refused } of [reloading, restarted]) {
    expect(refused).toEqual([]);
    expect(handled.size).toBe(sent.length);
    expect(handled).toEqual(once);
  }
  // The one that was restarted was away; the other never was.
  const answers = (url: string) =>
    new Set(emulator.deliveries.filter((attempt) => attempt.url === url).map(({ statusCode }) => statusCode));
  expect(answers(restarted.url)).toEqual(new Set([200, 503]));
  expect(answers(reloading.url)).toEqual(new Set([200]));

  for (const { url } of [reloading, restarted]) {
    for (const [secret, status] of [
      [old, 401],
      [rotation.secret, 200],
    ] as const)
      expect((await fetch(url, delivered({ secret, at: now() }))).status).toBe(status);
  }
});
