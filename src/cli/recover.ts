import { createInterface } from "node:readline/promises";
import { Command } from "commander";
import { Pulumi } from "./pulumi";
import { type Dialogue, recover } from "./recovery";

/** Exit status of a recovery that needs a person: nothing was changed. */
const needsAnswer = 2;

export function recoverCommand(): Command {
  return new Command("recover")
    .summary("put into the state what a killed run registered")
    .description(
      "Finds the registrations that a killed `pulumi up` left unrecorded, looks for their endpoints at the service by url, " +
        "type and time, and puts them into the stack's state. Run it in the program's folder. It changes nothing at the " +
        "service, and keeps the state as it was in a file.",
    )
    .option("-s, --stack <name>", "the stack (default: the selected one)")
    .option("-y, --yes", "do not ask; leave everything as it is where there is a doubt")
    .addHelpText(
      "after",
      `
Exit status:
  0  the state is mended, or there was nothing to do
  1  it could not be done
  2  somebody has to decide something; nothing was changed

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
        if (outcome === "undecided") process.exitCode = needsAnswer;
      } finally {
        lines?.close();
      }
    });
}
