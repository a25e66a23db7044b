import { Command } from "commander";
import { CliError } from "./errors";
import { type InventoryFlags, inventoryCommand, inventoryOptions, projectOnlyOption } from "./flags";
import {
  assertOwnershipKnown,
  dataOfEntry,
  type InventoryOptions,
  type Listed,
  takeInventory,
  warnOfGaps,
} from "./inventory/inventory";
import { describeOwner } from "./inventory/ownership";
import { EXIT, endsByItself } from "./oldRun";
import { withService } from "./service";
import { describeAge } from "./text";

const HEADINGS = ["ID", "TYPE", "AGE", "URL", "MANAGED BY"];

export function listCommand(): Command {
  const command = new Command("list")
    .summary("show every endpoint at the service, and the resource that manages it")
    .description(
      "Shows every endpoint that the service lists, with its age and the resource that manages it. It looks in the states of all " +
        "stacks of all projects in the backend.",
    )
    .addOption(projectOnlyOption())
    .option(
      "--orphans",
      "show only the endpoints that no stack has, and that no interrupted run may have registered",
    );
  return inventoryCommand(command, {
    exit: {
      [EXIT.yes]: "the endpoints were shown",
      [EXIT.no]: "the command failed; --orphans fails if a stack cannot be read",
    },
    examples: ["list", "list --stack prod --project-only", "list --orphans --json | jq -r '.[].id'"],
  }).action(
    endsByItself(async ({ orphans = false, ...flags }: InventoryFlags & { orphans?: boolean }) => {
      await list({ ...inventoryOptions(flags), orphans });
      return EXIT.yes;
    }),
  );
}

/** @throws CliError or WebhookError */
export async function list(options: InventoryOptions & { readonly orphans: boolean }): Promise<void> {
  const { output, orphans, projectOnly } = options;
  if (orphans && projectOnly)
    throw new CliError(
      "WRONG_USE",
      "--orphans shows what no stack of the backend has, so it cannot be used with --project-only",
    );
  await withService(options, async (account) => {
    const inventory = await takeInventory(account, options);
    warnOfGaps(inventory, output);
    if (orphans) assertOwnershipKnown(inventory);
    const entries = inventory.entries.filter(({ owner }) => !orphans || owner.kind === "nobody");
    output.data(entries.map(dataOfEntry), () => {
      if (entries.length === 0) output.note(orphans ? "There are no orphans." : "There are no endpoints.");
      else output.table(HEADINGS, entries.map(rowOf));
    });
  });
}

function rowOf({ endpoint: { id, type }, ageMs, shownUrl, owner }: Listed): string[] {
  return [id, type, describeAge(ageMs), shownUrl, describeOwner(owner)];
}
