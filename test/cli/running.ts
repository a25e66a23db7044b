import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { COMMANDS } from "../../src/cli/commands";
import type { RunPulumi } from "../../src/cli/pulumi";
import { type Commands, run as runCommand } from "../../src/cli/run";
import type { Terminal } from "../../src/cli/terminal";
import { createReceiver } from "../../src/receiver";
import type { PulumiCommandResult } from "../../src/shared/pulumiCommand";
import { leaked, newSecret, serve } from "../stack/support";

/** Signing secrets and an API key that no output may hold. */
export const SECRET = newSecret();
export const OTHER_SECRET = newSecret();
export const API_KEY = "key-2b8f6d0c9e4a7153";

/** Starts a receiver that takes every event that is signed with `SECRET`. */
export const serveReceiver = () =>
  serve(createReceiver({ secrets: SECRET, handlers: {}, onUnhandled: () => {}, onRejected: () => {} }));

export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Answers each command of Pulumi. Default: there is no such command. */
  readonly pulumi?: RunPulumi;
  /** What a person answers, one question after the other. Default: there is no person. */
  readonly answers?: readonly string[];
  /** Whether standard output and error are terminals. */
  readonly isTTY?: boolean;
  /** The subcommands. Default: those of the package. */
  readonly commands?: Commands;
  /** The output may hold the secrets, as that of the emulator does. */
  readonly showsSecrets?: boolean;
}

/** A command that runs in this process. */
class Running {
  stdout = "";
  stderr = "";
  /** The questions that were asked. */
  readonly asked: string[] = [];
  readonly ended: Promise<Ended>;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<(line: string) => void>();
  readonly #waiting = new Set<() => void>();

  constructor(args: readonly string[], options: RunOptions) {
    const { env = {}, pulumi = noPulumi, answers, isTTY = false, showsSecrets = false } = options;
    const { commands = COMMANDS } = options;
    const left = [...(answers ?? [])];
    const terminal: Terminal = {
      isInteractive: answers !== undefined,
      question: async (text) => {
        this.asked.push(text);
        return left.shift() ?? "";
      },
      onLine: (listener) => {
        this.#listeners.add(listener);
      },
    };
    const sink = (name: "stdout" | "stderr") => ({
      isTTY,
      write: (text: string) => {
        this[name] += text;
        for (const check of [...this.#waiting]) check();
      },
    });
    this.ended = runCommand(args, {
      commands,
      version: "1.2.3",
      env,
      stdout: sink("stdout"),
      stderr: sink("stderr"),
      terminal,
      signal: this.#stopping.signal,
      runPulumi: pulumi,
      pause: async () => undefined,
    }).then((status) => {
      const { stdout, stderr } = this;
      const found = showsSecrets ? [] : leaked(stdout + stderr, [SECRET, OTHER_SECRET, API_KEY]);
      if (found.length > 0) throw new Error(`The command ${args.join(" ")} printed a part of a secret.`);
      return { status, stdout, stderr };
    });
    this.ended.catch(() => undefined);
  }

  /** Waits until the command has printed something that matches. Fails if it ends before. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const find = () => pattern.exec(this.stdout + this.stderr);
    const printed = new Promise<void>((resolve) => {
      const check = () => find() !== null && resolve();
      this.#waiting.add(check);
      check();
    });
    await Promise.race([printed, this.ended]);
    const found = find();
    if (found === null) throw new Error(`The command ended: ${this.stdout}${this.stderr}`);
    return found;
  }

  /** Types a line. */
  type(line: string): void {
    for (const listener of this.#listeners) listener(line);
  }

  /** Stops it as Ctrl-C does. */
  async stop(): Promise<Ended> {
    this.#stopping.abort("SIGINT");
    return this.ended;
  }
}

/** Starts a command, in this process. */
export function start(args: readonly string[], options: RunOptions = {}): Running {
  return new Running(args, options);
}

/** Runs a command, in this process. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return start(args, options).ended;
}

/** Runs the real command in a process of its own, in an empty folder. */
export function runBin(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const main = join(__dirname, "../../dist/cli/main.js");
  const { HOME = "", PATH = "" } = process.env;
  const options = { cwd: makeFolder({}), env: { HOME, PATH, ...env }, timeout: 60_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

async function noPulumi(): Promise<PulumiCommandResult> {
  throw Object.assign(new Error("spawn pulumi ENOENT"), { code: "ENOENT" });
}

export interface FakeStack {
  /** What `pulumi stack output --json --show-secrets` prints. */
  readonly outputs?: object;
  /** What `pulumi config --json --show-secrets` prints, without its secrets. */
  readonly config?: Readonly<Record<string, string>>;
  /** Settings that are secret. */
  readonly secretConfig?: Readonly<Record<string, string>>;
  /** Makes each command fail with this line. */
  readonly error?: string;
}

/** Answers as Pulumi's command does in the folder of a program whose selected stack is this one. */
export function fakePulumi({ outputs = {}, config = {}, secretConfig = {}, error }: FakeStack) {
  const entries = (values: object, secret: boolean) =>
    Object.entries(values).map(([name, value]) => [name, { value, secret }] as const);
  const settings = Object.fromEntries([...entries(config, false), ...entries(secretConfig, true)]);
  return async (args: readonly string[]): Promise<PulumiCommandResult> => {
    const printed = { "stack output": outputs, "config --json": settings }[args.slice(0, 2).join(" ")];
    if (error !== undefined || printed === undefined)
      return { exitCode: 255, stdout: "", stderr: `error: ${error ?? "unexpected command"}\n` };
    return { exitCode: 0, stdout: JSON.stringify(printed), stderr: "" };
  };
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Makes a temporary folder with these files. */
export function makeFolder(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "command-"));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** What a stack's output `receiver` holds. */
export function receiverOutput(
  secrets: readonly string[],
  endpoints: Readonly<Record<string, { url: string; type: string }>> = {},
) {
  const named = Object.entries(endpoints).map(([name, endpoint]) => [
    name,
    { id: `wh_${name}`, ...endpoint },
  ]);
  return { version: 1, secrets, toleranceSeconds: 300, endpoints: Object.fromEntries(named) };
}
