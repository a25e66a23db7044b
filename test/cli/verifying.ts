import { join } from "node:path";
import { sign } from "../../src/signature";
import { type Ended, makeFolder, run, SECRET, type StartOptions } from "./commandLine";

export const HOUR = 3_600;
export const NOW = Math.floor(Date.now() / 1000);
export const OLD = NOW - 3 * HOUR;
export const CONTENT = {
  type: "job.succeeded",
  data: { jobId: "jöb/1", status: "<done>", cost: [1, 2.5], note: null, "a b": {} },
};
export const COMPACT = JSON.stringify(CONTENT);

export interface Capture {
  readonly signed?: string | Uint8Array;
  /** Default: what was signed. */
  readonly body?: string | Uint8Array;
  readonly secret?: string;
  readonly timestamp?: number;
  /** Returns the captured headers of a signed delivery. */
  readonly headers?: (headers: Readonly<Record<string, string>>, body: string | Uint8Array) => string;
}

interface Verified extends Ended {
  readonly json: Readonly<Record<string, unknown>>;
}

export const lines = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join("");

/** Signs a delivery, captures it in files, and verifies these. */
export async function verify(
  { signed = COMPACT, body = signed, secret = SECRET, timestamp = OLD, headers = lines }: Capture,
  args: readonly string[] = [],
  { env = { THE_SECRET: SECRET }, cwd }: StartOptions = {},
): Promise<Verified> {
  const sent = sign({ id: "msg_1", timestamp, body: signed, secret });
  const folder = makeFolder({ headers: headers(sent, signed), body });
  const source = args.some((arg) => /^--(secret-|stack)/.test(arg)) ? [] : ["--secret-env", "THE_SECRET"];
  const files = ["--headers", join(folder, "headers"), "--body", join(folder, "body")];
  const ended = await run(["verify", ...files, ...source, ...args], {
    env,
    ...(cwd === undefined ? {} : { cwd }),
  });
  return { ...ended, json: args.includes("--json") ? JSON.parse(ended.stdout) : {} };
}
