import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CheckServiceOptions, checkService } from "../../../src/cli/checkService/checkService";
import { openAccount } from "../../../src/cli/service";
import { FastClock } from "../../endpoint/fastClock";
import { KeptOutput } from "../fakeProject";

export const URL = "https://hooks.example.com/check";
export const speed = 20;
export const clock = new FastClock(speed);

const home = mkdtempSync(join(tmpdir(), "check-service-"));
const { PULUMI_HOME } = process.env;
beforeAll(() => {
  process.env.PULUMI_HOME = home;
});
afterAll(() => {
  if (PULUMI_HOME === undefined) delete process.env.PULUMI_HOME;
  else process.env.PULUMI_HOME = PULUMI_HOME;
  rmSync(home, { recursive: true });
});

export interface Checked {
  readonly ended: unknown;
  readonly clauses: Readonly<Record<string, { verdict: string; cameBack: string }>>;
  readonly differs: readonly string[];
  readonly output: string;
}

/** Plays the contract at a service, twenty times as fast. */
export async function checked(
  environment: NodeJS.ProcessEnv,
  options: Partial<CheckServiceOptions> = {},
): Promise<Checked> {
  const output = new KeptOutput(true);
  const account = openAccount(() => undefined, environment);
  const stopped = new AbortController().signal;
  const ended = await checkService({
    ...{ account, url: URL, output, clock, stopped, ask: async () => true },
    heldOf: async () => new Set<string>(),
    ...options,
  }).catch((error: { code: string }) => error.code);
  await account.client.close();
  const { stdout, stderr } = output.kept;
  const { clauses = [] } = stdout === "" ? {} : JSON.parse(stdout);
  return {
    ended,
    clauses: Object.fromEntries(clauses.map((each: { clause: string }) => [each.clause, each])),
    differs: clauses.flatMap(({ clause, verdict }: { clause: string; verdict: string }) =>
      verdict === "differs" ? [clause] : [],
    ),
    output: stdout + stderr,
  };
}
