import type { Endpoint, EndpointList } from "../../client";
import { wantedBy } from "../../provider/facts/exportedState";
import { gracePeriodFor, parseTimestamp } from "../../provider/facts/time";
import { keyOf } from "../../provider/facts/urlAndType";
import { COMMAND } from "../../shared/commandLine";
import { describeUrl, normalizeUrl } from "../../shared/url";
import { joined } from "../../shared/words";
import { CliError } from "../errors";
import type { Context } from "../run";
import type { Account } from "../withAccount";
import { type Owner, ownersIn, type StackResource } from "./owner";
import { describeWork } from "./runUnderWay";
import { type KnownStack, NO_STACK, readStacks, type Stacks } from "./stacks";

/** An endpoint at the service, and who has it. */
export interface Entry {
  readonly endpoint: Endpoint;
  readonly owner: Owner;
  /** On the service's clock, in milliseconds; undefined if the service does not say enough. */
  readonly ageMs: number | undefined;
  /** The url as it may be printed: only its host, if a stack keeps it as a secret, or may do so. */
  readonly shownUrl: string;
  /** If no stack is known to have it: what has an endpoint of the same url and type. */
  readonly duplicateOf: StackResource | undefined;
}

export interface Inventory {
  readonly entries: readonly Entry[];
  readonly list: EndpointList;
  readonly stacks: Stacks;
}

/**
 * Lists the endpoints of an account, then reads the states: what a run registers meanwhile is in one of them by then. Warns of what the
 * result may lack.
 *
 * @param all reads the stacks of the whole backend instead of those of this project
 * @param orphans as `all`, and fails if a stack that may have an endpoint cannot be read
 * @throws CliError `OWNERSHIP_UNKNOWN`, or WebhookError
 */
export async function takeInventory(
  context: Context,
  { client, connection }: Account,
  { all = false, orphans = false }: { readonly all?: boolean; readonly orphans?: boolean },
): Promise<Inventory> {
  const { output } = context;
  const list = await output.during(() => "Reading the endpoints…", client.list());
  const stacks = await readStacks(context, { all, orphans });
  if (orphans && stacks.gap !== undefined)
    throw new CliError(
      "OWNERSHIP_UNKNOWN",
      `it is unknown which endpoints no stack has, because ${stacks.gap}. Run the command in the folder of the Pulumi program, logged in to ` +
        "the backend that has its stacks, where every stack can be read",
    );
  if (stacks.viewer !== undefined)
    output.note(
      `An orphan is what no stack has that ${stacks.viewer}, the user of Pulumi Cloud here, may read.`,
    );
  if (!list.complete) output.warn("the service listed only a part of its endpoints: there may be more");
  const unrecognized = list.unrecognized.map(({ id }) => id);
  if (unrecognized.length > 0)
    output.warn(`the service lists endpoints that cannot be read: ${joined(unrecognized)}`);
  for (const { why } of stacks.unreadable) output.warn(why);
  if (stacks.whyNone !== undefined && stacks.known.length === 0)
    output.note(`No stack of this project was read, because ${stacks.whyNone}.`);
  return inventoryOf(list, stacks, connection.timeoutMs);
}

/** @param timeoutMs how long an operation of a run may take */
export function inventoryOf(list: EndpointList, stacks: Stacks, timeoutMs: number): Inventory {
  const ownerOf = ownersIn(stacks, gracePeriodFor(timeoutMs));
  const owned = list.endpoints.map((endpoint) => ({ endpoint, owner: ownerOf(endpoint) }));
  const managed = owned.filter(({ owner }) => owner.kind === "managed");
  const managedByKey = new Map(managed.map(({ endpoint, owner }) => [keyOf(endpoint), owner.by[0]]));
  // An orphan may have the same url as an endpoint whose url a state encrypts.
  const withSecretUrl = owned.filter(({ owner }) => owner.by.some(({ resource }) => !wantedBy(resource)));
  const secretUrls = new Set(withSecretUrl.map(({ endpoint }) => normalizeUrl(endpoint.url)));
  // A stack that was not read may keep any url as a secret. Without a project, there is no such stack.
  const mayKeepAny = stacks.whyNone === undefined || stacks.whyNone === NO_STACK;
  const entries = owned.map(({ endpoint, owner }): Entry => {
    const isHidden = (owner.kind === "unknown" && mayKeepAny) || secretUrls.has(normalizeUrl(endpoint.url));
    const shownUrl = isHidden ? describeUrl(endpoint.url) : endpoint.url;
    const duplicateOf = owner.by.length === 0 ? managedByKey.get(keyOf(endpoint)) : undefined;
    return { endpoint, owner, ageMs: ageOf(endpoint, list), shownUrl, duplicateOf };
  });
  return { entries, list, stacks };
}

