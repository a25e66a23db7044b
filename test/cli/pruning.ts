import { prune } from "../../src/cli/prune";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator";
import { FakeProject, type FakeProjectOptions, KeptOutput } from "./fakeProject";

const DAY_MS = 86_400_000;
const NOW = Date.parse("2030-06-15T12:00:00Z");

let now = NOW;
/** Each test has its own. */
export let emulator: Emulator;
const start = (options: EmulatorOptions = {}) => startEmulator({ now: () => now, ...options });
beforeEach(async () => {
  now = NOW;
  emulator = await start();
});
afterEach(() => emulator.close());

/** Puts another service in the place of `emulator`. */
export async function replaceEmulator(options: EmulatorOptions): Promise<void> {
  await emulator.close();
  emulator = await start(options);
}

interface Added {
  readonly days?: number;
  readonly type?: "production" | "development";
  readonly account?: string;
}

/** Makes an endpoint that is as many days old. */
export function added(path: string, { days = 10, type = "development", account }: Added = {}) {
  now = NOW - days * DAY_MS;
  const endpoint = emulator.add({ url: `https://a.example.com/${path}`, type }, account);
  now = NOW;
  return endpoint;
}

interface Run {
  readonly yes?: boolean;
  readonly type?: "production" | "development";
  /** What a person at the terminal answers. Default: nobody is there. */
  readonly answer?: string;
  readonly config?: Record<string, string>;
  readonly environment?: NodeJS.ProcessEnv;
  readonly alsoStacks?: readonly string[];
  readonly olderThanMs?: number;
}

/** Runs the command in a project with these stacks. */
export async function run(
  options: Partial<FakeProjectOptions>,
  {
    answer,
    yes = answer === undefined,
    type = "development",
    config,
    environment = {},
    alsoStacks = [],
    olderThanMs = 7 * DAY_MS,
  }: Run = {},
) {
  const output = new KeptOutput(true);
  const settings = config ?? { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey };
  const pulumi = new FakeProject({ config: settings, ...options });
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return answer ?? "";
  };
  const failure = await prune({
    ...{ pulumi, output, type, yes, alsoStacks, environment, olderThanMs },
    ...(answer === undefined ? {} : { ask }),
  }).catch((error: unknown) => error);
  const printed = output.kept.stdout === "" ? {} : JSON.parse(output.kept.stdout);
  const { deleted = [], kept = [], error } = printed;
  return {
    printed,
    deleted: deleted.map(({ id }: { id: string }) => id),
    kept: Object.fromEntries(kept.map(({ id, reason }: { id: string; reason: string }) => [id, reason])),
    stderr: output.kept.stderr,
    questions,
    failure,
    printedError: error?.code,
  };
}

export const ids = () => emulator.endpoints().map(({ id }) => id);
export const deletions = () => emulator.requests.filter(({ method }) => method === "DELETE");
