import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export interface RunOptions {
  readonly input?: string;
  /** Whether the command is about the stack. Default: true. */
  readonly ofStack?: boolean;
}

export interface PulumiResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Pulumi's own command, run in the program's folder for one stack. */
export class Pulumi {
  constructor(readonly stack: string | undefined) {}

  /** @throws Error when there is no `pulumi` to run */
  async run(args: readonly string[], { input = "", ofStack = true }: RunOptions = {}): Promise<PulumiResult> {
    const stack = this.stack === undefined || !ofStack ? [] : ["--stack", this.stack];
    const child = spawn("pulumi", [...args, ...stack, "--non-interactive", "--color=never"], {
      env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    });
    const exited = new Promise<number>((resolve, reject) => {
      child.once("error", (cause) =>
        reject(
          new CliError(
            "PULUMI_MISSING",
            "the command pulumi cannot be run: install Pulumi's CLI and put it on PATH",
            { cause },
          ),
        ),
      );
      child.once("close", (code) => resolve(code ?? 1));
    });
    // One that ends without reading its input closes it early: its exit status says what there is to say.
    child.stdin.on("error", () => {}).end(input);
    const [exitCode, stdout, stderr] = await Promise.all([exited, text(child.stdout), text(child.stderr)]);
    return { exitCode, stdout, stderr };
  }

  /** What a command prints. @throws Error with what it said, when it fails */
  async output(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const result = await this.run(args, options);
    if (result.exitCode === 0) return result.stdout;
    throw pulumiFailed(args, result);
  }
}

/** What a command of this package could not do, with a stable code. */
export class CliError extends Error {
  override readonly name = "CliError";

  constructor(
    readonly code:
      | "PULUMI_MISSING"
      | "PULUMI_FAILED"
      | "STACK_LOCKED"
      | "STATE_CHANGED"
      | "SETTINGS_INVALID"
      | "STATE_UNREADABLE",
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(`${message} (${code})`, options);
  }
}

export function pulumiFailed(args: readonly string[], { stderr, stdout }: PulumiResult): CliError {
  return new CliError(
    "PULUMI_FAILED",
    `\`pulumi ${args.join(" ")}\` failed: ${(stderr.trim() || stdout.trim()).replace(/^error: /, "")}`,
  );
}
