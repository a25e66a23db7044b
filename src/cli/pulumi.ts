import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { PulumiCommandResult } from "../shared/pulumiCommand";
import { masked } from "../shared/shown";
import { quoted } from "../shared/words";
import { CliError } from "./errors";
import type { Context } from "./run";

/** How much of Pulumi's own error message is repeated, in characters. */
const MAX_QUOTED_LENGTH = 300;
const PROJECT_FILES = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];

/** What a command found, or why this folder has none, as the part of a sentence after "because". */
export type Found<T> =
  | { readonly value: T; readonly absence?: undefined }
  | { readonly value?: undefined; readonly absence: string };

export interface RunOptions {
  /** Whether the command takes a stack. Default: true. */
  readonly ofStack?: boolean;
}

/** Runs Pulumi's command for one stack. */
export class Pulumi {
  /** @param stack default: the selected stack */
  constructor(
    private readonly context: Pick<Context, "env" | "runPulumi">,
    readonly stack: string | undefined,
  ) {
    // Pulumi takes an empty name for the selected stack.
    if (stack === "") throw new CliError("WRONG_USE", "the name of a stack must not be empty");
  }

  /**
   * Returns the same for a command that uses the stack's settings. It refuses a stack of another project: Pulumi would read that stack's
   * state, and the settings of this project's stack of that name.
   *
   * @throws CliError `WRONG_USE`
   */
  static withSettings(context: Pick<Context, "env" | "runPulumi">, stack: string | undefined): Pulumi {
    const { PULUMI_OPTION_STACK, PULUMI_STACK, PULUMI_OPTION_CWD = "" } = context.env;
    const name = stack ?? (PULUMI_OPTION_STACK || PULUMI_STACK);
    const [, project] = /^[^/]+\/([^/]+)\/[^/]+$/.exec(name ?? "") ?? [];
    const own = projectName(resolve(PULUMI_OPTION_CWD));
    if (project !== undefined && own !== undefined && project !== own)
      throw new CliError(
        "WRONG_USE",
        `the stack ${name} is of another project than this folder, and only its own project's folder has its settings. Run the command there`,
      );
    return new Pulumi(context, stack);
  }

  /** Returns the same for another stack. */
  of(stack: string): Pulumi {
    return new Pulumi(this.context, stack);
  }

  /** Returns a command line for a message, with `--stack` if the user named the stack. */
  readonly withStack = (command: string): string =>
    this.stack === undefined ? command : `${command} --stack ${quoted(this.stack)}`;

  /** Runs a command. @throws CliError `PULUMI_MISSING`, or `INTERRUPTED` after Ctrl-C */
  async run(args: readonly string[], { ofStack = true }: RunOptions = {}): Promise<PulumiCommandResult> {
    const stack = this.stack === undefined || !ofStack ? [] : ["--stack", this.stack];
    return this.context.runPulumi([...args, ...stack]).catch((cause: NodeJS.ErrnoException) => {
      if (cause.name === "AbortError") throw new CliError("INTERRUPTED", "Ctrl-C ended the command");
      throw new CliError(
        "PULUMI_MISSING",
        `cannot run the command pulumi (${cause.code}). Install the Pulumi CLI and put it on PATH`,
        { cause },
      );
    });
  }

  /** Returns the JSON that a command prints, which must be of this type. @throws CliError `PULUMI_MISSING` or `PULUMI_FAILED` */
  async json<T>(args: readonly string[], options: RunOptions = {}): Promise<T> {
    const result = await this.run(args, options);
    if (result.exitCode !== 0) throw pulumiFailed(args, result);
    return parsed(args, result.stdout);
  }

  /**
   * Returns the JSON that a command prints, if there are a CLI, a project and a stack for it. A stack that the user named must exist.
   *
   * @throws CliError `PULUMI_FAILED`, or `PULUMI_MISSING` for a stack that the user named
   */
  async find<T>(args: readonly string[]): Promise<Found<T>> {
    try {
      return { value: await this.json<T>(args) };
    } catch (error) {
      const absence = error instanceof CliError ? absenceAfter(error) : undefined;
      if (absence === undefined || this.stack !== undefined) throw error;
      return { absence };
    }
  }
}

function absenceAfter({ code, reason }: CliError): string | undefined {
  if (code === "PULUMI_MISSING") return "the command pulumi was not found on PATH";
  if (/no Pulumi\.yaml project file found/.test(reason)) return "this folder has no Pulumi project";
  return /no stack selected/.test(reason) ? "no stack is selected" : undefined;
}

function parsed<T>(args: readonly string[], stdout: string): T {
  try {
    return JSON.parse(stdout);
  } catch {
    // The parser's own message would quote what was printed.
    throw new CliError("PULUMI_FAILED", `\`pulumi ${args.join(" ")}\` printed something that is not JSON`);
  }
}

/** Quotes one error of what Pulumi printed: the whole may hold values of the stack. */
export function pulumiFailed(args: readonly string[], { stderr, stdout }: PulumiCommandResult): CliError {
  const lines = (stderr.trim() || stdout.trim()).split(/[\r\n]+/);
  const line = lines.find((each) => each.startsWith("error: ")) ?? lines.at(-1) ?? "";
  const text = masked(line.replace(/^error: /, "")).slice(0, MAX_QUOTED_LENGTH);
  return new CliError("PULUMI_FAILED", `\`pulumi ${args.join(" ")}\` failed: ${text}`);
}

/** Returns the name of the Pulumi project that a folder is in; undefined if it is in none. @param folder absolute */
function projectName(folder: string): string | undefined {
  const file = PROJECT_FILES.map((name) => join(folder, name)).find(existsSync);
  if (file === undefined) return dirname(folder) === folder ? undefined : projectName(dirname(folder));
  return /^[\s{]*["']?name["']?\s*:\s*["']?([^\s"'#,]+)/m.exec(readFileSync(file, "utf8"))?.[1];
}
