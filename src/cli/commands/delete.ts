import { isDeepStrictEqual } from "node:util";
import { Argument, Option } from "commander";
import type { Existence } from "../../provider/facts/existence";
import { wantedBy } from "../../provider/facts/exportedState";
import { CodedError } from "../../shared/codedError";
import { COMMAND, quoted } from "../../shared/commandLine";
import { ENDPOINT_TYPES, type EndpointType } from "../../shared/endpointType";
import { foreign } from "../../shared/escape";
import { inParallel } from "../../shared/inParallel";
import { countOf } from "../../shared/words";
import { duration } from "../duration";
import { CliError } from "../errors";
import { existenceIn } from "../existence";
import { type Entry, type Inventory, namedEntries, takeInventory, whyHeld } from "../inventory/inventory";
import { describeOwned, toSettle, unansweredIn } from "../inventory/owner";
import { dataOf, printTable } from "../inventory/printEntries";
import { jsonOption, stackOption, yesOption } from "../options";
import type { Context, Subcommand } from "../run";
import { confirm } from "../terminal";
import { withAccount } from "../withAccount";

interface Flags {
  readonly yes?: boolean;
  readonly orphans?: boolean;
  /** In milliseconds. */
  readonly olderThan?: number;
  readonly type?: EndpointType;
  readonly seenBy?: string;
}

export const deletion: Subcommand<Flags> = {
  summary: "delete endpoints that no stack has",
  description:
    "Deletes endpoints that no stack of the backend has: those that you name, or with --orphans all that are old enough. It shows them and " +
    "asks first. If a stack cannot be read, it deletes nothing.",
  arguments: [new Argument("[id...]", "the endpoints")],
  options: [
    new Option("--orphans", "delete all endpoints that no stack has"),
    new Option("--older-than <duration>", "only orphans of this age, such as 7d (default: 1h)").argParser(
      duration,
    ),
    new Option("--type <type>", "only orphans of this type").choices(ENDPOINT_TYPES),
    new Option(
      "--seen-by <user>",
      "in Pulumi Cloud: this user may read every stack with endpoints, and runs this",
    ),
    ...[yesOption(), stackOption(), jsonOption()],
  ],
  examples: [
    "delete wh_5f0c2d",
    "delete --orphans",
    "delete --orphans --older-than 7d --type development --yes",
  ],
  async run(context, flags, ids) {
    const { orphans = false, olderThan, type, seenBy, yes } = flags;
    if (orphans === ids.length > 0)
      throw new CliError("WRONG_USE", "either name the endpoints to delete, or add --orphans");
    if (!orphans && (olderThan ?? type ?? seenBy) !== undefined)
      throw new CliError("WRONG_USE", "--older-than, --type and --seen-by are about orphans: add --orphans");
    return withAccount(context, async (account) => {
      const look = () => takeInventory(context, account, { orphans: true });
      const inventory = await look();
      if (orphans) refuseUnlessAllIsSeen(inventory, seenBy);
      const wanted = orphans
        ? oldOrphans(context, inventory, flags)
        : namedEntries(ids, inventory, "deleted", ({ owner }) => owner.whyNotOrphan);
      const free = notHeld(context, wanted, inventory);
      if (free.length > 0) printTable(context, free);
      const question = `Delete ${countOf(free.length, "endpoint")}?`;
      const isAgreed = free.length > 0 && (await confirm(context, question, yes));
      const unchanged = isAgreed ? stillOrphans(context, free, await look()) : [];
      context.endItself();
      return remove(context, existenceIn(account, context), { chosen: orphans ? free : wanted, unchanged });
    });
  },
};

/**
 * Refuses to take for an orphan what may be in a stack that the user of Pulumi Cloud cannot see, unless the user's name is given. Nobody can
 * name what is not seen, so this is asked for only where nothing is named.
 *
 * @throws CliError `OWNERSHIP_UNKNOWN`
 */
function refuseUnlessAllIsSeen({ stacks: { viewer } }: Inventory, seenBy: string | undefined): void {
  if (viewer === undefined || viewer === seenBy) return;
  const given = seenBy === undefined ? "" : `, and not ${seenBy}`;
  throw new CliError(
    "OWNERSHIP_UNKNOWN",
    `Pulumi Cloud shows only the stacks that its user may read, here ${viewer}${given}, so an endpoint of a colleague's stack may look like an ` +
      `orphan. If ${viewer} may read every stack with endpoints of this account, add --seen-by ${quoted(viewer)}. \`${COMMAND} list --orphans\` ` +
      "shows what it takes for orphans",
  );
}

