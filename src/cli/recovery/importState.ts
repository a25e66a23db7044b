import { CliError } from "../errors";
import { type Pulumi, pulumiFailed } from "../pulumi";

const LOCKED = /\block(ed|\(s\))|another update is currently in progress/i;

/**
 * Replaces the stack's state.
 *
 * @throws CliError `STACK_LOCKED` when the interrupted run left its lock behind, otherwise `PULUMI_FAILED`
 */
export async function importState(pulumi: Pulumi, state: string): Promise<void> {
  const command = ["stack", "import"];
  const result = await pulumi.run(command, { input: state });
  if (result.exitCode === 0) return;
  if (!LOCKED.test(result.stderr)) throw pulumiFailed(command, result);
  throw new CliError(
    "STACK_LOCKED",
    "the stack is locked by the killed run, or by another run. Make sure that no run is under way, run `pulumi cancel`, and " +
      "run this command again. The state was not changed",
  );
}
