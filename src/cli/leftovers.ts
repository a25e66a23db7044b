import type { Endpoint } from "../client";
import type { Account } from "./accounts";
import { type Deployment, isPendingRegistration, plainText, type Resource } from "./deployment";
import { type Finding, type Leftover, match } from "./match";
import { CliError, type Pulumi } from "./pulumi";

/** How far the clocks of this machine and of the service may be apart after they were compared, in milliseconds. */
const clockToleranceMs = 5_000;

/** The pending registrations of a state, in its order. */
export function pendingRegistrations(deployment: Deployment): Resource[] {
  return (deployment.pending_operations ?? []).filter(isPendingRegistration).map(({ resource }) => resource);
}

export interface FindOptions {
  readonly accountOf: (resource: Resource) => Account;
  /** The last moment that is known to lie before the killed run, on this machine's clock, in milliseconds. */
  readonly after: number;
  readonly now: () => number;
}

/** What came of each pending registration, in the state's order. @param plain the state with its secrets shown */
export async function findLeftovers(plain: Deployment, options: FindOptions): Promise<Finding[]> {
  const { accountOf, after, now } = options;
  const byAccount = new Map<Account, Leftover[]>();
  for (const [index, resource] of pendingRegistrations(plain).entries()) {
    const account = accountOf(resource);
    byAccount.set(account, [...(byAccount.get(account) ?? []), leftoverOf(resource, index)]);
  }
  const known = new Set((plain.resources ?? []).flatMap(({ id }) => (id === undefined ? [] : [id])));
  const findings: Finding[] = [];
  for (const [{ client }, leftovers] of byAccount) {
    const list = await client.list();
    const skew = list.serverTime === null ? 0 : list.serverTime - now();
    findings.push(...match({ leftovers, list, known, notBefore: after + skew - clockToleranceMs }));
  }
  return findings.sort((a, b) => a.leftover.index - b.leftover.index);
}

function leftoverOf(resource: Resource, index: number): Leftover {
  const { urn, inputs } = resource;
  const url = plainText(inputs, "url");
  const type = plainText(inputs, "type");
  if (url === undefined || (type !== "production" && type !== "development"))
    throw new CliError(
      "STATE_UNREADABLE",
      `the pending registration of ${urn} has no url or type that can be read`,
    );
  return { index, urn, url, type, ip: plainText(inputs, "ip") };
}

/**
 * The last moment that is known to lie before the killed run: the end of the run before it, or when the stack's oldest
 * resource was made, whichever is later. A killed run leaves no record of its own beginning.
 */
export async function lastKnownMoment(pulumi: Pulumi, { resources = [] }: Deployment): Promise<number> {
  const history: { endTime?: string }[] = JSON.parse(
    await pulumi.output(["stack", "history", "--json", "--page-size", "1"]),
  );
  const created = resources.map((resource) => Date.parse(resource.created ?? "")).filter(Number.isFinite);
  const ended = Date.parse(history[0]?.endTime ?? "");
  return Math.max(Number.isNaN(ended) ? 0 : ended, created.length === 0 ? 0 : Math.min(...created));
}

/**
 * Whether the state's own resource of the same URN is what the program declares by now: it has the same arguments, or was
 * made after the endpoint. Then the endpoint is a duplicate, and otherwise the replacement of that resource.
 */
export function isDuplicate(
  { url, type, ip, urn }: Leftover,
  endpoint: Endpoint,
  plain: Deployment,
): boolean {
  const own = (plain.resources ?? []).find((resource) => resource.urn === urn && resource.delete !== true);
  if (own === undefined) return false;
  const same =
    plainText(own.inputs, "url") === url &&
    plainText(own.inputs, "type") === type &&
    plainText(own.inputs, "ip") === ip;
  return same || Date.parse(own.created ?? "") > Date.parse(endpoint.createdAt ?? "");
}
