import type { Command } from "commander";
import { adoptCommand } from "./adopt/command";
import { checkServiceCommand } from "./checkService/command";
import { completionCommand } from "./completion";
import { deleteCommand } from "./delete";
import { doctorCommand } from "./doctor/command";
import { emulatorCommand } from "./emulator/command";
import { explainCommand } from "./explain/command";
import { getCommand } from "./get";
import { listCommand } from "./list";
import { listenCommand } from "./listen/command";
import { probeCommand } from "./probe";
import { pruneCommand } from "./prune";
import { recoverCommand } from "./recover/command";
import { EXIT, exitHelp, program } from "./run";
import { sendCommand } from "./send/command";
import { verifyCommand } from "./verify/command";

const { version }: { version: string } = require("../../package.json");

/** Returns the command `webhook-endpoints` with its subcommands. */
export function webhookEndpoints(): Command {
  return program("webhook-endpoints", [
    listCommand(),
    getCommand(),
    adoptCommand(),
    doctorCommand(),
    deleteCommand(),
    pruneCommand(),
    listenCommand(),
    sendCommand(),
    probeCommand(),
    verifyCommand(),
    recoverCommand(),
    checkServiceCommand(),
    explainCommand(),
    completionCommand(),
    emulatorCommand(),
  ])
    .description(
      "Shows, adopts, cleans up and recovers webhook endpoints, tries receivers, explains signatures and errors, checks and emulates the service.",
    )
    .version(version)
    .addHelpText(
      "after",
      exitHelp({
        [EXIT.yes]: "it is done, or the answer is yes",
        [EXIT.no]: "the answer is no, or the command failed",
        [EXIT.undecided]: "you have to decide; only recover has it",
        [EXIT.interrupted]: "Ctrl-C ended the command",
      }).trimEnd(),
    );
}
