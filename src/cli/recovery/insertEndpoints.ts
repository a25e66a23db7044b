import type { Endpoint } from "../../client";
import type { Deployment, Properties, Resource } from "../../settlement/deployment";
import type { Origin } from "../../endpoint/origin";
import { stateOf } from "../../endpoint/state";
import type { InterruptedRegistration } from "./registration";

/** The inputs that a resource's outputs repeat. */
const REPEATED_INPUTS: readonly string[] = ["__provider", "url", "type", "ip"];

/** An endpoint that an interrupted registration made. */
export interface FoundEndpoint {
  /** The resource as the interrupted operation holds it, its secrets encrypted. */
  readonly resource: Resource;
  readonly registration: InterruptedRegistration;
  readonly endpoint: Endpoint;
  readonly origin: Origin;
  /** The state already has what the program declares: the next `up` deletes this endpoint. */
  readonly surplus: boolean;
}

/**
 * Returns the state with each found endpoint in it, as the resource that the interrupted run would have recorded, and
 * without interrupted operations, which an import drops anyway. An older resource of the same URN is the one that the found
 * endpoint replaces: the next `up` deletes it. So it does with a surplus endpoint.
 *
 * @param found in the order of the state's interrupted operations: the latest first
 */
export function insertEndpoints(
  deployment: Deployment,
  found: readonly FoundEndpoint[],
  now: Date,
): Deployment {
  const resources = found.reduceRight(
    (before, each) => insert(before, each, now.toISOString()),
    deployment.resources ?? [],
  );
  return { ...deployment, resources, pending_operations: [] };
}

function insert(resources: readonly Resource[], found: FoundEndpoint, now: string): readonly Resource[] {
  const { resource, endpoint } = found;
  const made: Resource = {
    ...resource,
    id: endpoint.id,
    outputs: outputsOf(found),
    created: now,
    modified: now,
  };
  if (found.surplus) return [...resources, { ...made, delete: true }];
  const replaced = resources.findIndex(({ urn, delete: gone }) => urn === made.urn && gone !== true);
  const earliest = 1 + resources.findLastIndex((other) => mustFollow(made, other));
  if (replaced < 0) return resources.toSpliced(earliest, 0, made);
  return resources
    .map((other, index) => (index === replaced ? { ...other, delete: true } : other))
    .toSpliced(Math.max(replaced, earliest), 0, made);
}

/** Returns what the run would have recorded. Secret inputs stay encrypted, as the state holds them. */
function outputsOf({ resource: { inputs = {} }, registration, endpoint, origin }: FoundEndpoint): Properties {
  const held = Object.entries(inputs).filter(([name]) => REPEATED_INPUTS.includes(name));
  return { ...stateOf(endpoint, registration, origin), ...Object.fromEntries(held) };
}

/** Returns whether a resource depends on another, which the state must then list before it. */
function mustFollow(resource: Resource, { urn, id }: Resource): boolean {
  return (
    resource.parent === urn ||
    resource.provider === `${urn}::${id ?? ""}` ||
    (resource.dependencies ?? []).includes(urn) ||
    Object.values(resource.propertyDependencies ?? {}).some((urns) => urns.includes(urn))
  );
}
