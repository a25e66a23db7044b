import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { recover } from "../../src/cli/recover/recover";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator";
import { originOf } from "../../src/endpoint/origin";
import { Book } from "../../src/settlement/book";
import type { Operation, Resource } from "../../src/settlement/deployment";
import { type Entry, ipHash } from "../../src/settlement/entry";
import { stackNameOf } from "../../src/settlement/stackName";
import { originHashes } from "../../src/settlement/trace";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { FakePulumi, type HistoryEntry } from "./fakePulumi";
import { skippingClock } from "./skippingClock";

export const SECOND = 1_000;
export const HOUR = 3_600 * SECOND;
const stackUrn = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
const urnOf = (name: string) => `urn:pulumi:dev::test::${TYPE_TOKEN}::${name}`;
const defaultProvider = "urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::default::1";
export const args = { url: "https://a.example.com/", type: "production" } as const;

export let clock: ReturnType<typeof skippingClock>;
export let emulator: Emulator;
/** When the stack began. */
let began: string;
/** The user's PULUMI_HOME. */
let home: string;
export let said: string[];
export let questions: string[];
/** What a terminal shows while the command works. */
export let progress: string[];

beforeEach(async () => {
  clock = skippingClock();
  emulator = await startEmulator({ now: clock.date });
  home = mkdtempSync(join(tmpdir(), "recovery-"));
  began = ago(HOUR);
});
afterEach(async () => {
  rmSync(home, { recursive: true, force: true });
  await emulator.close();
});

/** Puts another service in the place of `emulator`. */
export async function replaceEmulator(options: EmulatorOptions): Promise<void> {
  await emulator.close();
  emulator = await startEmulator({ now: clock.date, ...options });
}

/** Has this done each time that the command begins to wait. */
export function whileWaiting(work: () => void): void {
  const { after } = clock;
  clock = {
    ...clock,
    after: (milliseconds, callback) => {
      work();
      return after(milliseconds, callback);
    },
  };
}

export const ago = (milliseconds: number) => new Date(clock.date() - milliseconds).toISOString();
/** Lets so many seconds pass. */
export const later = (seconds: number) => void clock.after(seconds * SECOND, () => {});
export const ids = () => emulator.endpoints().map(({ id }) => id);
export const environment = () => ({ PULUMI_HOME: home, PULUMI_BACKEND_URL: "file:///backend" });

export const resourceOf = (name: string, inputs: object = {}, provider = defaultProvider): Resource => ({
  urn: urnOf(name),
  type: TYPE_TOKEN,
  inputs: { __provider: PROVIDER_CODE, ...args, ...inputs },
  provider,
});
export const interrupted = (name: string, inputs: object = {}, provider = defaultProvider): Operation => ({
  type: "creating",
  resource: resourceOf(name, inputs, provider),
});
/** A resource that an earlier run recorded. */
export const living = (name: string, inputs: object, { id = "wh_old", age = HOUR / 2 } = {}): Resource => ({
  ...resourceOf(name, inputs),
  id,
  created: ago(age),
});

interface World {
  readonly operations?: readonly Operation[];
  readonly resources?: readonly Resource[];
  /** How long ago the interrupted run wrote the state. */
  readonly writtenAgo?: number;
}

/** The stack's first run was killed a moment ago, after it had written the state. */
export function killed({ operations = [], resources = [], writtenAgo = SECOND }: World): FakePulumi {
  const stack = { urn: stackUrn, type: "pulumi:pulumi:Stack", created: began };
  return new FakePulumi(
    {
      manifest: { time: ago(writtenAgo) },
      resources: [stack, ...resources],
      pending_operations: operations,
    },
    { "webhooks:baseUrl": { value: emulator.url }, "webhooks:apiKey": { value: emulator.apiKey } },
  );
}

export const ran = (start: number, end: number, kind = "update", result = "succeeded"): HistoryEntry => ({
  ...{ kind, result, startTime: ago(start), endTime: ago(end) },
});

/** Runs the command. @param answers what a person at the terminal answers. Default: nobody is there. */
export async function run(pulumi: FakePulumi, answers?: string[]) {
  said = [];
  questions = [];
  progress = [];
  const during = <T>(describe: () => string, work: Promise<T>) => {
    progress.push(describe());
    return work;
  };
  const ask = async (question: string) => {
    questions.push(question);
    return answers?.[questions.length - 1] ?? "";
  };
  return recover({
    pulumi,
    yes: answers === undefined,
    environment: environment(),
    clock,
    dialogue: { say: (line) => said.push(line), during, ...(answers ? { ask } : {}) },
  });
}

export const book = () =>
  new Book(environment(), (message) => {
    throw new Error(message);
  });
const stackName = () => stackNameOf(stackUrn, { environment: environment(), folder: process.cwd() });
export const entries = () => book().entriesOf(stackName());
const origin = () => originOf({ baseUrl: emulator.url, apiKey: emulator.apiKey, providerName: "" });

/** Writes what a run of this machine that was killed had sent. */
export function sent(before: number, { id = null, ...change }: Partial<Entry> = {}): Entry {
  const at = clock.date() - before;
  const fields = {
    ...originHashes(origin()),
    stack: stackName(),
    stackBegan: Date.parse(began),
    run: "127.0.0.1:1",
    sender: "1",
    ip: ipHash(undefined),
  };
  const begun = book().begin(
    {
      ...{ ...fields, id, createdAt: null, adopted: false, closed: false },
      sent: { at, serviceTime: at, before: [], complete: true },
    },
    args,
  );
  return book().change(begun, { process: { host: hostname(), pid: 999_999_999, start: "" }, ...change });
}
