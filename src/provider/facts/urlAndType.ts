import type { Endpoint, EndpointList } from "../../client";
import { normalizeUrl } from "../../shared/url";

/** What a resource wants of its endpoint, and all that tells which one that is before it has an id. */
export type UrlAndType = Pick<Endpoint, "url" | "type">;

/** Returns one string for all spellings of a url, and the type. */
export function keyOf({ url, type }: UrlAndType): string {
  return `${type} ${normalizeUrl(url)}`;
}

const indexes = new WeakMap<EndpointList, Map<string, Endpoint[]>>();

/** Returns the endpoints of a list with this url and type, whoever has them. Each list is indexed once: it may be long. */
export function endpointsLike(list: EndpointList, wanted: UrlAndType): readonly Endpoint[] {
  let index = indexes.get(list);
  if (index === undefined) {
    index = new Map();
    for (const endpoint of list.endpoints) {
      const key = keyOf(endpoint);
      const known = index.get(key);
      if (known) known.push(endpoint);
      else index.set(key, [endpoint]);
    }
    indexes.set(list, index);
  }
  return index.get(keyOf(wanted)) ?? [];
}
