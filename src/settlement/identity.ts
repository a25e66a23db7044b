import { randomUUID } from "node:crypto";
import type { Endpoint, EndpointList } from "../client";
import { normalizeUrl } from "../shared/url";
import { hashOf } from "./files";

/** What makes two endpoints alike. Before an endpoint has an id, nothing else identifies it. */
export type Identity = Pick<Endpoint, "url" | "type">;

/** What a resource or a person asks for: an endpoint with this url, type and ip. */
export type Wanted = Identity & {
  readonly ip?: string | null | undefined;
};

/** Returns one string for all spellings of a url, and the type. */
export function keyOf({ url, type }: Identity): string {
  return `${type} ${normalizeUrl(url)}`;
}

/** Returns the hash under which files name a url and type. */
export function keyHash(identity: Identity): string {
  return hashOf(keyOf(identity));
}

/** Returns whether two ids may be one: a service may spell a GUID in two ways. What may be somebody's is not deleted. */
export function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
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

const PROVISIONAL_PREFIX = "pending:";

/** Returns a new provisional id, for a registration whose outcome is unknown. */
export function provisionalId(): string {
  return `${PROVISIONAL_PREFIX}${randomUUID()}`;
}

export function isProvisional(id: string): boolean {
  return id.startsWith(PROVISIONAL_PREFIX);
}
