import { Argument, Option } from "commander";
import { WebhookError, type WebhooksClient } from "../client";
import type { EndpointType } from "../client/endpoint";
import { undefinedIfGone } from "../client/errors";
import { describeResource } from "../shared/urn";
import { countOf } from "../shared/words";
import { withAccount } from "./account";
import { confirm } from "./ask";
import { CliError } from "./errors";
import { inParallel } from "./inParallel";
import {
  assertOwnersKnown,
  dataOf,
  type Entry,
  entryOf,
  type Inventory,
  takeInventory,
  warnOfGaps,
} from "./inventory/inventory";
import { toSettle, whyNotOrphan } from "./inventory/owner";
import { duration, jsonOption, stackOption, yesOption } from "./options";
import type { Context, Subcommand } from "./run";
import { describeAge } from "./text";

/** A younger orphan may be what somebody registers just now, in milliseconds. */
const LEAST_AGE_MS = 3_600_000;
/** What concerns one endpoint, and does not stop the deletion of the others. */
const OF_ONE_ENDPOINT: readonly string[] = ["INVALID_ARGUMENT", "REJECTED", "SERVER_ERROR"];

interface Flags {
  readonly yes?: boolean;
  readonly orphans?: boolean;
  /** In milliseconds. */
  readonly olderThan?: number;
  readonly type?: EndpointType;
}

/** What became of each endpoint that was chosen. */
type Results = Map<Entry, "deleted" | "not-confirmed" | "changed" | "failed" | "not-deleted">;

export const deletion: Subcommand<Flags> = {
  description:
    "Deletes endpoints that no stack of the backend has: those that you name, or with --orphans all that are old enough. It shows them and " +
    "asks first. If a stack cannot be read, it deletes nothing.",
  arguments: [new Argument("[id...]", "the endpoints")],
  options: [
    new Option("--orphans", "delete all endpoints that no stack has"),
    new Option("--older-than <duration>", "only orphans of this age, such as 7d (default: 1h)").argParser(
      duration,
    ),
    new Option("--type <type>", "only orphans of this type").choices(["production", "development"]),
    ...[yesOption(), stackOption(), jsonOption()],
  ],
  examples: [
    "delete wh_5f0c2d",
    "delete --orphans",
    "delete --orphans --older-than 7d --type development --yes",
  ],
  async run(context, flags, ids) {
    const { orphans = false, olderThan, type, yes } = flags;
    if (orphans === ids.length > 0)
      throw new CliError("WRONG_USE", "name the endpoints to delete, or add --orphans");
    if (!orphans && (olderThan ?? type) !== undefined)
      throw new CliError("WRONG_USE", "--older-than and --type choose among orphans: add --orphans");
    return withAccount(context, async (account) => {
      const look = () => takeInventory(context, account, { all: true, ids });
      const choose = (inventory: Inventory) => {
        assertOwnersKnown(inventory);
        return orphans ? oldOrphans(inventory, flags) : named(ids, inventory);
      };
      const inventory = await look();
      warnOfGaps(context, inventory);
      const chosen = choose(inventory);
      if (orphans) noteYoung(context, inventory, { chosen, type });
      const results: Results = new Map(chosen.map((entry) => [entry, "not-confirmed"]));
      let failure: WebhookError | undefined;
      if (chosen.length > 0 && (await isAgreed(context, chosen, yes))) {
        // A run may have taken one over while a person decided.
        const again = choose(await look());
        context.endItself();
        for (const entry of chosen)
          results.set(entry, again.some((each) => isSame(each, entry)) ? "not-deleted" : "changed");
        failure = await remove(context, account.client, results);
      }
      return report(context, results, failure);
    });
  },
};

/** @throws CliError `NOT_DELETABLE` if an interrupted registration may have made any of them */
function oldOrphans({ entries, owners }: Inventory, { olderThan = LEAST_AGE_MS, type }: Flags): Entry[] {
  const [hidden] = owners.hidden;
  if (hidden !== undefined)
    throw new CliError(
      "NOT_DELETABLE",
      `nothing was deleted: a run was interrupted while it registered ${describeResource(hidden.resource)}, whose url is a secret, so any ` +
        `orphan may be that endpoint. ${toSettle(hidden.stack)}`,
    );
  return entries.filter(
    ({ endpoint, owner, ageMs = 0 }) =>
      owner.kind === "nobody" && ageMs >= olderThan && (type === undefined || endpoint.type === type),
  );
}

