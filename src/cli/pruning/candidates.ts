import type { EndpointType } from "../../client";
import type { Entry, Inventory } from "../inventory";

export interface PruneRule {
  readonly olderThanMs: number;
  readonly type: EndpointType;
}

/** Why an unmanaged endpoint stays. */
export type Reason =
  | "other-type"
  | "younger"
  | "unknown-age"
  | "read-by-stack"
  | "same-id-with-other-key"
  | "pending-registration";

/** Returns why an endpoint stays, or undefined if it may be deleted. */
export function reasonToKeep(
  { endpoint, ageMs, reader, namesake, claimant }: Entry,
  { type, olderThanMs }: PruneRule,
): Reason | undefined {
  if (endpoint.type !== type) return "other-type";
  if (ageMs === undefined) return "unknown-age";
  if (ageMs <= olderThanMs) return "younger";
  if (reader !== undefined) return "read-by-stack";
  if (namesake !== undefined) return "same-id-with-other-key";
  return claimant === undefined ? undefined : "pending-registration";
}

/** Returns the endpoints that may be deleted. */
export function candidatesIn({ entries }: Inventory, rule: PruneRule): Entry[] {
  return entries.filter((entry) => entry.manager === undefined && reasonToKeep(entry, rule) === undefined);
}
