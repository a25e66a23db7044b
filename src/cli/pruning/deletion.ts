import { type Endpoint, WebhookEndpointNotFoundError, WebhookError } from "../../client";
import type { Account } from "../account";
import { CliError } from "../errors";
import {
  assertOwnershipKnown,
  type Entry,
  type Inventory,
  type InventoryOptions,
  takeInventory,
} from "../inventory";
import { candidatesIn, type PruneRule } from "./candidates";

/** How long what was read about owners is relied on while endpoints are deleted, in milliseconds. */
const FRESH_MS = 1_000;

type Options = InventoryOptions & PruneRule;

/**
 * Deletes the endpoints that nothing manages even now: a run may take one over while a person decides, or while others are deleted.
 *
 * @throws WebhookError of the first endpoint that could not be deleted; what concerns one endpoint only does not stop the others
 */
export async function* deleteAll(
  candidates: readonly Entry[],
  account: Account,
  options: Options,
): AsyncGenerator<Entry> {
  const { output } = options;
  const current = freshInventory(account, options);
  let first: WebhookError | undefined;
  for (const entry of candidates) {
    const { id } = entry.endpoint;
    const now = candidatesIn(await current(), options).find(({ endpoint }) => endpoint.id === id);
    if (!isSame(now?.endpoint, entry.endpoint)) {
      output.warn(`${id} is kept: it has changed since it was shown`);
      continue;
    }
    try {
      await account.client.delete(id);
    } catch (error) {
      if (!(error instanceof WebhookError) || !isOfOneEndpoint(error)) throw error;
      if (!(error instanceof WebhookEndpointNotFoundError)) {
        output.warn(`${id} was not deleted`);
        first ??= error;
        continue;
      }
    }
    output.note(`Deleted ${id}`);
    yield entry;
  }
  if (first !== undefined) throw first;
}

/** Returns a function that reads the service and the states, unless that was done a moment ago. */
function freshInventory(account: Account, options: Options): () => Promise<Inventory> {
  let inventory: Inventory | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (inventory !== undefined && performance.now() - readAt < FRESH_MS) return inventory;
    inventory = await takeWholeInventory(account, options);
    readAt = performance.now();
    assertPrunable(inventory);
    return inventory;
  };
}

/** Returns whether deleting another endpoint may succeed nevertheless. */
function isOfOneEndpoint({ code }: WebhookError): boolean {
  return ["NOT_FOUND", "INVALID_ARGUMENT", "REJECTED", "SERVER_ERROR"].includes(code);
}

/** Looks in the stacks of every project: what another project manages must not count as unmanaged. */
export function takeWholeInventory(account: Account, options: InventoryOptions): Promise<Inventory> {
  return takeInventory(account, { ...options, scope: "backend" });
}

/** @throws CliError `OWNERSHIP_UNKNOWN` or `LIST_PARTIAL` when an endpoint that looks unmanaged may be managed */
export function assertPrunable({ stacks, list }: Inventory): void {
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

function isSame(a: Endpoint | undefined, b: Endpoint): boolean {
  return a?.id === b.id && a.url === b.url && a.type === b.type && a.createdAt === b.createdAt;
}
