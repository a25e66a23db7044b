import type { HistoryEntry } from "../../src/cli/recovery/interruptedRun";
import { Pulumi, type RunOptions } from "../../src/cli/pulumi";
import type { PulumiCommandResult } from "../../src/pulumiCommand";

/** Answers as Pulumi's command does, from a state in memory. */
export class FakePulumi extends Pulumi {
  imported: string | undefined;
  /** Called between two commands. */
  meanwhile: () => void = () => {};
  refusal = "";

  constructor(
    public state: { deployment: Record<string, unknown> },
    readonly config: Record<string, { value: string }>,
    /** The runs that ended, the last one first. */
    readonly history: readonly HistoryEntry[] = [],
  ) {
    super(undefined);
  }

  override async run(args: readonly string[], { input }: RunOptions = {}): Promise<PulumiCommandResult> {
    const answer = (stdout: string) => ({ exitCode: 0, stdout, stderr: "" });
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
