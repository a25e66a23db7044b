import { type Endpoint, WebhookEndpointNotFoundError } from "../../client";
import type { Account } from "../account";
import { describeAge } from "../age";
import { CliError } from "../errors";
import {
  assertOwnershipKnown,
  describeOwner,
  type Entry,
  type Inventory,
  type InventoryOptions,
  takeInventory,
  warnOfGaps,
} from "../inventory";
import { openService } from "../service";
import { candidatesIn, type PruneRule, reasonToKeep } from "./candidates";

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
    const inventory = await takeInventory(account, options);
    warnOfGaps(inventory, output);
    assertPrunable(inventory);
    const candidates = candidatesIn(inventory, options);
    show(candidates, inventory, options);
    const isConfirmed = candidates.length > 0 && (await confirm(candidates, options));
    const deleted = new Set<Entry>();
    try {
      if (isConfirmed) for await (const entry of deleteAll(candidates, account, options)) deleted.add(entry);
    } finally {
      report({ inventory, deleted, isConfirmed }, options);
    }
  } finally {
    await account.client.close();
  }
}

/** @throws CliError `OWNERSHIP_UNKNOWN` or `LIST_PARTIAL` when an endpoint that looks unmanaged may be managed */
function assertPrunable({ stacks, list }: Inventory): void {
  assertOwnershipKnown(stacks);
  if (stacks.absence !== undefined)
    throw new CliError(
      "OWNERSHIP_UNKNOWN",
      `nothing was deleted, because ${stacks.absence}, so it is unknown which ` +
        "endpoints are managed. Run the command in the folder of the Pulumi program, logged in to the backend that has its stacks",
    );
  if (!list.complete)
    throw new CliError(
      "LIST_PARTIAL",
      "nothing was deleted, because the service listed only a part of its endpoints. An endpoint that it left out may be managed",
    );
}

function show(candidates: readonly Entry[], { entries }: Inventory, options: PruneOptions): void {
  const { output, type } = options;
  for (const { endpoint, registration } of entries.filter(
    (entry) => entry.manager === undefined && reasonToKeep(entry, options) === "unfinished-registration",
  ))
    output.warn(
      `${endpoint.id} is kept: an unfinished registration of ${registration ? describeOwner(registration) : "a stack"} may have created it. ` +
        "Run `pulumi up` or `npx webhook-endpoints recover` there first",
    );
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

/** Deletes the endpoints that nothing manages even now: a run may have taken one over while a person decided. */
async function* deleteAll(
  candidates: readonly Entry[],
  account: Account,
  options: PruneOptions,
): AsyncGenerator<Entry> {
  const inventory = await takeInventory(account, options);
  assertPrunable(inventory);
  const now = new Map(candidatesIn(inventory, options).map(({ endpoint }) => [endpoint.id, endpoint]));
  for (const entry of candidates) {
    const { id } = entry.endpoint;
    if (!isSame(now.get(id), entry.endpoint)) {
      options.output.warn(`${id} is kept: it has changed since it was shown`);
      continue;
    }
    try {
      await account.client.delete(id);
    } catch (error) {
      if (!(error instanceof WebhookEndpointNotFoundError)) throw error;
    }
    options.output.note(`Deleted ${id}`);
    yield entry;
  }
}

interface Result {
  readonly inventory: Inventory;
  readonly deleted: ReadonlySet<Entry>;
  readonly isConfirmed: boolean;
}

function report({ inventory, deleted, isConfirmed }: Result, options: PruneOptions): void {
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
  options.output.data({ deleted: [...deleted].map(shown), kept }, () => {
    if (isConfirmed) options.output.line(`Deleted ${count(deleted.size)}.`);
  });
}

function isSame(a: Endpoint | undefined, b: Endpoint): boolean {
  return a?.id === b.id && a.url === b.url && a.type === b.type && a.createdAt === b.createdAt;
}

function count(number: number, what = ""): string {
  return `${number} ${what === "" ? "" : `${what} `}endpoint${number === 1 ? "" : "s"}`;
}
