import { Command, Option } from "commander";
import type { EndpointType } from "../client";
import { parseDuration } from "./age";
import { alsoStackOption, type InventoryFlags, jsonOption, stackOption } from "./flags";
import { Output } from "./output";
import { prune } from "./pruning/prune";
import { Pulumi } from "./pulumi";
import { EXIT, endsByItself, exitHelp } from "./run";
import { openTerminal } from "./terminal";

interface Flags extends InventoryFlags {
  readonly olderThan: number;
  readonly type: EndpointType;
  readonly yes?: boolean;
}

export function pruneCommand(): Command {
  return new Command("prune")
    .summary("delete old development endpoints that no stack manages")
    .description(
      "Deletes the development endpoints that no stack manages and that are older than a duration, after it has shown them and asked. " +
        "Without a terminal and without --yes, it only shows them. It reads the stacks of all projects in the backend, and deletes nothing if it cannot read one of them.",
    )
    .requiredOption(
      "--older-than <duration>",
      "how old an endpoint must be, such as 90m, 12h, 7d or 2w",
      parseDuration,
    )
    .addOption(
      new Option("--type <type>", "the type of the endpoints")
        .choices(["development", "production"])
        .default("development"),
    )
    .option("-y, --yes", "delete without asking")
    .addOption(stackOption())
    .addOption(alsoStackOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `${exitHelp({
        [EXIT.yes]: "the endpoints were deleted or only shown, or there were none",
        [EXIT.no]: "the command failed; the endpoints that it names as deleted are deleted",
        [EXIT.interrupted]: "Ctrl-C ended it; the endpoints that it names as deleted are deleted",
      })}
Examples:
  $ npx webhook-endpoints prune --older-than 7d
  $ npx webhook-endpoints prune --older-than 12h --also-stack acme/billing/dev --yes --json`,
    )
    .action(
      endsByItself(async ({ stack, alsoStack, json, olderThan, type, yes = false }: Flags) => {
        const terminal = yes ? undefined : openTerminal();
        try {
          await prune({
            pulumi: new Pulumi(stack),
            alsoStacks: alsoStack,
            output: new Output({ json }),
            olderThanMs: olderThan,
            type,
            yes,
            ...(terminal === undefined ? {} : { ask: (question: string) => terminal.question(question) }),
          });
        } finally {
          terminal?.close();
        }
        return EXIT.yes;
      }),
    );
}
