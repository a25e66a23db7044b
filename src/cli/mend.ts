import type { Endpoint } from "../client";
import type { Origin } from "../endpoint/origin";
import type { Deployment, Properties, Resource } from "./deployment";

export interface Claim {
  /** The resource as the pending operation holds it, its secrets encrypted. */
  readonly resource: Resource;
  readonly endpoint: Endpoint;
  /** Where it is, as the resource records it. */
  readonly origin: Origin;
  /** Whether the state's own resource of this URN is what the program declares by now, so that this one is a duplicate. */
  readonly duplicate: boolean;
}

/**
 * The state with a killed run's registrations in it: each as the resource that the run would have recorded. An older
 * resource of the same URN is what it was to replace, and is left for the next `up` to delete; so is the found one itself
 * where a later run has registered a new one by now.
 */
export function mend(deployment: Deployment, claims: readonly Claim[], now: Date): Deployment {
  let resources = deployment.resources ?? [];
  for (const claim of claims) resources = insert(resources, claim, now.toISOString());
  // What an import drops anyway: they are settled.
  return { ...deployment, resources, pending_operations: [] };
}

function insert(resources: readonly Resource[], claim: Claim, now: string): readonly Resource[] {
  const made: Resource = {
    ...claim.resource,
    id: claim.endpoint.id,
    outputs: outputsOf(claim),
    created: now,
    modified: now,
  };
  const replaced = resources.findIndex(({ urn, delete: gone }) => urn === made.urn && gone !== true);
  const earliest = 1 + resources.findLastIndex(({ urn, id }) => needs(made, urn, id));
  if (replaced < 0) return resources.toSpliced(earliest, 0, made);
  if (claim.duplicate) return [...resources, { ...made, delete: true }];
  const marked = resources.map((resource, index) =>
    index === replaced ? { ...resource, delete: true } : resource,
  );
  return marked.toSpliced(Math.max(replaced, earliest), 0, made);
}

function outputsOf({ resource: { inputs = {} }, endpoint, origin }: Claim): Properties {
  return {
    __provider: inputs.__provider,
    url: inputs.url,
    type: inputs.type,
    ip: inputs.ip ?? null,
    createdAt: endpoint.createdAt,
    updatedAt: endpoint.updatedAt,
    ...origin,
  };
}

/** Whether a resource must stand after another: the state is in the order of dependencies. */
function needs(resource: Resource, urn: string, id: string | undefined): boolean {
  return (
    resource.parent === urn ||
    resource.provider === `${urn}::${id ?? ""}` ||
    (resource.dependencies ?? []).includes(urn) ||
    Object.values(resource.propertyDependencies ?? {}).some((urns) => urns.includes(urn))
  );
}
