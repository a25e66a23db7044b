import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../src/emulator";
import { secret } from "../receiver/support";
import { Project } from "./project";

jest.setTimeout(300_000);

let emulator: Emulator;
let project: Project;

beforeEach(async () => {
  emulator = await startEmulator();
  project = new Project({
    config: {
      "webhooks:baseUrl": emulator.url,
      "webhooks:apiKey": emulator.apiKey,
      "webhooks:timeoutSeconds": "300",
    },
  });
});

afterEach(async () => {
  project.dispose();
  await emulator.close();
});

/** Runs `up` until `isReached`, presses Ctrl-C once, and returns what it printed and how long it went on, in milliseconds. */
async function cancelledUp(isReached: () => boolean) {
  await project.succeed("stack", "ls");
  const args = ["up", "--yes", "--skip-preview", "--non-interactive", "--color=never"];
  const cli = spawn("pulumi", args, { cwd: project.folder, env: project.env, detached: true });
  const printed = Promise.all([text(cli.stdout), text(cli.stderr)]);
  while (!isReached()) {
    if (cli.exitCode !== null) throw new Error((await printed).join(""));
    await sleep(50);
  }
  const cancelledAt = Date.now();
  // As a terminal does: to the whole process group of the command. The engine's plugins have groups of their own.
  process.kill(-(cli.pid ?? 0), "SIGINT");
  return { output: (await printed).join(""), ms: Date.now() - cancelledAt };
}

test("one Ctrl-C ends every wait of a dynamic provider, and a registration that got no answer stays pending", async () => {
  project.program(`
const { ReceiverValidation } = require("pulumi-webhook-endpoints");
new ReceiverValidation("proven", { url: "http://127.0.0.1:1/", secrets: ["${secret}"], timeoutSeconds: 300 });
new WebhookEndpoint("lost", { url: "https://hooks.example.com/a", type: "production" });
new WebhookEndpoint("refused", { url: "https://hooks.example.com/b", type: "production" });
`);
  emulator.fault({ operation: "register", kind: "reset-before" });
  const headers = { "retry-after": "60" };
  const refused = emulator.fault({ operation: "register", kind: "status", status: 429, headers });
  const { output, ms } = await cancelledUp(() => refused.hits > 0);
  expect(output).toMatch(/before the receiver was validated.*ABORTED/);
  expect(ms).toBeLessThan(40_000);
  const recorded = Object.values(await project.endpoints());
  expect(recorded.map(({ id }) => id)).toEqual([expect.stringMatching(/^pending:/)]);
});

test("after one Ctrl-C, a registration that is under way is recorded with its answer", async () => {
  project.declare({ jobs: { url: "https://hooks.example.com/jobs", type: "production" } });
  emulator.fault({ operation: "register", kind: "delay", delayMs: 2_000 });
  await cancelledUp(() => emulator.endpoints().length > 0);
  expect((await project.endpoints()).jobs?.id).toBe(emulator.endpoints()[0]?.id);
});
