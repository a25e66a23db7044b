import { Command } from "commander";
import { asTyped } from "../commandName";
import { Output } from "../output";
import { Pulumi } from "../pulumi";
import { EXIT, endsByItself, withUsage } from "../run";
import { withTerminal } from "../terminal";
import type { Dialogue } from "./dialogue";
import { recover } from "./recover";

export function recoverCommand(): Command {
  const command = new Command("recover")
    .summary("show what interrupted runs registered, and decide what `pulumi up` cannot")
    .description(
      "Shows which endpoints interrupted runs of `pulumi up` registered. The next `pulumi up` takes over those that the program " +
        "declares. The command asks about the others: whether to delete what no resource will take, and which endpoint is yours where " +
        "that is in doubt. Run it in the program's folder. It leaves the state alone, except that it removes the empty .attrs files " +
        "of a killed run, which make the state unreadable.",
    )
    .option("-s, --stack <name>", "the stack (default: the selected one)")
    .option("-y, --yes", "do not ask; delete no endpoint, and leave what needs a decision as it is");
  return withUsage(command, {
    exit: {
      [EXIT.yes]: "`pulumi up` settles what is left, or there was nothing to recover",
      [EXIT.no]: "the command failed",
      [EXIT.undecided]: "something needs your decision",
    },
    examples: ["recover", "recover --stack prod --yes && pulumi up --stack prod --yes"],
  }).action(
    endsByItself(async ({ stack, yes = false }: { stack?: string; yes?: boolean }) => {
      const output = new Output();
      const dialogue: Dialogue = {
        say: (line) => output.line(asTyped(line)),
        during: (describe, work) => output.during(describe, work),
      };
      const outcome = await withTerminal({ yes }, (asking) =>
        recover({ pulumi: Pulumi.withSettings(stack), dialogue: { ...dialogue, ...asking }, yes }),
      );
      return outcome === "undecided" ? EXIT.undecided : EXIT.yes;
    }),
  );
}
