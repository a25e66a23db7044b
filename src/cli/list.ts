import { Command } from "commander";
import { describeAge } from "./age";
import { alsoStackOption, type InventoryFlags, jsonOption, stackOption } from "./flags";
import {
  assertOwnershipKnown,
  describeOwner,
  type InventoryOptions,
  takeInventory,
  warnOfGaps,
} from "./inventory";
import { Output } from "./output";
import { Pulumi } from "./pulumi";
import { EXIT, endsByItself, exitHelp } from "./run";
import { openService } from "./service";

const HEADINGS = ["ID", "TYPE", "AGE", "URL", "MANAGED BY"];

export function listCommand(): Command {
  return new Command("list")
    .summary("show every endpoint at the service, and the resource that manages it")
    .description(
      "Shows every endpoint that the service lists, with its age and the resource that manages it. It looks in the states of all " +
        "stacks of this folder's project.",
    )
    .addOption(stackOption())
    .addOption(alsoStackOption())
    .option("--orphans", "show only the endpoints that none of the stacks manages")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `${exitHelp({
        [EXIT.yes]: "the endpoints were shown",
        [EXIT.no]: "the command failed; --orphans fails if a stack cannot be read",
        [EXIT.interrupted]: "Ctrl-C ended it",
      })}
Examples:
  $ npx webhook-endpoints list
  $ npx webhook-endpoints list --stack prod --also-stack acme/billing/prod --orphans
  $ npx webhook-endpoints list --json | jq -r '.[] | select(.managedBy == null) | .id'`,
    )
    .action(
      endsByItself(
        async ({ stack, alsoStack, orphans = false, json }: InventoryFlags & { orphans?: boolean }) => {
          const output = new Output({ json });
          await list({ pulumi: new Pulumi(stack), alsoStacks: alsoStack, output, orphans });
          return EXIT.yes;
        },
      ),
    );
}

export interface ListOptions extends InventoryOptions {
  readonly orphans: boolean;
}

/** @throws CliError or WebhookError */
export async function list(options: ListOptions): Promise<void> {
  const { output, orphans } = options;
  const account = await openService(options);
  try {
    const inventory = await takeInventory(account, options);
    warnOfGaps(inventory, output);
    if (orphans) assertOwnershipKnown(inventory.stacks);
    const entries = inventory.entries.filter(({ manager }) => !orphans || manager === undefined);
    const shown = entries.map(({ endpoint, shownUrl, manager }) => ({
      id: endpoint.id,
      url: shownUrl,
      type: endpoint.type,
      createdAt: endpoint.createdAt,
      updatedAt: endpoint.updatedAt,
      managedBy: manager?.urn ?? null,
    }));
    output.data(shown, () => {
      if (entries.length === 0)
        output.note(orphans ? "There are no unmanaged endpoints." : "There are no endpoints.");
      else
        output.table(
          HEADINGS,
          entries.map(({ endpoint, manager, ageMs, shownUrl }) => [
            endpoint.id,
            endpoint.type,
            describeAge(ageMs),
            shownUrl,
            manager === undefined ? "-" : describeOwner(manager),
          ]),
        );
    });
  } finally {
    await account.client.close();
  }
}
