import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator";

const running: Emulator[] = [];
const folders: string[] = [];

/** An emulator that ends with its test. */
export async function started(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator(options);
  running.push(emulator);
  return emulator;
}

/** A folder that goes with its test. */
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

/** A request as any client of the service would make it. A string goes as it stands, anything else as JSON. */
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

/** What a request came to in the eyes of its client: a status, or that it failed, or that the client gave up. */
export async function outcome(response: Promise<Response>): Promise<number | "failed" | "gave up"> {
  try {
    return (await response).status;
  } catch (error) {
    return (error as Error).name === "AbortError" ? "gave up" : "failed";
  }
}

/** Ends a client's patience shortly after its request has arrived. */
export function patience(emulator: Emulator): AbortSignal {
  const controller = new AbortController();
  const before = emulator.requests.length;
  void until(() => emulator.requests.length > before)
    .then(() => new Promise((resolve) => setTimeout(resolve, 100)))
    .then(() => controller.abort());
  return controller.signal;
}

/** Waits until something holds, for as long as the test may take. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
