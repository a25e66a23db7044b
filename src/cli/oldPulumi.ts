import { statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { programFolder, projectFile, projectName, selectedStack } from "../settlement/stackName";
import { mayBeKey } from "../shared/mayBeKey";
import { type PulumiCommandResult, runPulumi } from "../shared/pulumiCommand";
import { quotedLine } from "../shared/quotedLine";
import { quoted } from "../shared/words";
import { CliError } from "./errors";
import { hideValue } from "./knownSecrets";

/** How much of Pulumi's own error message is repeated, in characters. */
const MAX_QUOTED_LENGTH = 300;
const CONTROL_CHARACTERS = /\p{Cc}/gu;

export interface RunOptions {
  /** Whether the command takes a stack. Default: true. */
  readonly ofStack?: boolean;
}

/** Why nothing is found where Pulumi's command is missing, as the part of a sentence after "because". */
const NO_CLI = "the command pulumi was not found on PATH";
const NO_PROJECT = /no Pulumi\.yaml project file found/;
const NO_STACK_MESSAGE = /no stack selected/;

/** What a command found, or why this folder has none, as the part of a sentence after "because". */
export type Found<T> =
  | { readonly value: T; readonly absence?: undefined }
  | { readonly value?: undefined; readonly absence: string };

/** Returns what a command found that failed with this error: nothing, if it is missing. @throws the error if it is another */
export function absenceAfter(error: unknown): { readonly absence: string } {
  if (error instanceof CliError && error.code === "PULUMI_MISSING") return { absence: NO_CLI };
  throw error;
}

/** Runs Pulumi's command in the program's folder for one stack. */
export class Pulumi {
  /** @param stack default: the selected stack */
  constructor(readonly stack: string | undefined) {
    // Pulumi takes an empty name for the selected stack.
    if (stack === "") throw new CliError("WRONG_USE", "the name of a stack must not be empty");
    if (stack !== undefined && /whsec_/i.test(stack)) hideValue(stack);
  }

  /**
   * Returns the same for a command that uses the stack's settings. It refuses a stack of another project: Pulumi reads the state of
   * whatever stack is named, and the settings from this folder, which has those of its own project's stack of that name.
   *
   * @throws CliError `WRONG_USE`
   */
  static withSettings(stack: string | undefined, { env }: Pick<NodeJS.Process, "env"> = process): Pulumi {
    const folder = programFolder(env);
    // The list of stacks calls that of PULUMI_STACK the current one.
    const named = stack ?? (env.PULUMI_OPTION_STACK || undefined);
    const chosen = named ?? (env.PULUMI_STACK || undefined);
    const name = chosen ?? selectedStack({ environment: env, folder });
    const [, project] = /^[^/]+\/([^/]+)\/[^/]+$/.exec(name ?? "") ?? [];
    const isOther =
      project !== undefined && projectFile(folder) !== undefined && project !== projectName(folder);
    if (isOther)
      throw new CliError(
        "WRONG_USE",
        `the stack ${name} is of another project than this folder, and only its own project's folder has its settings. Run the command there${chosen ? "" : ", or select one of this project with `pulumi stack select`"}`,
      );
    return new Pulumi(named);
  }

  /** Returns the same for another stack. */
  of(stack: string): Pulumi {
    return new Pulumi(stack);
  }

  /** Returns a command line for a message, with `--stack` if the user named the stack: without it, it would act on the selected one. */
  readonly withStack = (command: string): string =>
    this.stack === undefined ? command : `${command} --stack ${quoted(this.stack)}`;

  /** Runs a command. @throws CliError `PULUMI_MISSING`, or `PULUMI_FAILED` when the system cannot start it */
  async run(args: readonly string[], { ofStack = true }: RunOptions = {}): Promise<PulumiCommandResult> {
    const stack = this.stack === undefined || !ofStack ? [] : ["--stack", this.stack];
    try {
      const result = await runPulumi([...args, ...stack]);
      this.#hideRefusedStack(result);
      return result;
    } catch (cause) {
      throw notStarted(cause);
    }
  }

  /** Hides a name that Pulumi refuses, if somebody may have passed a key in its place. A name that Pulumi accepts is shown. */
  #hideRefusedStack({ exitCode, stderr }: PulumiCommandResult): void {
    if (exitCode !== 0 && this.stack && stderr.includes(this.stack) && mayBeKey(this.stack))
      hideValue(this.stack);
  }

  /** Returns what a command prints. @throws CliError `PULUMI_FAILED` */
  async output(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const result = await this.run(args, options);
    if (result.exitCode === 0) return result.stdout;
    throw pulumiFailed(args, result);
  }

  /** Returns the JSON that a command prints, which must be of this type. @throws CliError `PULUMI_FAILED` */
  async json<T>(args: readonly string[], options: RunOptions = {}): Promise<T> {
    return this.parse(args, await this.output(args, options));
  }

  /** Returns the JSON that a command prints, if there are a CLI, a project and a stack for it. @throws CliError `PULUMI_FAILED` */
  async find<T>(args: readonly string[], options: RunOptions = {}): Promise<Found<T>> {
    try {
      const result = await this.run(args, options);
      if (result.exitCode === 0) return { value: this.parse<T>(args, result.stdout) };
      const absence = absenceOf(result);
      if (absence === undefined) throw pulumiFailed(args, result);
      return { absence };
    } catch (error) {
      return absenceAfter(error);
    }
  }

  /** Parses the JSON that a command printed. @throws CliError `PULUMI_FAILED` */
  parse<T>(args: readonly string[], stdout: string): T {
    try {
      return JSON.parse(stdout);
    } catch {
      // The parser's own message would quote what was printed.
      throw new CliError("PULUMI_FAILED", `\`pulumi ${args.join(" ")}\` printed something that is not JSON`);
    }
  }
}

