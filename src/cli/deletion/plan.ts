import { countOf } from "../../shared/words";
import {
  dataOfEntry,
  type Inventory,
  type InventoryOptions,
  type Listed,
  takeInventory,
  warnOfGaps,
} from "../inventory/inventory";
import type { Owner } from "../inventory/ownership";
import { readBackend } from "../inventory/stacks";
import { dataOfFailure, endingOnInterrupt } from "../oldRun";
import type { Account } from "../service";
import { type Asking, agrees } from "../terminal";
import { describeAge } from "../text";
import { Deletion, type DeletionRule } from "./deletion";

export interface DeletionOptions extends InventoryOptions, Asking {
  /** Deletes without asking. */
  readonly yes: boolean;
}

/** What to delete, and what to report. */
export interface Plan {
  readonly considered: readonly Listed[];
  /** Returns why an endpoint stays, as `--json` prints it; undefined if it may be deleted. */
  readonly reasonToKeep: (entry: Listed) => string | undefined;
  /** What the question calls one of them. */
  readonly noun: string;
  /** Thrown in the end, once the others are deleted. */
  readonly refusal?: Error | undefined;
}

/**
 * Makes a plan from an inventory, shows it, and deletes what it allows if somebody agrees. The output names what was deleted and kept,
 * also after a failure. Returns whether nothing was kept.
 *
 * @param check throws if an inventory does not show enough to delete anything
 * @throws CliError or WebhookError
 */
export async function carryOut(
  account: Account,
  options: DeletionOptions,
  { plan, check }: { readonly plan: (inventory: Inventory) => Plan; readonly check: DeletionRule["check"] },
): Promise<boolean> {
  const { output, pulumi } = options;
  const [inventory, backend] = await Promise.all([takeInventory(account, options), readBackend(pulumi)]);
  warnOfGaps(inventory, output);
  check(inventory);
  const stacks = inventory.stacks.known.length;
  output.note(`Read ${countOf(stacks, "stack")} in ${backend ?? "the backend"}.`);
  const { considered, reasonToKeep, noun, refusal } = plan(inventory);
  const mayDelete = (entry: Listed) => reasonToKeep(entry) === undefined;
  const candidates = considered.filter(mayDelete);
  const isConfirmed = await confirm(candidates, noun, options);
  const deletion = new Deletion(account, options, { mayDelete, check });
  const outcomeOf = (entry: Listed) => {
    if (!isConfirmed) return "not-confirmed";
    return deletion.isUnknown(entry) ? "unknown" : "not-deleted";
  };
  const deleteAndReport = async () => {
    const failed: unknown = await (isConfirmed ? deletion.run(candidates) : undefined)?.catch(
      (error: unknown) => error,
    );
    const error = failed ?? refusal;
    const kept = considered
      .filter((entry) => !deletion.deleted.has(entry))
      .map((entry) => ({ ...dataOfEntry(entry), reason: reasonToKeep(entry) ?? outcomeOf(entry) }));
    const deleted = [...deletion.deleted].map(dataOfEntry);
    const failure = error === undefined ? {} : { error: dataOfFailure(error) };
    output.data({ backend, stacks, deleted, kept, ...failure }, () => {
      if (isConfirmed) output.line(`Deleted ${countOf(deleted.length, "endpoint")}.`);
    });
    if (error !== undefined) throw error;
    return kept.length === 0;
  };
  return endingOnInterrupt(deleteAndReport(), () => deletion.interrupt());
}

/** Returns why an endpoint that somebody has is kept; undefined for an orphan. */
export function reasonOfOwner({ kind }: Owner): string | undefined {
  return {
    manages: "managed",
    reads: "read-by-stack",
    "may-hold": "may-be-held",
    interrupted: "pending-registration",
    unknown: "unknown-owner",
    nobody: undefined,
  }[kind];
}

async function confirm(
  candidates: readonly Listed[],
  noun: string,
  { yes, ask, output }: DeletionOptions,
): Promise<boolean> {
  if (candidates.length === 0) return false;
  const rows = candidates.map(({ endpoint, ageMs, shownUrl }) => [endpoint.id, describeAge(ageMs), shownUrl]);
  if (!output.json) output.table(["ID", "AGE", "URL"], rows);
  if (yes) return true;
  if (ask === undefined) {
    output.note(
      "Nothing was deleted, because the command has no terminal to ask in. To delete them, add --yes.",
    );
    return false;
  }
  // With --json the table is not shown, and nobody should agree to what they have not seen.
  if (output.json) for (const row of rows) output.note(row.join("  "));
  const answer = await ask(
    `Delete ${rows.length === 1 ? "this" : "these"} ${countOf(rows.length, noun)}? [y/N] `,
  );
  if (agrees(answer)) return true;
  output.note("Nothing was deleted.");
  return false;
}
