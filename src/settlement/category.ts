import type { Endpoint } from "../client";
import type { Pending } from "./decide";
import { type Deployment, endpointsIn, keyIn, plainText, type Resource } from "./deployment";
import { ipHash } from "./entry";
import { endpointsOf, isInState, type Verdict } from "./leftovers";
import { hasOwnEndpoint, isOvertaken, livingOf } from "./operations";
import { parseTimestamp } from "./time";
import { providerHashOf } from "./trace";

/**
 * What a verdict means to a person:
 * - `taken-over`: the next `up` takes the endpoint
 * - `perhaps-taken-over`: it does if the program declares a resource for it that the state lacks. The state has an equal one, so the
 *   registration may have been to replace that, and nothing tells any more
 * - `unwanted`: a registration of the stack made the endpoint, and no resource will take it
 * - `in-doubt`: a person must say whether a registration of the stack made it
 * - `unknowable`: the service does not show enough
 * - `nothing`: no endpoint was made
 */
export type Category =
  | "taken-over"
  | "perhaps-taken-over"
  | "unwanted"
  | "in-doubt"
  | "unknowable"
  | "nothing";

export function categoryOf(verdict: Verdict, deployment: Deployment): Category {
  const { decision, by } = verdict;
  const [endpoint] = endpointsOf(decision);
  if (endpoint === undefined) return decision.kind === "unknowable" ? "unknowable" : "nothing";
  if (isUnwanted(verdict, endpoint, deployment)) {
    const isProven = by.length === 1 && by[0]?.id === endpoint.id;
    if (decision.kind === "found" || isProven) return "unwanted";
  }
  if (decision.kind !== "found") return "in-doubt";
  return hasEqual(verdict, endpoint, deployment) ? "perhaps-taken-over" : "taken-over";
}

/** Returns whether no resource will take an endpoint: an `up` did without, or the program's resource has been made since. */
function isUnwanted({ by, operations }: Verdict, endpoint: Endpoint, deployment: Deployment): boolean {
  const isMadeSince = (operation: Resource) =>
    // A replacement leaves its older resource in the state.
    isOvertaken(operation, deployment) ||
    Date.parse(livingOf(operation, deployment)?.created ?? "") > parseTimestamp(endpoint.createdAt);
  return (
    by.every(({ unwanted }) => unwanted === true) || (operations.length > 0 && operations.every(isMadeSince))
  );
}

/** Returns whether only the book tells of a registration, and the state has a resource with the same url, type, ip and provider. */
function hasEqual(verdict: Verdict, endpoint: Endpoint, deployment: Deployment): boolean {
  const isEqual = ({ entry, ip }: Pending, each: Resource) =>
    keyIn(each) === entry?.key &&
    ipHash(plainText(each.inputs, "ip")) === ip &&
    providerHashOf(each) === (entry?.sentBy ?? entry?.provider);
  const others = endpointsIn(deployment).filter((each) => hasOwnEndpoint(each) && each.id !== endpoint.id);
  return !isInState(verdict) && verdict.by.every((pending) => others.some((each) => isEqual(pending, each)));
}
