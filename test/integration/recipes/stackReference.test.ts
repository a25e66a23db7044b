import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Emulator, startEmulator } from "../../../src/emulator";
import { receiverFromEnv } from "../../../src/stack";
import { Project } from "../../engine/project";
import { leaked, serve } from "../../stack/support";

jest.setTimeout(300_000);

const examples = resolve(__dirname, "../../../examples");
let emulator: Emulator;
let project: Project;

beforeAll(async () => {
  emulator = await startEmulator({ retryDelaysMs: [] });
  project = new Project({
    env: { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: emulator.apiKey },
  });
  for (const [name, example] of [
    ["endpoints", "quickstart"],
    ["receiver", "recipes/stack-reference"],
  ] as const) {
    const from = join(examples, example);
    cpSync(from, join(project.folder, name), {
      recursive: true,
      filter: (file) => !/node_modules/.test(file.slice(from.length)),
    });
    await project.succeed("--cwd", name, "stack", "init", "prod");
  }
});

afterAll(async () => {
  project.dispose();
  await emulator.close();
});

const endpoints = (...args: string[]) => project.succeed("--cwd", "endpoints", ...args);
const receiver = (...args: string[]) => project.succeed("--cwd", "receiver", ...args);
const up = ["up", "--yes", "--skip-preview"];

test("another stack gets the configuration as a secret, its receiver verifies deliveries, and a rotation reaches it", async () => {
  const [secret = ""] = emulator.secrets();
  await endpoints("config", "set", "--secret", "signingSecret", secret);
  await endpoints(...up);
  await receiver("config", "set", "endpointsStack", "organization/webhooks-quickstart/prod");
  await receiver(...up);

  const shown = JSON.parse(await receiver("stack", "output", "--json"));
  expect(shown).toEqual({
    environment: { WEBHOOK_RECEIVER: "[secret]" },
    fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
  });
  expect(leaked(project.filesAtRest(), [secret])).toEqual([]);

  const { environment } = JSON.parse(await receiver("stack", "output", "--json", "--show-secrets"));
  process.env.WEBHOOK_RECEIVER = environment.WEBHOOK_RECEIVER;
  const handled: string[] = [];
  const served = await serve(
    receiverFromEnv({}, { handlers: { "job.succeeded": ({ jobId = "" }) => handled.push(jobId) } }),
  );
  try {
    const { id: endpointId } = emulator.add({ url: served.url, type: "production" });
    const job = await emulator.runJob({ endpointId });
    expect(handled).toEqual([job.jobId]);
  } finally {
    await served.close();
  }

  // The next `up` of this stack applies a rotation of the endpoints' stack, as the fingerprint shows.
  await endpoints("config", "set", "--secret", "nextSigningSecret", emulator.rotateSecret().secret);
  await endpoints(...up);
  expect(await receiver("preview", "--diff")).toMatch(/fingerprint *: *"[0-9a-f]{12}" => "[0-9a-f]{12}"/);
});
