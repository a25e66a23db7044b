import { isDeepStrictEqual } from "node:util";
import { Argument, Option } from "commander";
import { WebhookError, type WebhooksClient } from "../client";
import type { EndpointType } from "../client/endpoint";
import { undefinedIfGone } from "../client/errors";
import { wantedBy } from "../provider/stackState";
import { describeResource } from "../shared/urn";
import { countOf } from "../shared/words";
import { withAccount } from "./account";
import { confirm } from "./ask";
import { duration } from "./duration";
import { CliError } from "./errors";
import { inParallel } from "./inParallel";
import { dataOf, type Entry, type Inventory, named, printTable, takeInventory } from "./inventory/inventory";
import { toSettle, unansweredIn } from "./inventory/owner";
import { jsonOption, stackOption, yesOption } from "./options";
import type { Context, Subcommand } from "./run";

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
      const look = () => takeInventory(context, account, { orphans: true, ids });
      const inventory = await look();
      const chosen = orphans
        ? oldOrphans(context, inventory, flags)
        : named(ids, inventory, { verb: "deleted", whyNot: ({ owner }) => owner.whyNotOrphan });
      const results: Results = new Map(chosen.map((entry) => [entry, "not-confirmed"]));
      let failure: WebhookError | undefined;
      if (chosen.length > 0) printTable(context, chosen);
      if (
        chosen.length > 0 &&
        (await confirm(context, `Delete ${countOf(chosen.length, "endpoint")}?`, yes))
      ) {
        // A run may have taken one over while a person decided, and an id may be used again.
        const { entries } = await look();
        context.endItself();
        const free = entries.filter(({ owner }) => owner.kind === "nobody");
        const endpoints = new Map(free.map(({ endpoint }) => [endpoint.id, endpoint]));
        for (const entry of chosen) {
          const isSame = isDeepStrictEqual(endpoints.get(entry.endpoint.id), entry.endpoint);
          results.set(entry, isSame ? "not-deleted" : "changed");
        }
        failure = await remove(context, account.client, results);
      }
      return report(context, results, failure);
    });
  },
};

/** Returns the orphans that are old enough. @throws CliError `NOT_DELETABLE` if an interrupted registration may have made any of them */
function oldOrphans(
  { output }: Context,
  { entries, stacks }: Inventory,
  // A younger one may be what somebody registers just now.
  { olderThan = duration("1h"), type }: Flags,
): Entry[] {
  const hidden = stacks.known.flatMap(unansweredIn).find(({ resource }) => wantedBy(resource) === undefined);
  if (hidden !== undefined)
    throw new CliError(
      "NOT_DELETABLE",
      `nothing was deleted: a run was interrupted while it registered ${describeResource(hidden.resource)}, whose url is a secret, so any ` +
        `orphan may be that endpoint. ${toSettle(hidden)}`,
    );
  const orphans = entries.filter(
    ({ endpoint, owner }) => owner.kind === "nobody" && (type === undefined || endpoint.type === type),
  );
  const old = orphans.filter(({ ageMs = 0 }) => ageMs >= olderThan);
  if (orphans.length > old.length)
    output.note(
      `Orphans that are younger than --older-than (default: 1h), or whose age is unknown, are kept: ${orphans.length - old.length}. ` +
        "--older-than 0s takes all.",
    );
  return old;
}

/** Deletes what is not deleted, until Ctrl-C. Returns the first failure, or the one that ended the deletion. */
async function remove({ output, signal }: Context, client: WebhooksClient, results: Results) {
  const waiting = [...results.keys()].filter((entry) => results.get(entry) === "not-deleted");
  let failure: WebhookError | undefined;
  let count = 0;
  const removeOne = async (entry: Entry) => {
    const { id } = entry.endpoint;
    try {
      await client.delete(id).catch(undefinedIfGone);
      results.set(entry, "deleted");
      count += 1;
      output.line(`Deleted ${id}`);
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
