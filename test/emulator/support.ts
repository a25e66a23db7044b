import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator";
import { type Reaction, receiver } from "./receiver";
import { A } from "./signing";

const running: Emulator[] = [];
const folders: string[] = [];

/** Starts an emulator that is closed after the test. */
export async function started(options: EmulatorOptions = {}): Promise<Emulator> {
  // A warning of the process would stand in the output of the tests.
  const emulator = await startEmulator({ warn: () => undefined, ...options });
  running.push(emulator);
  return emulator;
}

/** Starts an emulator with an endpoint at a receiver. */
export async function withReceiver(reactions: readonly Reaction[] = [], options: EmulatorOptions = {}) {
  const { url, received } = await receiver(...reactions);
  const emulator = await started({ secrets: A, ...options });
  const { id } = emulator.add({ ...HOOK, url });
  return { emulator, id, url, received };
}

/** Creates a folder that is removed after the test. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "emulator-"));
  folders.push(path);
  return path;
}

afterEach(async () => {
  await Promise.allSettled(running.splice(0).map((emulator) => emulator.close()));
  await Promise.all(folders.splice(0).map((path) => rm(path, { recursive: true, force: true })));
});

export interface CallOptions {
  readonly body?: unknown;
  readonly key?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Sends an API request. A string body is sent as it is, anything else as JSON. */
export function call(emulator: Emulator, request: string, options: CallOptions = {}): Promise<Response> {
  const [method = "GET", path = "/webhooks"] = request.split(" ");
  const { body, key = emulator.apiKey, headers = {}, signal } = options;
  return fetch(emulator.url + path, {
    method,
    headers: { "X-Api-Key": key, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

export const HOOK = { url: "https://example.com/hook", type: "production" } as const;

/** Returns how a request ended for its client: with a status, with an error, or by giving up. */
export async function outcome(response: Promise<Response>): Promise<number | "failed" | "gave up"> {
  try {
    return (await response).status;
  } catch (error) {
    return (error as Error).name === "AbortError" ? "gave up" : "failed";
  }
}

/**
 * Makes the client of the next request give up once two later requests have got a response. A response that is not held
 * back would arrive before those.
 */
export function timeoutAt(emulator: Emulator): AbortSignal {
  const controller = new AbortController();
  const before = emulator.requests.length;
  void until(() => emulator.requests.length > before)
    .then(() => laterRequest(emulator))
    .then(() => laterRequest(emulator))
    .then(() => controller.abort());
  return controller.signal;
}

/** Sends a request that meets no fault, because it has the wrong path, and waits for its response. */
async function laterRequest(emulator: Emulator): Promise<void> {
  await (await fetch(new URL("/later", emulator.url))).text();
}

/** Waits until a condition holds. The timeout of the test is the limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}