function ageOf({ createdAt }: Endpoint, { serverTime }: EndpointList): number | undefined {
  const made = parseTimestamp(createdAt);
  if (serverTime === null || made === undefined) return undefined;
  // The Date header has whole seconds, so what was made in this second seems to be of the next.
  return Math.max(0, serverTime - made);
}

/** How old an endpoint may be that a run of unknown age has made, in milliseconds. */
const LONGEST_RUN_MS = 3_600_000;
/** How far another machine's clock may be from this one's, in milliseconds. */
const CLOCKS_MS = 60_000;

/**
 * Returns why a run that may be under way may be about to record an endpoint, as the rest of a sentence after its id: the endpoint must be
 * kept. Undefined if no such run has to do with it, or a resource has it anyway.
 */
export function whyHeld({ endpoint, owner, ageMs }: Entry, { stacks }: Inventory): string | undefined {
  if (owner.kind === "managed") return undefined;
  const reasons = stacks.known
    .filter(({ work }) => work.mayRun)
    .flatMap((stack) => {
      const { forMs = LONGEST_RUN_MS } = stack.work;
      const run = describeWork(stack.name, stack.work);
      if (owner.by.some((each) => each.stack === stack)) return [owner.whyNotOrphan];
      if (isLikeSomethingOf(stack, endpoint))
        return [`it has the url and type of something in that stack, and ${run}`];
      if (ageMs === undefined) return [`its age is unknown, and ${run}`];
      return ageMs <= forMs + CLOCKS_MS ? [`it may be of that run: ${run}`] : [];
    });
  return reasons[0];
}

function isLikeSomethingOf({ deployment }: KnownStack, endpoint: Endpoint): boolean {
  const { resources, pending_operations } = deployment;
  return [...resources, ...pending_operations.map(({ resource }) => resource)].some((resource) => {
    const wanted = wantedBy(resource);
    return wanted !== undefined && keyOf(wanted) === keyOf(endpoint);
  });
}

/** Returns what no stack has and no run may be about to record, duplicates aside. Where not every stack was read, nobody knows of any. */
export function unmanagedIn(inventory: Inventory): Entry[] {
  const { entries, stacks } = inventory;
  if (stacks.unreadable.length > 0 || stacks.whyNone !== undefined) return [];
  return entries.filter(
    (entry) =>
      entry.owner.by.length === 0 &&
      entry.duplicateOf === undefined &&
      whyHeld(entry, inventory) === undefined,
  );
}

/** @throws CliError `NOT_FOUND` */
export function entryOf(id: string, { entries }: Inventory): Entry {
  const entry = entries.find(({ endpoint }) => endpoint.id === id);
  if (entry !== undefined) return entry;
  throw new CliError(
    "NOT_FOUND",
    `the account of this API key has no endpoint ${id} that can be read. \`${COMMAND} list\` shows those that it has`,
  );
}

/**
 * Returns the entries that were named, each once. Those that a run may be about to record are the caller's to keep (`whyHeld`).
 *
 * @param verb what is to be done with them
 * @param whyNot says why it cannot be done with one of them, as the rest of a sentence after its id
 * @throws CliError `NOT_FOUND`, `NOT_ADOPTABLE` or `NOT_DELETABLE`
 */
export function namedEntries(
  ids: readonly string[],
  inventory: Inventory,
  verb: "adopted" | "deleted",
  whyNot: (entry: Entry) => string | undefined,
): Entry[] {
  const code = verb === "deleted" ? "NOT_DELETABLE" : "NOT_ADOPTABLE";
  return [...new Set(ids)].map((id) => {
    const entry = entryOf(id, inventory);
    const why = whyNot(entry);
    if (why === undefined || whyHeld(entry, inventory) !== undefined) return entry;
    throw new CliError(code, `nothing was ${verb}, because ${id} cannot be: ${why}`);
  });
}
