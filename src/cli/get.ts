import { Command } from "commander";
import { sameId } from "../settlement/identity";
import { checkIds, takingIds } from "./arguments";
import { CliError } from "./errors";
import { type InventoryFlags, inventoryCommand, inventoryOptions } from "./flags";
import {
  dataOfEntry,
  type InventoryOptions,
  type Listed,
  reasonOfMissing,
  takeInventory,
  warnOfGaps,
} from "./inventory/inventory";
import { describeOwner } from "./inventory/ownership";
import { EXIT, endsByItself } from "./oldRun";
import { withService } from "./service";
import { describeAge } from "./text";

export function getCommand(): Command {
  const command = takingIds(new Command("get"))
    .summary("show one endpoint, and the resource that manages it")
    .description(
      "Shows one endpoint, its age and the resource that manages it. It looks in the states of all stacks of all projects in the backend.",
    )
    .argument("<id>", "the endpoint");
  return inventoryCommand(command, {
    exit: {
      [EXIT.yes]: "the endpoint was shown",
      [EXIT.no]: "there is none with this id, or the command failed",
    },
    examples: ["get wh_5f0c2d", "get wh_5f0c2d --stack prod --json"],
  }).action(
    endsByItself(async (id: string, flags: InventoryFlags) => {
      await get({ ...inventoryOptions(flags), id });
      return EXIT.yes;
    }),
  );
}

/** @throws CliError or WebhookError */
export async function get({ id, ...options }: InventoryOptions & { readonly id: string }): Promise<void> {
  const { output } = options;
  checkIds([id]);
  await withService(options, async (account) => {
    const inventory = await takeInventory(account, { ...options, ids: [id] });
    const { entries, list } = inventory;
    // A state may spell the id otherwise than the list does.
    const entry =
      entries.find(({ endpoint }) => endpoint.id === id) ??
      entries.find(({ endpoint }) => sameId(endpoint.id, id));
    if (entry === undefined) throw new CliError("ENDPOINT_MISSING", reasonOfMissing(id, list, account));
    warnOfGaps({ ...inventory, entries: [entry] }, output);
    output.data(dataOfEntry(entry), () => {
      for (const [name, value] of linesOf(entry)) output.line(`${`${name}:`.padEnd(12)}${value}`);
    });
  });
}

function linesOf({
  endpoint: { id, type, createdAt, updatedAt },
  ageMs,
  shownUrl,
  owner,
}: Listed): string[][] {
  return [
    ["id", id],
    ["url", shownUrl],
    ["type", type],
    ["created", `${createdAt ?? "unknown"}${ageMs === undefined ? "" : ` (${describeAge(ageMs)} ago)`}`],
    ["updated", updatedAt ?? "unknown"],
    ["managed by", describeOwner(owner)],
  ];
}
