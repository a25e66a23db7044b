import type { Endpoint, EndpointList } from "../client";
import type { EndpointInputs } from "./types";
import { describeUrl, normalizeUrl } from "./url";

/** What makes two endpoints alike. Before an endpoint has an id, nothing else identifies it. */
export type Identity = Pick<EndpointInputs, "url" | "type">;

/** Returns one string for all spellings of a url, and the type. */
export function keyOf({ url, type }: Identity): string {
  return `${type} ${normalizeUrl(url)}`;
}

const indexes = new WeakMap<EndpointList, Map<string, Endpoint[]>>();

/** Returns the endpoints of a list with this url and type. Each list is indexed once: it may be long, and each registration asks. */
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

/** Describes the endpoints that a new one would duplicate, as a warning and as the reason of a refusal. */
export function describeAlike({ url, type }: Identity, ids: readonly string[], { own }: { own: boolean }) {
  const found =
    `the service already has ${ids.length === 1 ? "an endpoint" : `${ids.length} endpoints`} with this url ` +
    `(${describeUrl(url)}) and type (${type}): ${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ", …" : ""}.`;
  const ways = own
    ? "Another resource of this program already manages it. Remove one of the two."
    : `To keep it, set adoptId: ${JSON.stringify(ids[0])}, or give a renamed resource an alias of its old name. If a ` +
      "killed run registered it, `npx webhook-endpoints recover` adds it to the state.";
  const consequence = `This run registers another one. Each event will then be delivered twice${own ? "" : ", unless this run deletes the existing endpoint"}.`;
  return {
    warning: `${found} ${consequence} ${ways}`,
    refusal: `${found} ifExists is "fail", so nothing was registered. ${ways}${own ? "" : " If the endpoint belongs to this program, remove ifExists for one run."}`,
  };
}
