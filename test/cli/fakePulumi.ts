import { CliError } from "../../src/cli/errors";
import { Pulumi, type RunOptions } from "../../src/cli/pulumi";
import type { HistoryEntry } from "../../src/endpoint/witness/history";
import type { PulumiCommandResult } from "../../src/shared/pulumiCommand";

/** Answers as Pulumi's command does, from a state in memory. */
export class FakePulumi extends Pulumi {
  imported: string | undefined;
  /** Called between two commands. */
  meanwhile: () => void = () => {};
  refusal = "";
  /** What a command prints when it fails, by its first two words. "ENOENT" means that the command pulumi is missing. */
  readonly failures = new Map<string, string>();

  constructor(
    public state: { deployment: Record<string, unknown> },
    readonly config: Record<string, { value: string }>,
    /** The runs that ended, the last one first. */
    readonly history: readonly HistoryEntry[] = [],
    stack?: string,
  ) {
    super(stack);
  }

  override async run(args: readonly string[], { input }: RunOptions = {}): Promise<PulumiCommandResult> {
    const answer = (stdout: string) => ({ exitCode: 0, stdout, stderr: "" });
    const failure = this.failures.get(args.slice(0, 2).join(" "));
    if (failure === "ENOENT") throw new CliError("PULUMI_MISSING", "cannot run the command pulumi");
    if (failure !== undefined) return { exitCode: 1, stdout: "", stderr: failure };
    switch (args.slice(0, 2).join(" ")) {
      case "stack export": {
        const exported = JSON.stringify(this.state);
        if (args.includes("--show-secrets")) this.meanwhile();
        return answer(exported);
      }
      case "stack history":
        return answer(JSON.stringify(this.history));
      case "config --json":
        return answer(JSON.stringify(this.config));
      case "stack import":
        if (this.refusal !== "") return { exitCode: 1, stdout: "", stderr: this.refusal };
        this.imported = input;
        return answer("");
      default:
        throw new Error(`an unexpected command: pulumi ${args.join(" ")}`);
    }
  }
}
