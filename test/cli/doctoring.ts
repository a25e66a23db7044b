import type { Finding } from "../../src/cli/commands/doctor/finding";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator";
import { type Backend, backend, originAt, recorded } from "./backend";
import { API_KEY, run } from "./running";

export const at = Date.now();
export const elsewhere = "https://x.example.com";
/** The state of the healthy stack with something more. */
export const dev = (more: object = {}, ...resources: object[]) => ({
  own: { dev: { resources: [root, jobs(), ...resources], ...more } } as Backend["own"] & object,
});
export const recordedAt = (other: object) => ({
  own: { dev: { resources: [root, jobs({ outputs: { ...originAt(service.url), ...other } })] } },
});

export const url = "https://hooks.example.com/jobs";
export const root = {
  urn: "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
  type: "pulumi:pulumi:Stack",
  outputs: { receiver: {} },
};

/** Of the test that runs. */
export let service: Emulator;
afterEach(() => service.close());

/** Starts the service, with endpoints wh_1, wh_2 and so on. */
export async function serve({
  urls = [url],
  ...options
}: EmulatorOptions & { readonly urls?: readonly string[] } = {}) {
  let count = 0;
  service = await startEmulator({ apiKey: API_KEY, newId: () => `wh_${++count}`, ...options });
  for (const each of urls)
    service.add({ url: each, type: "development", createdAt: new Date(at).toISOString() });
  return { origin: originAt(service.url) };
}

/** An endpoint as the state of a healthy stack has it. */
export const jobs = (more: Partial<Parameters<typeof recorded>[1]> = {}) =>
  recorded("jobs", { id: "wh_1", url, outputs: originAt(service.url), ...more });

export async function findingsOf(given: Partial<Backend>, ...args: string[]) {
  const own = { dev: { resources: [root, jobs()] } };
  const pulumi = backend({ baseUrl: service.url, own, ...given });
  const { status, stdout } = await run(["doctor", "--json", ...args], { pulumi });
  const { findings, ...rest } = JSON.parse(stdout) as {
    findings: Finding[];
    endpoints: number | null;
    notChecked: string[];
  };
  return { status, findings, ...rest };
}

/** Returns the one finding of a stack and a service that are healthy but for one thing, as `level: message (CODE) remedy`. */
export async function theFinding(given: Partial<Backend>, ...args: string[]) {
  const { status, findings } = await findingsOf(given, ...args);
  expect(findings).toHaveLength(1);
  const [{ level, code, message, remedy } = {} as Finding] = findings;
  expect(status).toBe(level === "error" ? 1 : 0);
  return `${level}: ${message} (${code}) ${remedy}`;
}
