import type { Endpoint } from "../client";
import type { Pending } from "./decide";
import { type Deployment, endpointsIn, keyIn, plainText, type Resource } from "./deployment";
import { ipHash } from "./entry";
import { endpointsOf, type Verdict } from "./leftovers";
import { hasOwnEndpoint, isOvertaken, livingOf } from "./operations";
import { parseTimestamp } from "./time";
import { providerHashOf } from "./trace";

/**
 * What a verdict means to a person:
 * - `taken-over`: the next `up` takes the endpoint
 * - `unwanted`: a registration of the stack made the endpoint, and no resource will take it
 * - `in-doubt`: a person must say whether a registration of the stack made it
 * - `unknowable`: the service does not show enough
 * - `nothing`: no endpoint was made
 */
export type Category = "taken-over" | "unwanted" | "in-doubt" | "unknowable" | "nothing";

export function categoryOf(verdict: Verdict, deployment: Deployment): Category {
  const { decision, by } = verdict;
  const [endpoint] = endpointsOf(decision);
  if (endpoint === undefined) return decision.kind === "unknowable" ? "unknowable" : "nothing";
  if (isUnwanted(verdict, endpoint, deployment)) {
    const isProven = by.length === 1 && by[0]?.id === endpoint.id;
    if (decision.kind === "found" || isProven) return "unwanted";
  }
  return decision.kind === "found" ? "taken-over" : "in-doubt";
}

/**
 * Returns whether no resource will take an endpoint: an `up` did without, or the program's resource has been made since. Where the state no
 * longer has the operation, a resource that was to be replaced by an equal one shows it.
 */
function isUnwanted(
  { by, operations, resource }: Verdict,
  endpoint: Endpoint,
  deployment: Deployment,
): boolean {
  const isMadeSince = (operation: Resource) =>
    // A replacement leaves its older resource in the state.
    isOvertaken(operation, deployment) ||
    Date.parse(livingOf(operation, deployment)?.created ?? "") > parseTimestamp(endpoint.createdAt);
  const hasEqual = ({ entry, ip }: Pending) =>
    entry !== undefined &&
    endpointsIn(deployment).some(
      (each) =>
        hasOwnEndpoint(each) &&
        each.id !== endpoint.id &&
        keyIn(each) === entry.key &&
        ipHash(plainText(each.inputs, "ip")) === ip &&
        providerHashOf(each) === (entry.sentBy ?? entry.provider),
    );
  if (by.every(({ unwanted }) => unwanted === true)) return true;
  if (operations.length > 0) return operations.every(isMadeSince);
  return resource === undefined && by.every(hasEqual);
}