/** Returns the orphans that are old enough. @throws CliError `NOT_DELETABLE` if an interrupted registration may have made any of them */
function oldOrphans(
  { output }: Context,
  { entries, stacks }: Inventory,
  // A younger one may be what somebody registers just now.
  { olderThan = duration("1h"), type }: Flags,
): Entry[] {
  const idle = stacks.known.filter(({ work }) => !work.mayRun);
  const hidden = idle.flatMap(unansweredIn).find(({ resource }) => wantedBy(resource) === undefined);
  if (hidden !== undefined)
    throw new CliError(
      "NOT_DELETABLE",
      `nothing was deleted: a run was interrupted while it registered ${describeOwned(hidden)}, whose url is a secret, so any ` +
        `orphan may be that endpoint. ${toSettle(hidden)}`,
    );
  const orphans = entries.filter(
    ({ endpoint, owner }) => owner.kind === "nobody" && (type === undefined || endpoint.type === type),
  );
  for (const { endpoint, owner } of entries)
    if (owner.kind === "pending") output.warn(`${foreign(endpoint.id)} is kept: ${owner.whyNotOrphan}`);
  const old = orphans.filter(({ ageMs = 0 }) => ageMs >= olderThan);
  if (orphans.length > old.length)
    output.note(
      `Orphans that are younger than --older-than (default: 1h), or whose age is unknown, are kept: ${orphans.length - old.length}. ` +
        "--older-than 0s takes all.",
    );
  return old;
}

/** Returns what no run that may be under way has to do with, and says why it keeps the rest. */
function notHeld({ output }: Context, entries: readonly Entry[], inventory: Inventory): Entry[] {
  return entries.filter((entry) => {
    const why = whyHeld(entry, inventory);
    if (why !== undefined) output.warn(`${foreign(entry.endpoint.id)} is kept: ${why}`);
    return why === undefined;
  });
}

/** Returns what no run has taken over while a person decided. An id may be used again, so the rest must be the same, too. */
function stillOrphans(context: Context, chosen: readonly Entry[], inventory: Inventory): Entry[] {
  const orphans = inventory.entries.filter(({ owner }) => owner.kind === "nobody");
  const byId = new Map(orphans.map((entry) => [entry.endpoint.id, entry]));
  const same = chosen.flatMap(({ endpoint }) => {
    const now = byId.get(endpoint.id);
    if (now !== undefined && isDeepStrictEqual(now.endpoint, endpoint)) return [now];
    context.output.warn(`${foreign(endpoint.id)} was kept: it has changed, or something has it now`);
    return [];
  });
  const free = new Set(notHeld(context, same, inventory).map(({ endpoint }) => endpoint.id));
  return chosen.filter(({ endpoint }) => free.has(endpoint.id));
}

/**
 * Deletes endpoints until one cannot be deleted or until Ctrl-C, and reports what was deleted. Returns whether nothing that was chosen is
 * left.
 *
 * @throws CliError `INTERRUPTED`, or the first failure
 */
async function remove(
  { output, signal }: Context,
  existence: Existence,
  { chosen, unchanged }: Record<"chosen" | "unchanged", readonly Entry[]>,
): Promise<boolean> {
  const deleted = new Set<Entry>();
  const failures: CodedError[] = [];
  const removeOne = async (entry: Entry) => {
    const { id } = entry.endpoint;
    if (signal.aborted || failures.length > 0) return;
    try {
      await existence.remove(id, entry.endpoint);
      deleted.add(entry);
      output.line(`Deleted ${foreign(id)}`);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      failures.push(error);
    }
  };
  const progress = () => `Deleting: ${deleted.size} of ${unchanged.length} endpoints deleted…`;
  await output.during(progress, inParallel(unchanged, removeOne));
  const kept = chosen.filter((entry) => !deleted.has(entry));
  const counts = `${countOf(deleted.size, "endpoint")} deleted, ${kept.length} kept`;
  const result = chosen.length === 0 ? "There is nothing to delete." : `${counts}.`;
  const isInterrupted = signal.aborted && kept.length > 0;
  output.outcome(
    { deleted: [...deleted].map(dataOf), kept: kept.map(dataOf) },
    () => output.line(result),
    isInterrupted ? new CliError("INTERRUPTED", `Ctrl-C ended the command: ${counts}`) : failures[0],
  );
  return kept.length === 0;
}
