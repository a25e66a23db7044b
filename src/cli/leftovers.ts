import type { Endpoint } from "../client";
import { parseTimestamp } from "../endpoint/settlement";
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
  readonly times: Times;
  readonly now: () => number;
}

/** What came of each pending registration, in the state's order. @param plain the state with its secrets shown */
export async function findLeftovers(plain: Deployment, options: FindOptions): Promise<Finding[]> {
  const { accountOf, times, now } = options;
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
    // The endpoints' times are on the service's clock.
    const shift = skew - clockToleranceMs;
    const notBefore = times.notBefore + shift;
    findings.push(...match({ leftovers, list, known, notBefore, surelySince: times.surelySince + shift }));
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

/** When a killed run may have registered, on this machine's clock, in milliseconds. */
export interface Times {
  /** Not before this: the stack's oldest resource was made then. */
  readonly notBefore: number;
  /** What was made from here on is of that run: the run before it had ended. Infinity when that cannot be told. */
  readonly surelySince: number;
}

/**
 * A killed run leaves no record of its own beginning, nor which runs came after it. But only a run that was killed leaves a
 * state that is younger than the end of the last run that was not.
 */
export async function timesOf(pulumi: Pulumi, { resources = [], manifest }: Deployment): Promise<Times> {
  const history: { endTime?: string }[] = JSON.parse(
    await pulumi.output(["stack", "history", "--json", "--page-size", "1"]),
  );
  const created = resources.map((resource) => Date.parse(resource.created ?? "")).filter(Number.isFinite);
  const notBefore = created.length === 0 ? 0 : Math.min(...created);
  if (history.length === 0) return { notBefore, surelySince: notBefore };
  // Whole seconds.
  const ended = Date.parse(history[0]?.endTime ?? "");
  const killedSince = Date.parse(manifest?.time ?? "") >= ended + 1_000;
  return { notBefore, surelySince: killedSince ? ended : Number.POSITIVE_INFINITY };
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
  return same || Date.parse(own.created ?? "") > parseTimestamp(endpoint.createdAt);
}
