import { Command, CommanderError } from "commander";
import { CodedError } from "../shared/codedError";
import { HIDDEN, shown } from "../shared/shown";
import { takeOptionsOnce } from "./arguments";
import { CliError } from "./errors";
import { withoutSecrets } from "./knownSecrets";
import { jsonResult } from "./oldOutput";
import { printable, printableJson } from "./printable";

/** An option or a subcommand as somebody may misspell it. A key has digits, is longer, or mixes cases. */
const MISSPELT_NAME = /^-{0,2}[a-z][a-z-]{0,23}$/;

/** How much later than a command that it runs this process may get Ctrl-C, in milliseconds. */
const INTERRUPT_DELAY_MS = 100;

/** The exit statuses of every command. */
export const EXIT = {
  /** It is done, or the answer is yes. */
  yes: 0,
  /** The answer is no, or the command failed, or it was used in a wrong way. */
  no: 1,
  interrupted: 130,
} as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** Returns the part of a command's help that names its exit statuses. */
export function exitHelp(statuses: Readonly<Record<number, string>>): string {
  const lines = Object.entries(statuses).map(([status, meaning]) => `  ${status.padEnd(5)}${meaning}`);
  return `\nExit status:\n${lines.join("\n")}\n`;
}

export interface Usage {
  /** The meaning of each exit status. Default for Ctrl-C: that it ended the command. */
  readonly exit: Readonly<Record<number, string>>;
  /** The arguments of each example. */
  readonly examples: readonly string[];
}

/** Adds the end of a command's help. */
export function withUsage(command: Command, { exit, examples }: Usage): Command {
  const lines = examples.map((example) => `  $ npx pulumi-webhook-endpoints ${example}`);
  const statuses = exitHelp({ [EXIT.interrupted]: "Ctrl-C ended it", ...exit });
  return command.addHelpText("after", `${statuses}\nExamples:\n${lines.join("\n")}`);
}

/**
 * Returns the action of a command that ends by itself. Its result is the exit status; default: 0. Ctrl-C ends it at once. When
 * nobody reads its output any more, as with `| head`, it goes on in silence.
 */
export function endsByItself<Arguments extends unknown[]>(
  action: (...args: Arguments) => Promise<ExitStatus | undefined>,
): (...args: Arguments) => Promise<void> {
  return async (...args) => {
    const release = endOnInterrupt();
    failIfUnwritable();
    const status = await action(...args);
    release();
    // Its output may have failed meanwhile.
    process.exitCode ??= status;
  };
}

/**
 * Ends a command that has failed, or that commander has ended. Ctrl-C also ends the commands that it runs, and their failure may come
 * first.
 */
export async function failUnlessInterrupted(error: unknown): Promise<void> {
  if (error instanceof CommanderError) {
    process.exitCode ??= error.exitCode;
    return;
  }
  await new Promise((resolve) => setTimeout(resolve, INTERRUPT_DELAY_MS));
  fail(error);
}

/** Makes the command fail if its output cannot be written. If nobody reads it any more, the command goes on in silence. */
export function failIfUnwritable(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") fail(error);
  });
  process.stderr.on("error", () => undefined);
}

/** What Ctrl-C waits for. */
let finish: (() => Promise<unknown>) | undefined;

/** Waits for work. Ctrl-C calls `onInterrupt`, which makes the work end within a second, and ends the process only after that. */
export function endingOnInterrupt<T>(work: Promise<T>, onInterrupt: () => Promise<void>): Promise<T> {
  finish = async () => {
    await onInterrupt();
    await work;
  };
  return work.finally(() => {
    finish = undefined;
  });
}

/** The exit status of a process that a signal ended, as a shell shows it. */
const STATUS_OF = { SIGINT: EXIT.interrupted, SIGTERM: 143 } as const;

/** Makes Ctrl-C or SIGTERM end the process, with one line and the documented exit status. Returns a function that undoes this. */
export function endOnInterrupt(): () => void {
  const end = async (error: CliError, signal: keyof typeof STATUS_OF) => {
    await finish?.().catch(() => undefined);
    fail(error);
    // Node.js waits in `exit` for files that are read: a pipe that nobody writes, or a file system that hangs.
    if (process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq")))
      process.kill(process.pid, signal);
    process.exit(STATUS_OF[signal]);
  };
  const interrupt = () => end(interrupted(), "SIGINT");
  const terminate = () => end(new CliError("INTERRUPTED", "SIGTERM ended the command"), "SIGTERM");
  process.once("SIGINT", interrupt).once("SIGTERM", terminate);
  return () => process.off("SIGINT", interrupt).off("SIGTERM", terminate);
}

export function interrupted(): CliError {
  return new CliError("INTERRUPTED", "Ctrl-C ended the command");
}

/**
 * Prints why a command failed, in one line with its code, and sets the exit status. With `--json`, it is also the one value on
 * standard output, unless the command has printed a result before.
 */
export function fail(error: unknown): void {
  const failure = dataOfFailure(error);
  process.stderr.write(`error: ${printable(failure.message)} (${failure.code})\n`);
  process.exitCode = EXIT.no;
  if (!(jsonResult.isWanted ?? process.argv.includes("--json")) || jsonResult.isPrinted) return;
  jsonResult.isPrinted = true;
  process.stdout.write(`${printableJson({ error: failure })}\n`);
}

/** Why a command failed, as `--json` prints it under `error`. */
interface FailureData {
  readonly code: string;
  /** One line, without the code. */
  readonly message: string;
}

export function dataOfFailure(error: unknown): FailureData {
  const coded =
    error instanceof CodedError
      ? error
      : new CliError("UNEXPECTED", error instanceof Error ? error.message : String(error));
  return { code: coded.code, message: withoutSecrets(coded.reason.replace(/\s*\n\s*/g, " ")) };
}

/** Returns the command that holds all others. Wrong use of any of them is one line too. */
export function program(name: string, commands: readonly Command[]): Command {
  const all = new Command(name)
    .configureOutput({ outputError: (text) => fail(new CliError("WRONG_USE", wrongUse(text))) })
    .exitOverride((end) => {
      // It may have printed help. Whether that could be written shows only after this.
      failIfUnwritable();
      throw end;
    })
    .hook("preAction", (_all, command) => {
      jsonResult.isWanted = command.opts<{ json?: boolean }>().json === true;
    });
  all.enablePositionalOptions(); // what follows a subcommand is its own
  for (const command of commands) {
    takeOptionsOnce(command);
    all.addCommand(command.copyInheritedSettings(all));
  }
  return all;
}

/**
 * Returns commander's message about wrong use without the values that it repeats: a key may have got into the place of any of them.
 * The quotes in a message are not escaped, so each pattern reaches to the last one.
 */
function wrongUse(message: string): string {
  return message
    .replace(/^error: /, "")
    .replace(/^unknown (option '(--[a-z-]+))=.*\(Did you mean \2\?\)/s, "$1' takes no value")
    .replace(/^(unknown (?:option|command)) '(.*)'/s, (_all, what, name) => `${what} ${quotedName(name)}`)
    .replace(/ (?:argument|value) '(.*)' is invalid/s, " is invalid")
    .trim();
}

function quotedName(name: string): string {
  const [option = ""] = name.split("=");
  return MISSPELT_NAME.test(option) && shown(option) === option ? `'${option}'` : HIDDEN;
}
