import type { Endpoint, EndpointList } from "../../client";
import { undefinedIfGone } from "../../client/errors";
import { keyOf } from "../../provider/identity";
import { wantedBy } from "../../provider/stackState";
import { parseTimestamp, patienceFor } from "../../provider/time";
import { describeUrl, normalizeUrl } from "../../shared/url";
import type { Account } from "../account";
import { CliError } from "../errors";
import type { Context } from "../run";
import { dataOfOwner, type Holder, type Owner, Owners } from "./owner";
import { NO_STACK, readStacks, type Stacks, whyUnread } from "./stacks";

/** An earlier time is not a real one: a service that does not know it may answer year 1, or 1970. */
const FIRST_TIME = Date.UTC(1971, 0, 1);

/** An endpoint at the service, and who has it. */
export interface Entry {
  readonly endpoint: Endpoint;
  readonly owner: Owner;
  /** On the service's clock, in milliseconds; undefined if the service does not say enough. */
  readonly ageMs: number | undefined;
  /** The url as it may be printed: only its host, if a stack keeps it as a secret, or may do so. */
  readonly shownUrl: string;
}

export interface Inventory {
  readonly entries: readonly Entry[];
  readonly list: EndpointList;
  readonly stacks: Stacks;
  readonly owners: Owners;
}

/**
 * Lists the endpoints of an account, then reads the states: what a run registers meanwhile is in one of them by then.
 *
 * @param options.all reads the stacks of the whole backend instead of those of this project
 * @param options.ids endpoints to ask for if the list is partial and lacks them
 */
export async function takeInventory(
  context: Context,
  account: Account,
  { all, ids = [] }: { readonly all: boolean; readonly ids?: readonly string[] },
): Promise<Inventory> {
  const list = await context.output.during(() => "Reading the endpoints…", listWith(ids, account));
  const stacks = await readStacks(context, { all });
  return inventoryOf(list, stacks, account);
}

async function listWith(ids: readonly string[], { client }: Account): Promise<EndpointList> {
  const list = await client.list();
  const listed = [...list.endpoints, ...list.unrecognized].map(({ id }) => id);
  const missing = list.complete ? [] : [...new Set(ids)].filter((id) => !listed.includes(id));
  const found = await Promise.all(missing.map((id) => client.get(id).catch(undefinedIfGone)));
  return { ...list, endpoints: [...list.endpoints, ...found.filter((each) => each !== undefined)] };
}

export function inventoryOf(
  list: EndpointList,
  stacks: Stacks,
  { timeoutMs }: Pick<Account, "timeoutMs">,
): Inventory {
  const owners = new Owners(stacks, { patienceMs: patienceFor(timeoutMs) });
  const owned = list.endpoints.map((endpoint) => ({ endpoint, owner: owners.of(endpoint) }));
  const isSecret = (owner: Owner) =>
    "by" in owner && owner.by.some(({ resource }) => wantedBy(resource) === undefined);
  const secret = owned.filter(({ owner }) => isSecret(owner));
  // An orphan may have the same url as an endpoint whose url a state encrypts.
  const secretUrls = new Set(secret.map(({ endpoint }) => normalizeUrl(endpoint.url)));
  // A stack that was not read may keep any url as a secret. Without a project, there is no such stack.
  const mayKeepAny = stacks.absence === undefined || stacks.absence === NO_STACK;
  const entries = owned.map(({ endpoint, owner }) => {
    const isHidden = (owner.kind === "unknown" && mayKeepAny) || secretUrls.has(normalizeUrl(endpoint.url));
    const shownUrl = isHidden ? describeUrl(endpoint.url) : endpoint.url;
    return { endpoint, owner, ageMs: ageOf(endpoint, list), shownUrl };
  });
  return { entries, list, stacks, owners };
}

function ageOf({ createdAt }: Endpoint, { serverTime }: EndpointList): number | undefined {
  const made = parseTimestamp(createdAt);
  return serverTime !== null && made !== undefined && made >= FIRST_TIME ? serverTime - made : undefined;
}

/** Tells what the inventory may lack. */
export function warnOfGaps({ output }: Context, { list, stacks }: Inventory): void {
  if (!list.complete) output.warn("the service listed only a part of its endpoints: there may be more");
  if (list.unrecognized.length > 0)
    output.warn(
      `the service lists endpoints that cannot be read: ${list.unrecognized.map(({ id }) => id).join(", ")}`,
    );
  for (const { what, why } of stacks.unreadable) output.warn(`${what} cannot be read: ${why}`);
  if (stacks.absence !== undefined)
    output.note(`No stack of this project was read, because ${stacks.absence}.`);
}

/** @throws CliError `OWNERSHIP_UNKNOWN` when a stack that may have an endpoint was not read */
export function assertOwnersKnown({ stacks }: Inventory): void {
  const why = whyUnread(stacks);
  if (why !== undefined)
    throw new CliError(
      "OWNERSHIP_UNKNOWN",
      `it is unknown which endpoints no stack has, because ${why}. Run the command in the folder of the Pulumi program, logged in to ` +
        "the backend that has its stacks, where every stack can be read",
    );
}

/** Returns an entry as `--json` prints it. */
export function dataOf({ endpoint: { id, type, createdAt, updatedAt }, shownUrl, owner }: Entry): object {
  return { id, url: shownUrl, type, createdAt, updatedAt, owner: dataOfOwner(owner) };
}

/** @throws CliError `ENDPOINT_NOT_FOUND` */
export function entryOf(id: string, { entries, list }: Inventory): Entry {
  const entry = entries.find(({ endpoint }) => endpoint.id === id);
  if (entry !== undefined) return entry;
  const why = list.unrecognized.some((each) => each.id === id)
    ? `the service lists ${id}, but in a form that cannot be read`
    : `the account of this API key has no endpoint ${id}. \`npx pulumi-webhook-endpoints list\` shows those that it has`;
  throw new CliError("ENDPOINT_NOT_FOUND", why);
}

/** Returns what no stack is known to have and has the url and type of a managed endpoint, with a resource that has that one. */
export function duplicatesIn({ entries }: Inventory): ReadonlyMap<Entry, Holder> {
  const managed = new Map<string, Holder>();
  for (const { endpoint, owner } of entries)
    if (owner.kind === "managed") managed.set(keyOf(endpoint), owner.by[0]);
  const duplicates = new Map<Entry, Holder>();
  for (const entry of entries) {
    const holder = managed.get(keyOf(entry.endpoint));
    if (holder !== undefined && !("by" in entry.owner)) duplicates.set(entry, holder);
  }
  return duplicates;
}
