import { createInterface } from "node:readline/promises";
import { Command } from "commander";
import type { Dialogue } from "./recovery/dialogue";
import { Pulumi } from "./pulumi";
import { recover } from "./recovery/recovery";

/** The exit status when a person has to decide. The state was not changed then. */
const EXIT_UNDECIDED = 2;

export function recoverCommand(): Command {
  return new Command("recover")
    .summary("record the endpoints that an interrupted run registered")
    .description(
      "Finds the endpoints that an interrupted `pulumi up` registered but did not record, and adds them to the stack's state. " +
        "It matches them by url, type and time. Run it in the program's folder. It changes nothing at the service, and saves " +
        "the previous state in PULUMI_HOME (default: ~/.pulumi), under webhook-endpoints/backups. Empty .attrs files of the " +
        "killed run make the state unreadable; the command removes them first.",
    )
    .option("-s, --stack <name>", "the stack (default: the selected one)")
    .option("-y, --yes", "do not ask; leave the state unchanged if anything is unclear")
    .addHelpText(
      "after",
      `
Exit status:
  0  the state is complete, or there was nothing to recover
  1  the command failed; the state was not changed, but empty .attrs files may have been removed
  2  it needs your decision; the state was not changed, but empty .attrs files may have been removed

Examples:
  $ npx webhook-endpoints recover
  $ npx webhook-endpoints recover --stack prod --yes && pulumi up --stack prod --yes`,
    )
    .action(async ({ stack, yes = false }: { stack?: string; yes?: boolean }) => {
      const lines = !yes && process.stdin.isTTY ? createInterface(process.stdin, process.stdout) : undefined;
      const dialogue: Dialogue = {
        say: (line) => console.log(line),
        ...(lines === undefined ? {} : { ask: (question: string) => lines.question(question) }),
      };
      try {
        const outcome = await recover({ pulumi: new Pulumi(stack), dialogue, yes });
        if (outcome === "undecided") process.exitCode = EXIT_UNDECIDED;
      } finally {
        lines?.close();
      }
    });
}
