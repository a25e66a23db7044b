import { Command } from "commander";
import { Output } from "./output";
import { Pulumi } from "./pulumi";
import type { Dialogue } from "./recovery/dialogue";
import { recover } from "./recovery/recovery";
import { EXIT, endsByItself, exitHelp } from "./run";
import { openTerminal } from "./terminal";

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
      `${exitHelp({
        [EXIT.yes]: "the state is complete, or there was nothing to recover",
        [EXIT.no]:
          "the command failed; the state was not changed, but empty .attrs files may have been removed",
        [EXIT.undecided]:
          "it needs your decision; the state was not changed, but empty .attrs files may have been removed",
        [EXIT.interrupted]: "Ctrl-C ended it",
      })}
Examples:
  $ npx webhook-endpoints recover
  $ npx webhook-endpoints recover --stack prod --yes && pulumi up --stack prod --yes`,
    )
    .action(
      endsByItself(async ({ stack, yes = false }: { stack?: string; yes?: boolean }) => {
        const output = new Output();
        const lines = yes ? undefined : openTerminal();
        const dialogue: Dialogue = {
          say: (line) => output.line(line),
          ...(lines === undefined ? {} : { ask: (question: string) => lines.question(question) }),
        };
        try {
          const outcome = await recover({ pulumi: new Pulumi(stack), dialogue, yes });
          return outcome === "undecided" ? EXIT.undecided : EXIT.yes;
        } finally {
          lines?.close();
        }
      }),
    );
}
