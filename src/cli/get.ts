import { Command } from "commander";
import type { EndpointList } from "../client";
import { CliError } from "./errors";
import { type InventoryFlags, inventoryCommand, inventoryOptions } from "./flags";
import { type InventoryOptions, type Listed, takeInventory, warnOfGaps } from "./inventory/inventory";
import { describeOwner } from "./inventory/ownership";
import { dataOfEntry } from "./list";
import { mayBeKey } from "./mayBeKey";
import { EXIT, endsByItself } from "./run";
import { withService } from "./service";
import { describeAge } from "./text";

export function getCommand(): Command {
  const command = new Command("get")
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

export interface GetOptions extends InventoryOptions {
  readonly id: string;
}

/** @throws CliError or WebhookError */
export async function get({ id, ...options }: GetOptions): Promise<void> {
  const { output } = options;
  checkIds([id]);
  await withService(options, async (account) => {
    const inventory = await takeInventory(account, { ...options, ids: [id] });
    const entry = inventory.entries.find(({ endpoint }) => endpoint.id === id);
    if (entry === undefined) throw new CliError("ENDPOINT_MISSING", reasonOfMissing(id, inventory.list));
    warnOfGaps({ ...inventory, entries: [entry] }, output);
    output.data(dataOfEntry(entry), () => {
      for (const [name, value] of linesOf(entry)) output.line(`${`${name}:`.padEnd(12)}${value}`);
    });
  });
}

/** @throws CliError `WRONG_USE` */
export function checkIds(ids: readonly string[]): void {
  if (ids.some((id) => id.trim() === "" || /whsec_/i.test(id)))
    throw new CliError(
      "WRONG_USE",
      "the argument must be the id of an endpoint, as `npx webhook-endpoints list` shows it",
    );
}

/** Says why an inventory has no endpoint with an id. It does not repeat what may be a key. */
export function reasonOfMissing(id: string, { unrecognized }: EndpointList): string {
  if (unrecognized.some((each) => each.id === id))
    return `the service has ${id}, but it cannot be read: its type is neither production nor development, its url or one of its times is invalid, or the list shows it twice`;
  const named = mayBeKey(id) ? "with the given id" : id;
  return `the service has no endpoint ${named} in the account of this key. \`npx webhook-endpoints list\` shows those that it has`;
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
