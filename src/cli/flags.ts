import { type Command, InvalidArgumentError, Option } from "commander";
import type { InventoryOptions } from "./inventory/inventory";
import { Output } from "./oldOutput";
import { Pulumi } from "./oldPulumi";
import { EXIT, type Usage, withUsage } from "./oldRun";

/** The options of the commands that need to know who has an endpoint. */
export interface InventoryFlags {
  readonly stack?: string;
  readonly alsoStack: readonly string[];
  readonly projectOnly?: boolean;
  readonly json?: boolean;
}

/** Adds the options that say where the service is, and which stacks may have its endpoints. */
export function addStackOptions(command: Command): Command {
  const collect = (name: string, names: readonly string[]) => {
    if (name === "") throw new InvalidArgumentError("The name of a stack must not be empty.");
    return [...names, name];
  };
  return command
    .addOption(stackOption())
    .addOption(
      new Option(
        "--also-stack <name>",
        "also look in this stack, which the backend does not list, such as acme/shop/prod; repeatable",
      )
        .argParser(collect)
        .default([], "none"),
    );
}

/** Completes a command that says who has endpoints: with its options, `--json`, and the end of its help. */
export function inventoryCommand(command: Command, help: Usage): Command {
  return withUsage(addStackOptions(command).addOption(jsonOption()), help);
}

/** The same for a command that deletes endpoints. */
export function deletionCommand(command: Command, { exit, examples }: Usage): Command {
  return inventoryCommand(command.option("-y, --yes", "delete without asking"), {
    exit: {
      ...exit,
      [EXIT.interrupted]: "Ctrl-C ended it; it names the endpoints that it deleted, or may have deleted",
    },
    examples,
  });
}

export function stackOption(): Option {
  return new Option("-s, --stack <name>", "the stack whose settings are used (default: the selected one)");
}

export function inventoryOptions({ stack, alsoStack, projectOnly, json }: InventoryFlags): InventoryOptions {
  return {
    pulumi: Pulumi.withSettings(stack),
    alsoStacks: alsoStack,
    projectOnly,
    output: new Output({ json }),
  };
}

export function projectOnlyOption(): Option {
  return new Option("--project-only", "look only in the stacks of this folder's project, which is faster");
}

export function jsonOption(): Option {
  return new Option("--json", "print JSON on standard output, and nothing else");
}
