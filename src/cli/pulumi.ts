import { CodedError } from "../error";
import { type PulumiCommandResult, runPulumi } from "../pulumiCommand";

export interface RunOptions {
  readonly input?: string;
  /** Whether the command is about the stack. Default: true. */
  readonly ofStack?: boolean;
}

/** Pulumi's own command, run in the program's folder for one stack. */
export class Pulumi {
  constructor(readonly stack: string | undefined) {}

  /** @throws CliError `PULUMI_MISSING` */
  async run(
    args: readonly string[],
    { input = "", ofStack = true }: RunOptions = {},
  ): Promise<PulumiCommandResult> {
    const stack = this.stack === undefined || !ofStack ? [] : ["--stack", this.stack];
    try {
      return await runPulumi([...args, ...stack], { input });
    } catch (cause) {
      throw new CliError(
        "PULUMI_MISSING",
        "the command pulumi cannot be run: install Pulumi's CLI and put it on PATH",
        { cause },
      );
    }
  }

  /** What a command prints. @throws Error with what it said, when it fails */
  async output(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const result = await this.run(args, options);
    if (result.exitCode === 0) return result.stdout;
    throw pulumiFailed(args, result);
  }
}

/** What a command of this package could not do, with a stable code. */
export class CliError extends CodedError<CliErrorCode> {
  override readonly name = "CliError";
}

type CliErrorCode =
  | "PULUMI_MISSING"
  | "PULUMI_FAILED"
  | "STACK_LOCKED"
  | "STATE_CHANGED"
  | "SETTINGS_INVALID"
  | "STATE_UNREADABLE";

export function pulumiFailed(args: readonly string[], { stderr, stdout }: PulumiCommandResult): CliError {
  return new CliError(
    "PULUMI_FAILED",
    `\`pulumi ${args.join(" ")}\` failed: ${(stderr.trim() || stdout.trim()).replace(/^error: /, "")}`,
  );
}
