import type { Endpoint, EndpointList } from "../client";
import { systemClock } from "../client/clock";
import { isUrl } from "../isUrl";
import { nameOf, type Resource } from "../settlement/deployment";
import { parseTimestamp } from "../settlement/time";
import { describeUrl } from "../shared/url";
import type { Account } from "./account";
import { AccountService } from "./accountService";
import { type ClaimsOptions, claimsOn } from "./claims";
import { CliError } from "./errors";
import type { Output } from "./output";
import { hasSecretUrl, Ownership } from "./ownership";
import type { Pulumi } from "./pulumi";
import { readStacks, type StackScope, type Stacks } from "./stacks";

/** An endpoint at the service, and what the stacks know about it. */
export interface Entry {
  readonly endpoint: Endpoint;
  readonly manager: Resource | undefined;
  readonly reader: Resource | undefined;
  /** A resource with the same id at the same base URL, registered with another API key, that looks different. */
  readonly namesake: Resource | undefined;
  /** The stack, as `project/stack`, of which an interrupted run may have registered it or was to adopt it. */
  readonly claimant: string | undefined;
  /** By the service's clock, in milliseconds; undefined if the service does not say enough. */
  readonly ageMs: number | undefined;
  /** The url as it may be printed: only its host, if the program declared it as a secret. */
  readonly shownUrl: string;
}

/** Every endpoint that the service lists, with its owner. */
export interface Inventory {
  readonly entries: readonly Entry[];
  readonly list: EndpointList;
  readonly stacks: Stacks;
}

export interface InventoryOptions {
  readonly pulumi: Pulumi;
  /** Stacks of other projects to look in. */
  readonly alsoStacks: readonly string[];
  /** Default: "project". */
  readonly scope?: StackScope;
  readonly output: Output;
  readonly environment?: NodeJS.ProcessEnv;
}

/** Lists the endpoints of an account, then reads the states: what a run registers meanwhile is in a state by then. */
export async function takeInventory(
  account: Account,
  { pulumi, alsoStacks, scope, output, environment = process.env }: InventoryOptions,
): Promise<Inventory> {
  output.progress("Reading the endpoints and the states of all stacks…");
  const clock = systemClock;
  const service = new AccountService(account.client, clock);
  const list = await service.list();
  const stacks = await readStacks(pulumi, alsoStacks, scope);
  return inventoryOf(list, stacks, { account, service, pulumi, environment, clock });
}

export async function inventoryOf(
  list: EndpointList,
  stacks: Stacks,
  options: ClaimsOptions,
): Promise<Inventory> {
  const ownership = new Ownership(
    stacks.known.map(({ deployment }) => deployment),
    options.account.origin,
  );
  const unmanaged = list.endpoints.filter((endpoint) => ownership.managerOf(endpoint) === undefined);
  const claims = await claimsOn(unmanaged, stacks.known, options);
  const entries = list.endpoints.map((endpoint) => ({
    endpoint,
    manager: ownership.managerOf(endpoint),
    reader: ownership.readerOf(endpoint),
    namesake: ownership.namesakeOf(endpoint),
    claimant: claims.get(endpoint.id),
    ageMs: ageOf(endpoint, list.serverTime),
  }));
  // An unmanaged endpoint may have the same url as one whose url is a secret.
  const secretUrls = new Set(
    entries
      .filter(
        ({ manager, reader, namesake, claimant }) =>
          // The state of an interrupted run may encrypt the url.
          claimant !== undefined ||
          [manager, reader, namesake].some((resource) => resource !== undefined && hasSecretUrl(resource)),
      )
      .map(({ endpoint }) => endpoint.url),
  );
  const shownUrlOf = ({ url }: Endpoint) =>
    secretUrls.has(url) || hasCredentials(url) ? describeUrl(url) : url;
  return {
    entries: entries.map((entry) => ({ ...entry, shownUrl: shownUrlOf(entry.endpoint) })),
    list,
    stacks,
  };
}

/** Returns whether a url has a user name or a password. */
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
      `endpoints whose type is neither production nor development are not shown: ${list.unrecognized.map(({ id }) => id).join(", ")}`,
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
      "Only the host is shown of a url that a stack keeps as a secret, that an interrupted run may have registered, or that has a user name.",
    );
}

/** @throws CliError `OWNERSHIP_UNKNOWN` when a stack that may manage an endpoint was not read */
export function assertOwnershipKnown({ known, unreadable, absence }: Stacks): void {
  const reason = unreadable[0] ? `${unreadable[0].what} cannot be read: ${unreadable[0].why}` : absence;
  if (reason !== undefined && (unreadable.length > 0 || known.length === 0))
    throw new CliError(
      "OWNERSHIP_UNKNOWN",
      `cannot tell which endpoints are unmanaged, because ${reason}. Run the command in the folder of the Pulumi program, where ` +
        "every stack of its project can be read",
    );
}

/** Describes a resource by its project, its stack and its name. */
export function describeOwner({ urn }: Resource): string {
  const [stack = "", project = ""] = urn.replace(/^urn:pulumi:/, "").split("::");
  return `${nameOf(urn)} in ${project}/${stack}`;
}

/** Says why nothing else may have an endpoint. */
export function describeClaim(claimant: string): string {
  return `an interrupted run of ${claimant} may have registered it, or was to adopt it. Run \`npx webhook-endpoints recover\` and \`pulumi up\` there first`;
}

function ageOf({ createdAt }: Endpoint, serverTime: number | null): number | undefined {
  const created = parseTimestamp(createdAt);
  return serverTime === null || Number.isNaN(created) ? undefined : serverTime - created;
}
