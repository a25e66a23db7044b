import { Argument, Option } from "commander";
import type { EndpointType } from "../../client/endpoint";
import { describeResource } from "../../shared/urn";
import { countOf } from "../../shared/words";
import { withAccount } from "../account";
import { confirm } from "../ask";
import { CliError } from "../errors";
import {
  assertOwnersKnown,
  type Entry,
  entryOf,
  type Inventory,
  takeInventory,
  warnOfGaps,
} from "../inventory/inventory";
import { whyNotOrphan } from "../inventory/owner";
import { duration, jsonOption, stackOption, yesOption } from "../options";
import { type Context, type Subcommand, untilStopped } from "../run";
import { describeAge } from "../text";
import { Removal } from "./removal";

/** A younger orphan may be what somebody registers just now, in milliseconds. */
const LEAST_AGE_MS = 3_600_000;

interface Flags {
  readonly stack?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly orphans?: boolean;
  /** In milliseconds. */
  readonly olderThan?: number;
  readonly type?: EndpointType;
}

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
  endsItself: true,
  async run(context, flags, ids) {
    const { orphans = false, olderThan, type, stack, yes } = flags;
    if (orphans === ids.length > 0)
      throw new CliError("WRONG_USE", "name the endpoints to delete, or add --orphans");
    if (!orphans && (olderThan ?? type) !== undefined)
      throw new CliError("WRONG_USE", "--older-than and --type choose among orphans: add --orphans");
    const { signal } = context;
    let isDeleting = false;
    const work = withAccount(context, stack, async (account) => {
      const look = () => takeInventory(context, account, { all: true, ids });
      const choose = (inventory: Inventory) =>
        orphans ? oldOrphans(inventory, flags) : named(ids, inventory);
      const inventory = await look();
      warnOfGaps(context, inventory);
      const chosen = choose(inventory);
      const isAgreed = chosen.length > 0 && (await asked(context, chosen, yes));
      // A run may have taken one over while a person decided.
      const again = isAgreed ? choose(await look()) : [];
      isDeleting = isAgreed;
      return new Removal(context, account.client, chosen).run(isAgreed ? again : undefined);
    });
    return untilStopped(signal, work, () => isDeleting);
  },
};

/** @throws CliError `OWNERSHIP_UNKNOWN`, or `NOT_DELETABLE` if an interrupted registration may have made any of them */
function oldOrphans(inventory: Inventory, { olderThan = LEAST_AGE_MS, type }: Flags): readonly Entry[] {
  assertOwnersKnown(inventory);
  const [hidden] = inventory.owners.hidden;
  if (hidden !== undefined)
    throw new CliError(
      "NOT_DELETABLE",
      `nothing was deleted: a run was interrupted while it registered ${describeResource(hidden.resource)}, whose url is a secret, so any orphan ` +
        `may be that endpoint. Run \`pulumi up --stack ${hidden.stack.name}\` there, and then \`pulumi refresh --clear-pending-creates --stack ${hidden.stack.name}\``,
    );
  return inventory.entries.filter(
    ({ endpoint, owner, ageMs = 0 }) =>
      owner.kind === "nobody" && ageMs >= olderThan && (type === undefined || endpoint.type === type),
  );
}

/** @throws CliError `OWNERSHIP_UNKNOWN`, `ENDPOINT_NOT_FOUND`, or `NOT_DELETABLE` if one of them is not an orphan */
function named(ids: readonly string[], inventory: Inventory): readonly Entry[] {
  assertOwnersKnown(inventory);
  return [...new Set(ids)].map((id) => {
    const entry = entryOf(id, inventory);
    const why = whyNotOrphan(entry.owner);
    if (why !== undefined)
      throw new CliError("NOT_DELETABLE", `nothing was deleted. ${id} cannot be: ${why}`);
    return entry;
  });
}

async function asked(context: Context, chosen: readonly Entry[], yes: boolean | undefined): Promise<boolean> {
  const { output } = context;
  const rows = chosen.map(({ endpoint: { id, type }, ageMs, shownUrl }) => [
    id,
    type,
    describeAge(ageMs),
    shownUrl,
  ]);
  if (!output.json) output.table(["ID", "TYPE", "AGE", "URL"], rows);
  // Nobody should agree to what they have not seen.
  else if (yes !== true) for (const row of rows) output.note(row.join("  "));
  return confirm(context, `Delete ${countOf(rows.length, "endpoint")}?`, yes);
}
