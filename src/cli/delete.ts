import { text } from "node:stream/consumers";
import { Command } from "commander";
import { countOf } from "../shared/words";
import { checkIds } from "./arguments";
import { carryOut, type DeletionOptions, type Plan, reasonOfOwner } from "./deletion/plan";
import { CliError } from "./errors";
import { deletionCommand, type InventoryFlags, inventoryOptions } from "./flags";
import { assertOwnershipKnown, type Inventory, reasonOfMissing } from "./inventory/inventory";
import { explainOwner } from "./inventory/ownership";
import { EXIT, type ExitStatus, endsByItself } from "./run";
import { withService } from "./service";
import { withTerminal } from "./terminal";

export function deleteCommand(): Command {
  const command = new Command("delete")
    .summary("delete endpoints that no stack has")
    .description(
      "Deletes endpoints, after it has shown them and asked. It refuses those that a stack has, and names the resource: take that out of " +
        "the program instead. It reads the stacks of all projects in the backend, and deletes nothing if it cannot read one of them.",
    )
    .argument(
      "<id...>",
      "the endpoints; - for standard input: what `list --json` prints, or an id on each line",
    );
  return deletionCommand(command, {
    exit: {
      [EXIT.yes]: "the endpoints were deleted, or standard input named none",
      [EXIT.no]: "not all were deleted; it names those that were",
    },
    examples: ["delete wh_5f0c2d", "list --orphans --json | npx webhook-endpoints delete --yes -"],
  }).action(
    endsByItself(async (given: readonly string[], flags: InventoryFlags & { readonly yes?: boolean }) => {
      const named = given.filter((id) => id !== "-");
      const ids = named.length === given.length ? named : [...named, ...idsIn(await text(process.stdin))];
      const yes = flags.yes === true;
      return withTerminal({ yes }, (asking) =>
        deleteEndpoints({ ...inventoryOptions(flags), ...asking, yes, ids }),
      );
    }),
  );
}

interface DeleteOptions extends DeletionOptions {
  readonly ids: readonly string[];
}

/**
 * Deletes endpoints that nobody has, if somebody agrees.
 *
 * @throws CliError or WebhookError; the output names what was deleted before
 */
export async function deleteEndpoints(options: DeleteOptions): Promise<ExitStatus> {
  const ids = [...new Set(options.ids)];
  checkIds(ids);
  const plan = (inventory: Inventory) => planOf(ids, inventory, options);
  const isDone = await withService(options, (account) =>
    carryOut(account, { ...options, ids }, { plan, check: assertOwnershipKnown }),
  );
  return isDone ? EXIT.yes : EXIT.no;
}

function planOf(ids: readonly string[], { entries, list }: Inventory, { output }: DeleteOptions): Plan {
  const found = new Map(entries.map((entry) => [entry.endpoint.id, entry]));
  const refused: string[] = [];
  for (const id of ids) {
    const entry = found.get(id);
    const why = entry ? explainOwner(entry.owner) : reasonOfMissing(id, list);
    if (why === undefined) continue;
    refused.push(entry === undefined ? why : `${id} was not deleted: ${why}`);
  }
  if (ids.length === 0) output.note("No endpoint was named.");
  // The error names the first one.
  for (const why of refused.slice(1)) output.warn(why);
  return {
    considered: ids.flatMap((id) => found.get(id) ?? []),
    reasonToKeep: ({ owner }) => reasonOfOwner(owner),
    noun: "endpoint",
    refusal: refusalOf(refused, ids.length),
  };
}

function refusalOf([first, ...others]: readonly string[], all: number): CliError | undefined {
  if (first === undefined) return undefined;
  const reason =
    all === 1 ? first : `${others.length + 1} of ${countOf(all, "endpoint")} were not deleted: ${first}`;
  return new CliError("NOT_DELETABLE", reason);
}

/** Returns the ids in what `list --json` prints, or on the lines of a text. @throws CliError `WRONG_USE` */
export function idsIn(input: string): string[] {
  const content = input.trim();
  if (!/^[[{]/.test(content)) {
    // What is left of an id may be the id of another endpoint.
    if (content !== "" && !/\n\s*$/.test(input))
      throw new CliError(
        "WRONG_USE",
        "the last line of standard input has no newline at its end, so it may be cut off. Nothing was deleted",
      );
    return content.split(/\s*\n\s*/).filter((line) => line !== "");
  }
  try {
    const ids = [JSON.parse(content)].flat().map((each) => each.id);
    if (ids.every((id) => typeof id === "string")) return ids;
  } catch {
    // The parser's own message would quote the input.
  }
  throw new CliError(
    "WRONG_USE",
    "standard input holds neither an id on each line nor what `npx webhook-endpoints list --json` prints. Nothing was deleted",
  );
}
