import type { Endpoint, EndpointList } from "../client";
import type { EndpointInputs } from "./types";
import { describeUrl, normalizeUrl } from "./url";

/** What makes two endpoints alike: nothing else is known of an endpoint before it has an id. */
export type Identity = Pick<EndpointInputs, "url" | "type">;

export function keyOf({ url, type }: Identity): string {
  return `${type} ${normalizeUrl(url)}`;
}

const indexes = new WeakMap<EndpointList, Map<string, Endpoint[]>>();

/** The endpoints of a list with this url and type. A list may be long, and is asked for each registration. */
export function alike(list: EndpointList, identity: Identity): readonly Endpoint[] {
  let index = indexes.get(list);
  if (index === undefined) {
    index = new Map<string, Endpoint[]>();
    for (const endpoint of list.endpoints) {
      const key = keyOf(endpoint);
      const same = index.get(key);
      if (same) same.push(endpoint);
      else index.set(key, [endpoint]);
    }
    indexes.set(list, index);
  }
  return index.get(keyOf(identity)) ?? [];
}

/** What to say of the endpoints that a new one would be alike: as a warning, and where it is refused for them. */
export function describeAlike({ url, type }: Identity, ids: readonly string[], { own }: { own: boolean }) {
  const found =
    `the service already has ${ids.length === 1 ? "an endpoint" : `${ids.length} endpoints`} with this url ` +
    `(${describeUrl(url)}) and type (${type}): ${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ", …" : ""}.`;
  const ways = own
    ? "Another resource of this program has it: declare it once."
    : `To keep it, set adoptId: ${JSON.stringify(ids[0])}, or give a renamed resource an alias of the old name; after ` +
      "a killed run, `npx webhook-endpoints recover` finds what is the stack's own.";
  const consequence = `Another one is registered beside it, and events come twice${own ? "" : " unless this run deletes it"}.`;
  return {
    warning: `${found} ${consequence} ${ways}`,
    refusal: `${found} ifExists is "fail", so nothing was registered. ${ways} If it is this program's own, leave ifExists out of this run.`,
  };
}