/** Says which orphans stay because of their age: `list --orphans` shows them, too. */
function noteYoung(
  { output }: Context,
  { entries }: Inventory,
  { chosen, type }: { readonly chosen: readonly Entry[]; readonly type: string | undefined },
): void {
  const orphans = entries.filter(
    ({ endpoint, owner }) => owner.kind === "nobody" && (type === undefined || endpoint.type === type),
  );
  const count = orphans.length - chosen.length;
  if (count > 0)
    output.note(
      `${countOf(count, "orphan")} ${count === 1 ? "stays" : "stay"}, younger than --older-than (default: 1h) or of an unknown age. --older-than 0s takes all.`,
    );
}

/** @throws CliError `ENDPOINT_NOT_FOUND`, or `NOT_DELETABLE` if one of them is not an orphan */
function named(ids: readonly string[], inventory: Inventory): Entry[] {
  return [...new Set(ids)].map((id) => {
    const entry = entryOf(id, inventory);
    const why = whyNotOrphan(entry.owner);
    if (why === undefined) return entry;
    throw new CliError("NOT_DELETABLE", `nothing was deleted. ${id} cannot be: ${why}`);
  });
}

async function isAgreed(context: Context, chosen: readonly Entry[], yes: boolean | undefined) {
  const { output } = context;
  const rows = chosen.map(({ endpoint: { id, type }, ageMs, shownUrl }) => [
    ...[id, type, describeAge(ageMs), shownUrl],
  ]);
  if (!output.json) output.table(["ID", "TYPE", "AGE", "URL"], rows);
  // Nobody should agree to what they have not seen.
  else if (yes !== true) for (const row of rows) output.note(row.join("  "));
  return confirm(context, `Delete ${countOf(rows.length, "endpoint")}?`, yes);
}

/** Returns whether an endpoint is still what was shown: an id may be used again. */
function isSame({ endpoint: a }: Entry, { endpoint: b }: Entry): boolean {
  return a.id === b.id && a.url === b.url && a.type === b.type && a.createdAt === b.createdAt;
}

/** Deletes what is not deleted, until Ctrl-C. Returns the first failure, or the one that ended the deletion. */
async function remove({ output, signal }: Context, client: WebhooksClient, results: Results) {
  const waiting = [...results].flatMap(([entry, result]) => (result === "not-deleted" ? [entry] : []));
  let failure: WebhookError | undefined;
  let count = 0;
  const removeOne = async (entry: Entry) => {
    const { id } = entry.endpoint;
    try {
      await client.delete(id).catch(undefinedIfGone);
      results.set(entry, "deleted");
      count += 1;
      if (!output.json) output.line(`Deleted ${id}`);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      results.set(entry, "failed");
      if (failure === undefined || !OF_ONE_ENDPOINT.includes(error.code)) failure = error;
    }
  };
  const isOver = () => signal.aborted || (failure !== undefined && !OF_ONE_ENDPOINT.includes(failure.code));
  const removing = inParallel(waiting, removeOne, isOver);
  await output.during(
    () => `Deleting: ${count} of ${countOf(waiting.length, "endpoint")} deleted…`,
    removing,
  );
  return failure;
}

/** Reports what was deleted and what not. Returns whether nothing was kept. @throws CliError `INTERRUPTED`, or the failure */
function report({ output, signal }: Context, results: Results, failure: WebhookError | undefined): boolean {
  const all = [...results];
  const deleted = all.flatMap(([entry, result]) => (result === "deleted" ? [dataOf(entry)] : []));
  const kept = all.flatMap(([entry, reason]) => (reason === "deleted" ? [] : [{ ...dataOf(entry), reason }]));
  for (const [{ endpoint }, result] of all)
    if (result === "changed") output.warn(`${endpoint.id} was kept: it has changed, or something has it now`);
  const counts = `${countOf(deleted.length, "endpoint")} deleted, ${kept.length} kept`;
  const print = () => {
    if (all.length === 0) output.note("There is nothing to delete.");
    else output.line(`${counts}.`);
  };
  const isInterrupted = signal.aborted && kept.length > 0;
  const error = isInterrupted ? new CliError("INTERRUPTED", `Ctrl-C ended the command: ${counts}`) : failure;
  output.outcome({ deleted, kept }, print, error);
  return kept.length === 0;
}
