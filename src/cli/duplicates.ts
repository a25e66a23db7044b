import type { Resource } from "../settlement/deployment";
import { keyOf } from "../settlement/identity";
import type { Entry, Inventory } from "./inventory";

/** Returns the unmanaged endpoints that have the same url and type as a managed one, each with the resource that manages that one. */
export function duplicatesIn({ entries }: Inventory): ReadonlyMap<Entry, Resource> {
  const managers = new Map(
    entries.flatMap(({ endpoint, manager }) =>
      manager === undefined ? [] : [[keyOf(endpoint), manager] as const],
    ),
  );
  return new Map(
    entries.flatMap((entry) => {
      const manager = managers.get(keyOf(entry.endpoint));
      // Whether a pending registration has made an endpoint is still open.
      const isOpen = entry.manager === undefined && entry.claimant === undefined;
      return manager === undefined || !isOpen ? [] : [[entry, manager] as const];
    }),
  );
}
