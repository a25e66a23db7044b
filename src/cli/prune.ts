import { Command, Option } from "commander";
import type { EndpointType } from "../client";
import { countOf } from "../shared/words";
import { parseDuration } from "./arguments";
import { carryOut, type DeletionOptions, type Plan, reasonOfOwner } from "./deletion/plan";
import { CliError } from "./errors";
import { deletionCommand, type InventoryFlags, inventoryOptions } from "./flags";
import { assertOwnershipKnown, type Inventory, type Listed } from "./inventory/inventory";
import { explainOwner } from "./inventory/ownership";
import { EXIT, endsByItself } from "./run";
import { withService } from "./service";
import { withTerminal } from "./terminal";

interface Flags extends InventoryFlags {
  readonly olderThan: number;
  readonly type: EndpointType;
  readonly yes?: boolean;
}

export function pruneCommand(): Command {
  const command = new Command("prune")
    .summary("delete old development endpoints that no stack has")
    .description(
      "Deletes the development endpoints that no stack has and that are older than a duration, after it has shown them and asked. " +
        "Without a terminal and without --yes, it only shows them. It reads the stacks of all projects in the backend, and deletes nothing if it cannot read one of them.",
    )
    .usage("--older-than <duration> [options]")
    .requiredOption(
      "--older-than <duration>",
      "how old an endpoint must be, such as 90m, 12h, 7d or 2w",
      parseDuration,
    )
    .addOption(
      new Option("--type <type>", "the type of the endpoints")
        .choices(["development", "production"])
        .default("development"),
    );
  return deletionCommand(command, {
    exit: {
      [EXIT.yes]: "the endpoints were deleted or only shown, or there were none",
      [EXIT.no]: "the command failed; the endpoints that it names as deleted are deleted",
    },
    examples: ["prune --older-than 7d", "prune --older-than 12h --also-stack acme/billing/dev --yes --json"],
  }).action(
    endsByItself(async ({ olderThan: olderThanMs, type, yes = false, ...flags }: Flags) => {
      await withTerminal({ yes }, (asking) =>
        prune({ ...inventoryOptions(flags), ...asking, yes, olderThanMs, type }),
      );
      return EXIT.yes;
    }),
  );
}

interface PruneOptions extends DeletionOptions {
  readonly olderThanMs: number;
  readonly type: EndpointType;
}

/**
 * Shows the orphans that are old enough, and deletes them if somebody agrees.
 *
 * @throws CliError or WebhookError; the output names what was deleted before
 */
export async function prune(options: PruneOptions): Promise<void> {
  await withService(options, (account) =>
    carryOut(account, options, {
      plan: (inventory) => planOf(inventory, options),
      check: (inventory) => {
        assertOwnershipKnown(inventory);
        assertWhole(inventory);
      },
    }),
  );
}

function planOf({ entries }: Inventory, options: PruneOptions): Plan {
  const { output, type } = options;
  const reasonToKeep = (entry: Listed) => reasonToKeepOf(entry, options);
  let unknown = 0;
  for (const entry of entries) {
    const { endpoint, owner } = entry;
    const reason = reasonToKeep(entry);
    if (reason === "pending-registration" || reason === "may-be-held")
      output.warn(`${endpoint.id} is kept: ${explainOwner(owner)}`);
    if (reason === "unknown-age" && owner.kind !== "manages") unknown += 1;
  }
  if (unknown > 0)
    output.warn(`${countOf(unknown, "endpoint")} of unknown age ${unknown === 1 ? "is" : "are"} kept`);
  if (entries.every((entry) => reasonToKeep(entry) !== undefined))
    output.note(`There are no ${type} endpoints that no stack has and that are old enough.`);
  return {
    considered: entries.filter(({ owner }) => owner.kind !== "manages"),
    reasonToKeep,
    noun: `${type} endpoint`,
  };
}

function reasonToKeepOf({ endpoint, ageMs, owner }: Listed, { type, olderThanMs }: PruneOptions) {
  if (endpoint.type !== type) return "other-type";
  if (ageMs === undefined) return "unknown-age";
  return ageMs <= olderThanMs ? "younger" : reasonOfOwner(owner);
}

/** @throws CliError `LIST_PARTIAL` */
function assertWhole({ list }: Inventory): void {
  if (!list.complete)
    throw new CliError(
      "LIST_PARTIAL",
      "nothing was deleted, because the service listed only a part of its endpoints. An endpoint that it left out may be managed",
    );
}
