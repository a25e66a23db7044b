import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator";
import { type Command, Plugin, type VerbError } from "./plugin";

export const url = "https://hooks.example.com/t0ken/jobs";
export const inputs = { url, type: "production" };

/** One plugin for all tests of a file. */
export let plugin: Plugin;
/** Each test has its own. */
export let emulator: Emulator;
/** The command of the engine that is under way. */
export let command: Command;

beforeAll(async () => {
  plugin = await Plugin.start();
});
afterAll(async () => {
  await plugin.stop();
  // No test of the file may have shown a secret.
  const shown = plugin.printed + JSON.stringify(plugin.logs);
  expect(shown).not.toMatch(/t0ken|emulator-api-key|k3y/);
  expect(plugin.printed).not.toMatch(/^\s+at /m);
});

beforeEach(async () => {
  plugin.logs.length = 0;
  emulator = await startEmulator();
  await continueWith();
});
afterEach(() => emulator.close());

/** Begins another command of the engine, with the stack's configuration. */
export function begin(config: Readonly<Record<string, string>> = {}): Promise<Command> {
  return plugin.command({
    "webhooks:baseUrl": emulator.url,
    "webhooks:apiKey": emulator.apiKey,
    "webhooks:timeoutSeconds": "1",
    ...config,
  });
}

/** Begins another command, which is `command` from then on. */
export async function continueWith(config: Readonly<Record<string, string>> = {}): Promise<void> {
  command = await begin(config);
}

/** Puts another service in the place of `emulator`. Commands have to begin anew. */
export async function replaceEmulator(options: EmulatorOptions): Promise<void> {
  await emulator.close();
  emulator = await startEmulator(options);
}

export const sent = () => emulator.requests.map(({ operation }) => operation);
let barriers = 0;
/** Returns the warnings of all verbs that have answered. They arrive in order, so one that is sent now comes after them. */
export async function warnings(): Promise<string[]> {
  barriers += 1;
  const barrier = `barrier ${barriers}`;
  await command.check(inputs, { ...inputs, url: "https://localhost/", __resourceName: barrier });
  const arrived = () =>
    plugin.logs.filter(({ severity }) => severity === "warning").map(({ message }) => message);
  while (!arrived().some((message) => message.includes(barrier))) await sleep(5);
  return arrived().filter((message) => !message.includes("barrier"));
}
export const failure = (promise: Promise<unknown>): Promise<VerbError> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: VerbError) => error,
  );
