import type { Endpoint, EndpointList } from "../../client";
import { systemClock } from "../../client/clock";
import type { Resource } from "../../settlement/deployment";
import type { Entry } from "../../settlement/entry";
import { keyOf } from "../../settlement/identity";
import { listWith } from "../../settlement/settle";
import { parseTimestamp } from "../../settlement/time";
import { mayBeKey } from "../../shared/mayBeKey";
import { describeUrl, isUrl, normalizeUrl } from "../../shared/url";
import { AccountService } from "../accountService";
import { CliError } from "../errors";
import type { Output } from "../oldOutput";
import type { Pulumi } from "../oldPulumi";
import type { Account } from "../service";
import { type ClaimsOptions, claimsOn } from "./claims";
import { dataOfOwner, mayHaveSecretUrl, type Owner, Ownership } from "./ownership";
import { NO_STACK } from "./stackList";
import { isStackRemoved, type ReadStacks, readStacks, type StackScope } from "./stacks";

/** An earlier time is not a real one: a service that does not know one answers year 1, or 1970. */
const FIRST_TIME = Date.UTC(1971, 0, 1);

/** What `check-service` adds to the urls that it registers: it names the check, and when the check began. */
export const MARK = /[?&]check=(([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** An endpoint at the service, and who has it. */
export interface Listed {
  readonly endpoint: Endpoint;
  readonly owner: Owner;
  /** By the service's clock, in milliseconds; undefined if the service does not say enough. */
  readonly ageMs: number | undefined;
  /** The url as it may be printed: only its host, if it may be a secret. */
  readonly shownUrl: string;
}

/** Every endpoint that the service lists, with its owner. */
export interface Inventory {
  readonly entries: readonly Listed[];
  readonly list: EndpointList;
  readonly stacks: ReadStacks;
}

export interface InventoryOptions extends StackScope {
  readonly pulumi: Pulumi;
  /** Endpoints to ask for if the list is partial and lacks them. */
  readonly ids?: readonly string[];
  readonly output: Output;
  readonly environment?: NodeJS.ProcessEnv;
}

/** Lists the endpoints of an account, then reads the states: what a run registers meanwhile is in a state by then. */
export function takeInventory(
  account: Account,
  { pulumi, ids = [], output, environment = process.env, ...scope }: InventoryOptions,
): Promise<Inventory> {
  const clock = systemClock;
  const service = new AccountService(account.client, clock);
  let progress = "Reading the endpoints…";
  const take = async () => {
    const listed = await service.list();
    const known = { ...service, list: async () => listed };
    const list = listed.complete ? listed : await listWith(known, ids);
    progress = "Reading the names of the stacks…";
    const stacks = await readStacks(pulumi, scope, (read, all) => {
      progress = `Reading the states: ${read} of ${all} stacks read.`;
    });
    const { projectOnly } = scope;
    return inventoryOf(list, stacks, { account, service, pulumi, environment, clock, projectOnly });
  };
  return output.during(() => progress, take());
}

export async function inventoryOf(
  list: EndpointList,
  read: ReadStacks,
  { projectOnly = false, ...options }: Omit<ClaimsOptions, "isRemoved"> & Pick<StackScope, "projectOnly">,
): Promise<Inventory> {
  const ownership = new Ownership(read.known, options.account.origin);
  const recorded = new Map(list.endpoints.map((endpoint) => [endpoint.id, ownership.ownerOf(endpoint)]));
  const unrecorded = list.endpoints.filter(({ id }) => recorded.get(id) === undefined);
  const unreadable = [...read.unreadable];
  const isRemoved = projectOnly
    ? undefined
    : (entry: Entry) => isStackRemoved(entry, read, options.environment);
  const claims = await claimsOn(unrecorded, read.known, { ...options, isRemoved }, (why) =>
    unreadable.push({ what: "what interrupted runs have registered", why }),
  );
  const stacks = { ...read, unreadable };
  const left: Owner =
    whyUnknown(stacks) !== undefined
      ? { kind: "unknown", why: "unknown" }
      : projectOnly
        ? { kind: "unknown", why: "no stack of this project" }
        : { kind: "nobody" };
  const entries = list.endpoints.map((endpoint) => {
    const stack = claims.get(endpoint.id);
    const claimed: Owner | undefined = stack === undefined ? undefined : { kind: "interrupted", stack };
    const owner = recorded.get(endpoint.id) ?? claimed ?? left;
    return { endpoint, owner, ageMs: ageOf(endpoint, list.serverTime) };
  });
  // A stack that was not read may keep any url as a secret. And an unmanaged endpoint may have the same url as one whose url is a secret.
  const isPartial = projectOnly || unreadable.length > 0 || read.absence === NO_STACK;
  const secretUrls = new Set(
    entries
      .filter(({ owner }) => mayHaveSecretUrl(owner) || (owner.kind === "unknown" && isPartial))
      .map(({ endpoint }) => unmarked(endpoint.url)),
  );
  const shownUrlOf = ({ url }: Endpoint) =>
    secretUrls.has(unmarked(url)) || hasCredentials(url) ? describeUrl(url) : url;
  return {
    entries: entries.map((entry) => ({ ...entry, shownUrl: shownUrlOf(entry.endpoint) })),
    list,
    stacks,
  };
}

/** Returns a url as it is compared: without what a check that was killed has added to it. */
function unmarked(url: string): string {
  return normalizeUrl(url).replace(MARK, "");
}

function hasCredentials(url: string): boolean {
  if (!isUrl(url)) return false;
  const { username, password } = new URL(url);
  return username !== "" || password !== "";
}

/** Warns about everything that the inventory may lack. */
export function warnOfGaps({ list, stacks, entries }: Inventory, output: Output): void {
  if (!list.complete)
    output.warn("the service listed only a part of its endpoints, so there may be more than are shown here");
  if (list.unrecognized.length > 0)
    output.warn(
      `endpoints that cannot be read are not shown: ${list.unrecognized.map(({ id }) => id).join(", ")}`,
    );
  for (const { what, why } of stacks.unreadable) output.warn(`cannot read ${what}: ${why}`);
  if (stacks.unreadable.length > 0)
    output.warn(
      "ownership may be incomplete: a stack that could not be read may manage some of the endpoints",
    );
  if (stacks.absence !== undefined)
    output.note(
      `${stacks.known.length === 0 ? "No stack was looked into" : "No stack of this folder's project was looked into"}, because ${stacks.absence}.`,
    );
  if (entries.some(({ endpoint, shownUrl }) => endpoint.url !== shownUrl))
    output.note(
      "Only the host is shown of a url that a stack keeps as a secret, or may keep as one, that an interrupted run may have registered, or that has a user name.",
    );
}

/** @throws CliError `OWNERSHIP_UNKNOWN` when a stack that may manage an endpoint was not read */
export function assertOwnershipKnown({ stacks }: Inventory): void {
  const reason = whyUnknown(stacks);
  if (reason !== undefined)
    throw new CliError(
      "OWNERSHIP_UNKNOWN",
      `cannot tell which endpoints are unmanaged, because ${reason}. Run the command in the folder of the Pulumi program, logged in ` +
        "to the backend that has its stacks, where every stack can be read",
    );
}

function whyUnknown({ unreadable: [first], absence }: ReadStacks): string | undefined {
  return first === undefined ? absence : `${first.what} cannot be read: ${first.why}`;
}

/** Returns an entry as `--json` prints it. */
export function dataOfEntry({
  endpoint: { id, type, createdAt, updatedAt },
  shownUrl,
  owner,
}: Listed): object {
  return { id, url: shownUrl, type, createdAt, updatedAt, owner: dataOfOwner(owner) };
}

/** Says why an inventory has no endpoint with an id. It does not repeat what may be a key. */
export function reasonOfMissing(
  id: string,
  { unrecognized }: EndpointList,
  { withStack }: Pick<Account, "withStack">,
): string {
  if (unrecognized.some((each) => each.id === id))
    return `the service has ${id}, but it cannot be read: its type is neither production nor development, its url or one of its times is invalid, or the list shows it twice`;
  const named = mayBeKey(id) ? "with the given id" : id;
  return `the service has no endpoint ${named} in the account of this key. \`${withStack("npx pulumi-webhook-endpoints list")}\` shows those that it has`;
}

/** Returns the unmanaged endpoints that have the same url and type as a managed one, each with the resource that manages that one. */
export function duplicatesIn({ entries }: Inventory): ReadonlyMap<Listed, Resource> {
  const managers = new Map<string, Resource>();
  for (const { endpoint, owner } of entries)
    if (owner.kind === "manages") managers.set(keyOf(endpoint), owner.resource);
  const duplicates = new Map<Listed, Resource>();
  for (const entry of entries) {
    const manager = managers.get(keyOf(entry.endpoint));
    // Whether an interrupted run has registered an endpoint is still open, and who manages one that a resource only reads.
    const isOpen = ["manages", "interrupted", "may-hold", "reads"].includes(entry.owner.kind);
    if (manager !== undefined && !isOpen) duplicates.set(entry, manager);
  }
  return duplicates;
}

function ageOf({ createdAt }: Endpoint, serverTime: number | null): number | undefined {
  const created = parseTimestamp(createdAt);
  return serverTime !== null && created >= FIRST_TIME ? serverTime - created : undefined;
}
