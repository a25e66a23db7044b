import { CliError } from "../../src/cli/errors";
import { Pulumi, type RunOptions } from "../../src/cli/oldPulumi";
import type { Deployment } from "../../src/settlement/deployment";
import type { PulumiCommandResult } from "../../src/shared/pulumiCommand";

/** A run as `pulumi stack history --json` prints it. */
export interface HistoryEntry {
  readonly kind: string;
  readonly result: string;
  readonly startTime: string;
  readonly endTime: string;
}

/** Answers as Pulumi's command does, from a state in memory. Any command that is not to read something fails. */
export class FakePulumi extends Pulumi {
  /** Called after the state was printed. */
  meanwhile: () => void = () => {};
  /** What a command prints when it fails, by its first two words. "ENOENT" means that the command pulumi is missing. */
  readonly failures = new Map<string, string>();
  /** The states of the other stacks, by their names. */
  others: Readonly<Record<string, Deployment>> = {};
  /** The runs that ended, the last one first. */
  history: readonly HistoryEntry[] = [];

  constructor(
    public deployment: Deployment,
    readonly config: Record<string, { value: string }>,
    stack?: string,
  ) {
    super(stack);
  }

  override of(stack: string): FakePulumi {
    const other = this.others[stack];
    return other === undefined ? this : new FakePulumi(other, this.config);
  }

  override async run(args: readonly string[], _options: RunOptions = {}): Promise<PulumiCommandResult> {
    const answer = (value: unknown) => ({ exitCode: 0, stdout: JSON.stringify(value), stderr: "" });
    const command = args.slice(0, 2).join(" ");
    const failure = this.failures.get(command);
    if (failure === "ENOENT") throw new CliError("PULUMI_MISSING", "cannot run the command pulumi");
    if (failure !== undefined) return { exitCode: 1, stdout: "", stderr: failure };
    switch (command) {
      case "stack export": {
        const exported = answer({ version: 3, deployment: this.deployment });
        this.meanwhile();
        return exported;
      }
      case "stack ls":
        return answer([
          { name: this.stack ?? "dev", current: true },
          ...Object.keys(this.others).map((name) => ({ name })),
        ]);
      case "stack history":
        return answer(this.history);
      case "config --json":
        return answer(this.config);
      default:
        throw new Error(`an unexpected command: pulumi ${args.join(" ")}`);
    }
  }
}
