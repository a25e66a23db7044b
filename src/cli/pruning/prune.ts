import { describeAge } from "../age";
import { describeClaim, type Entry, type Inventory, type InventoryOptions, warnOfGaps } from "../inventory";
import { dataOfFailure } from "../run";
import { openService } from "../service";
import { candidatesIn, type PruneRule, reasonToKeep } from "./candidates";
import { assertPrunable, deleteAll, takeWholeInventory } from "./deletion";

const HEADINGS = ["ID", "AGE", "URL"];

export interface PruneOptions extends InventoryOptions, PruneRule {
  /** Deletes without asking. */
  readonly yes: boolean;
  /** Absent without a terminal. */
  readonly ask?: (question: string) => Promise<string>;
}

/**
 * Shows the unmanaged endpoints that the rule allows to delete, and deletes them if somebody agrees.
 *
 * @throws CliError or WebhookError; the output names what was deleted before
 */
export async function prune(options: PruneOptions): Promise<void> {
  const { output } = options;
  const account = await openService(options);
  try {
    const inventory = await takeWholeInventory(account, options);
    warnOfGaps(inventory, output);
    assertPrunable(inventory);
    const candidates = candidatesIn(inventory, options);
    show(candidates, inventory, options);
    const isConfirmed = candidates.length > 0 && (await confirm(candidates, options));
    const deleted = new Set<Entry>();
    try {
      if (isConfirmed) for await (const entry of deleteAll(candidates, account, options)) deleted.add(entry);
    } catch (error) {
      report({ inventory, deleted, isConfirmed, error }, options);
      throw error;
    }
    report({ inventory, deleted, isConfirmed }, options);
  } finally {
    await account.client.close();
  }
}

function show(candidates: readonly Entry[], { entries }: Inventory, options: PruneOptions): void {
  const { output, type } = options;
  for (const entry of entries) {
    const { endpoint, manager, claimant } = entry;
    if (
      manager === undefined &&
      claimant !== undefined &&
      reasonToKeep(entry, options) === "pending-registration"
    )
      output.warn(`${endpoint.id} is kept: ${describeClaim(claimant)}`);
  }
  const unknown = entries.filter(
    (entry) => entry.manager === undefined && reasonToKeep(entry, options) === "unknown-age",
  );
  if (unknown.length > 0)
    output.warn(`${count(unknown.length)} of unknown age ${unknown.length === 1 ? "is" : "are"} kept`);
  if (candidates.length === 0) output.note(`There are no unmanaged ${type} endpoints that are old enough.`);
  else if (!output.json)
    output.table(
      HEADINGS,
      candidates.map(({ endpoint, ageMs, shownUrl }) => [endpoint.id, describeAge(ageMs), shownUrl]),
    );
}

async function confirm(
  candidates: readonly Entry[],
  { yes, ask, output, type }: PruneOptions,
): Promise<boolean> {
  if (yes) return true;
  if (ask === undefined) {
    output.note(
      "Nothing was deleted, because the command has no terminal to ask in. To delete them, add --yes.",
    );
    return false;
  }
  // With --json the table is not shown, and nobody should agree to what they have not seen.
  if (output.json)
    for (const { endpoint, ageMs, shownUrl } of candidates)
      output.note(`${endpoint.id}  ${describeAge(ageMs)}  ${shownUrl}`);
  const answer = await ask(
    `Delete ${candidates.length === 1 ? "this" : "these"} ${count(candidates.length, type)}? [y/N] `,
  );
  if (/^y(es)?$/i.test(answer.trim())) return true;
  output.note("Nothing was deleted.");
  return false;
}

interface Result {
  readonly inventory: Inventory;
  readonly deleted: ReadonlySet<Entry>;
  readonly isConfirmed: boolean;
  /** Why not everything was deleted. */
  readonly error?: unknown;
}

function report({ inventory, deleted, isConfirmed, error }: Result, options: PruneOptions): void {
  const shown = ({ endpoint: { id, type, createdAt }, shownUrl }: Entry) => ({
    id,
    url: shownUrl,
    type,
    createdAt,
  });
  const kept = inventory.entries
    .filter((entry) => entry.manager === undefined && !deleted.has(entry))
    .map((entry) => ({
      ...shown(entry),
      reason: reasonToKeep(entry, options) ?? (isConfirmed ? "not-deleted" : "not-confirmed"),
    }));
  const failure = error === undefined ? {} : { error: dataOfFailure(error) };
  options.output.data({ deleted: [...deleted].map(shown), kept, ...failure }, () => {
    if (isConfirmed) options.output.line(`Deleted ${count(deleted.size)}.`);
  });
}

function count(number: number, what = ""): string {
  return `${number} ${what === "" ? "" : `${what} `}endpoint${number === 1 ? "" : "s"}`;
}