/** Only a command that is not there is missing: after any other failure, the folder may have a stack all the same. */
function notStarted(cause: unknown): CliError {
  const { code } = cause as NodeJS.ErrnoException;
  return code === "ENOENT" || (code === "EACCES" && !isOnPath())
    ? new CliError(
        "PULUMI_MISSING",
        "cannot run the command pulumi. Install the Pulumi CLI and put it on PATH",
        { cause },
      )
    : new CliError(
        "PULUMI_FAILED",
        `the command pulumi cannot be started (${code}). Check that you may execute the file`,
        { cause },
      );
}

/** Returns whether there is a file of the command: for a folder that may not be read, or has its name, the system says EACCES too. */
function isOnPath(): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      return statSync(join(folder, "pulumi")).isFile();
    } catch {
      return false;
    }
  });
}

/** Returns why a command found no stack, or undefined if it failed for another reason. */
function absenceOf({ stderr }: PulumiCommandResult): string | undefined {
  if (NO_PROJECT.test(stderr)) return "this folder has no Pulumi project";
  return NO_STACK_MESSAGE.test(stderr) ? "no stack is selected" : undefined;
}

/** Quotes one error of what Pulumi printed: the whole may hold values of the stack. Of several errors, it names the first. */
export function pulumiFailed(args: readonly string[], { stderr, stdout }: PulumiCommandResult): CliError {
  const lines = (stderr.trim() || stdout.trim()).split(/[\r\n]+/);
  const at = lines.findIndex((text) => text.startsWith("error: "));
  const heading = lines.at(at) ?? "";
  const [, first] = /errors? occurred:\s*$/.test(heading)
    ? (/^\s*\* (.*)/.exec(lines[at + 1] ?? "") ?? [])
    : [];
  const text = quotedLine((first ?? heading).replace(/^error: /, "").replace(CONTROL_CHARACTERS, ""));
  const cut = text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text;
  return new CliError("PULUMI_FAILED", `\`pulumi ${args.join(" ")}\` failed: ${cut}`);
}
