import type { EndpointList } from "../../../client";
import { rowsOf } from "../../../client/endpoint";
import type { Existence } from "../../../provider/facts/existence";
import { wantedBy } from "../../../provider/facts/exportedState";
import { keyOf } from "../../../provider/facts/urlAndType";
import { quoted } from "../../../shared/commandLine";
import { foreign } from "../../../shared/escape";
import { namesOf } from "../../../shared/urn";
import { joined } from "../../../shared/words";
import { type Entry, type Inventory, unmanagedIn } from "../../inventory/inventory";
import type { StackResource } from "../../inventory/owner";
import { unlocking } from "../../inventory/runUnderWay";
import type { KnownStack } from "../../inventory/stacks";
import type { Account } from "../../withAccount";

/** A resource whose endpoint the service has confirmed to have no longer. */
export interface Gone extends StackResource {
  /** The one endpoint of its url and type, if no stack has that: somebody has registered it again. */
  readonly successor: Entry | undefined;
}

/**
 * Returns the endpoints of these stacks that the service has no longer. Only a complete list can show that.
 *
 * @param keys the fingerprints of those of today's account
 */
export async function goneOf(
  list: EndpointList,
  stacks: readonly KnownStack[],
  { origin: { baseUrl } }: Account,
  keys: ReadonlySet<string>,
  existence: Existence,
): Promise<StackResource[]> {
  if (!list.complete) return [];
  const listed = new Set(rowsOf(list).map(({ id }) => id));
  const missing = stacks.flatMap((stack) =>
    [...keys]
      .flatMap((account) => stack.state.expectedAt({ baseUrl, account }))
      .filter(({ id = "" }) => !listed.has(id))
      .map((resource) => ({ stack, resource })),
  );
  const asking = missing.map(({ resource: { id = "", outputs } }) => existence.find(id, { ...outputs }));
  const found = await Promise.all(asking);
  return missing.filter((_, at) => found[at] === undefined);
}

export function withSuccessors(missing: readonly StackResource[], inventory: Inventory): Gone[] {
  const free = unmanagedIn(inventory);
  return missing.map((each) => {
    const wanted = wantedBy(each.resource);
    const equal = free.filter(({ endpoint }) => wanted !== undefined && keyOf(endpoint) === keyOf(wanted));
    return { ...each, successor: equal.length === 1 ? equal[0] : undefined };
  });
}

/** Returns more sentences after one that names them; "" if none has a successor. */
export function describeSuccessors(gone: readonly Gone[]): string {
  return gone
    .flatMap((each) => {
      const { endpoint, shownUrl } = each.successor ?? {};
      if (endpoint === undefined) return [];
      return [
        `. ${foreign(endpoint.id)}, which no known stack has, has the url (${shownUrl}) and type of ${namesOf([each.resource])}`,
      ];
    })
    .join("");
}

/** Returns the command line that gives a stack its endpoints again. Without a refresh, what is gone counts as unchanged. */
export function restoring(gone: readonly Gone[], { name, work }: KnownStack): string {
  const unlock = unlocking(name, work);
  const ids = gone.flatMap(({ successor }) => successor?.endpoint.id ?? []);
  const up = `pulumi up --refresh --stack ${quoted(name)}`;
  const remark = "remove adoptId, if the program names one of them";
  if (ids.length === 0) return `${unlock}${up}   # ${remark}`;
  return `${unlock}WEBHOOKS_IF_EXISTS=adopt ${up}   # in one run, forgets what is gone and adopts ${joined(ids)}, unless another stack has ${ids.length === 1 ? "it" : "them"}; ${remark}`;
}
