import type { Command } from "commander";
import { adoptCommand } from "./adopt/command";
import { deleteCommand } from "./delete";
import { doctorCommand } from "./doctor/command";
import { getCommand } from "./get";
import { listCommand } from "./list";
import { EXIT, exitHelp, program } from "./oldRun";

const { version }: { version: string } = require("../../package.json");

/** Returns the command `pulumi-webhook-endpoints` with its subcommands. */
export function webhookEndpoints(): Command {
  return program("pulumi-webhook-endpoints", [
    listCommand(),
    getCommand(),
    adoptCommand(),
    doctorCommand(),
    deleteCommand(),
  ])
    .description("Shows, adopts and cleans up webhook endpoints, tries receivers, and emulates the service.")
    .version(version)
    .addHelpText(
      "after",
      exitHelp({
        [EXIT.yes]: "it is done, or the answer is yes",
        [EXIT.no]: "the answer is no, or the command failed",
        [EXIT.interrupted]: "Ctrl-C ended the command",
      }).trimEnd(),
    );
}
