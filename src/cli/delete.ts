import { text } from "node:stream/consumers";
import { Command } from "commander";
import type { Endpoint } from "../client";
import { describeUrl } from "../shared/url";
import { countOf } from "../shared/words";
import { checkIds, takingIds } from "./arguments";
import { carryOut, type DeletionOptions, type Plan, reasonOfOwner } from "./deletion/plan";
import { CliError } from "./errors";
import { deletionCommand, type InventoryFlags, inventoryOptions } from "./flags";
import { assertOwnershipKnown, type Inventory, type Listed, reasonOfMissing } from "./inventory/inventory";
import { explainOwner } from "./inventory/ownership";
import { withoutSecrets } from "./knownSecrets";
import { EXIT, type ExitStatus, endsByItself } from "./oldRun";
import { withService } from "./service";
import { withTerminal } from "./terminal";

export function deleteCommand(): Command {
  const command = takingIds(new Command("delete"))
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
    examples: ["delete wh_5f0c2d", "list --orphans --json | npx pulumi-webhook-endpoints delete --yes -"],
  }).action(
    endsByItself(async (given: readonly string[], flags: InventoryFlags & { readonly yes?: boolean }) => {
      const named: readonly Named[] = given.filter((id) => id !== "-").map((id) => ({ id }));
      const piped = named.length === given.length ? [] : namedIn(await text(process.stdin));
      const yes = flags.yes === true;
      return withTerminal({ yes }, (asking) =>
        deleteEndpoints({ ...inventoryOptions(flags), ...asking, yes, named: [...named, ...piped] }),
      );
    }),
  );
}

/** An endpoint to delete. The facts that a list printed must still be true: another account may have the same id, or the id a new owner. */
interface Named extends Pick<Endpoint, "id"> {
  readonly url?: unknown;
  readonly type?: unknown;
  readonly createdAt?: unknown;
}

interface DeleteOptions extends DeletionOptions {
  readonly named: readonly Named[];
}

/**
 * Deletes endpoints that nobody has, if somebody agrees.
 *
 * @throws CliError or WebhookError; the output names what was deleted before
 */
export async function deleteEndpoints(options: DeleteOptions): Promise<ExitStatus> {
  const named = new Map(options.named.map((each) => [each.id, each]));
  const ids = [...named.keys()];
  checkIds(ids);
  const plan = (inventory: Inventory) => planOf(named, inventory, options);
  const isDone = await withService(options, (account) =>
    carryOut(account, { ...options, ids }, { plan, check: assertOwnershipKnown }),
  );
  return isDone ? EXIT.yes : EXIT.no;
}

function planOf(
  named: ReadonlyMap<string, Named>,
  { entries, list }: Inventory,
  { output, pulumi }: DeleteOptions,
): Plan {
  const found = new Map(entries.map((entry) => [entry.endpoint.id, entry]));
  const refused: string[] = [];
  for (const [id, as] of named) {
    const entry = found.get(id);
    const why = entry
      ? (explainOwner(entry.owner) ?? whyAnother(entry, as))
      : reasonOfMissing(id, list, pulumi);
    if (why === undefined) continue;
    refused.push(entry === undefined ? why : `${id} was not deleted: ${why}`);
  }
  if (named.size === 0) output.note("No endpoint was named.");
  // The error names the first one.
  for (const why of refused.slice(1)) output.warn(why);
  return {
    considered: [...named.keys()].flatMap((id) => found.get(id) ?? []),
    reasonToKeep: (entry) => reasonOfOwner(entry.owner) ?? (isAsNamed(entry, named) ? undefined : "changed"),
    noun: "endpoint",
    refusal: refusalOf(refused, named.size),
  };
}

function isAsNamed(entry: Listed, named: ReadonlyMap<string, Named>): boolean {
  const as = named.get(entry.endpoint.id);
  return as !== undefined && whyAnother(entry, as) === undefined;
}

/** Returns why an endpoint is not the one that a list showed, as a sentence; undefined if nothing tells. */
function whyAnother({ endpoint }: Listed, as: Named): string | undefined {
  const { url, type, createdAt } = endpoint;
  // A list may have shown only the host, and it masks what is secret.
  const urls: readonly unknown[] = [url, describeUrl(url)].flatMap((each) => [each, withoutSecrets(each)]);
  const isSame =
    [undefined, ...urls].includes(as.url) &&
    [undefined, type].includes(as.type as typeof type) &&
    [undefined, createdAt].includes(as.createdAt as typeof createdAt);
  return isSame
    ? undefined
    : "it is not what the list on standard input says: its url, type or createdAt differs. The list is of another account, or old";
}

function refusalOf([first, ...others]: readonly string[], all: number): CliError | undefined {
  if (first === undefined) return undefined;
  const reason =
    all === 1 ? first : `${others.length + 1} of ${countOf(all, "endpoint")} were not deleted: ${first}`;
  return new CliError("NOT_DELETABLE", reason);
}

/** Returns the endpoints in what `list --json` prints, or on lines of ids. @throws CliError `WRONG_USE` */
export function namedIn(input: string): Named[] {
  const content = input.trim();
  if (!/^[[{]/.test(content)) {
    // The rest of a cut id may be the id of another endpoint.
    if (content !== "" && !/\n\s*$/.test(input))
      throw new CliError(
        "WRONG_USE",
        "the last line of standard input has no newline at its end, so it may be cut off. Nothing was deleted",
      );
    const lines = content.split(/\s*\n\s*/).filter((line) => line !== "");
    return lines.map((id) => ({ id }));
  }
  try {
    const rows: Named[] = [JSON.parse(content)].flat();
    if (rows.every(({ id }) => typeof id === "string")) return rows;
  } catch {
    // The parser's own message would quote the input.
  }
  throw new CliError(
    "WRONG_USE",
    "standard input holds neither an id on each line nor what `npx pulumi-webhook-endpoints list --json` prints. Nothing was deleted",
  );
}
