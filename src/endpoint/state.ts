import type { Endpoint } from "../client";
import type { Origin } from "./origin";
import type { EndpointInputs, EndpointState, PendingRegistration } from "./types";

/** The state of a pending registration. */
export type PendingState = EndpointState & { readonly pending: PendingRegistration };

/** Returns what the state holds about an endpoint. */
export function stateOf(
  { createdAt, updatedAt }: Pick<Endpoint, "createdAt" | "updatedAt">,
  { url, type, ip }: Pick<EndpointInputs, "url" | "type" | "ip">,
  origin: Origin,
): EndpointState {
  return { url, type, ip: ip ?? null, createdAt, updatedAt, ...origin };
}

/**
 * Returns whether properties come from the state. `.get` of an id passes none, and a missing endpoint is an error there (engine
 * rule 7). An entry of an import file has what its author wrote, which may be no more than url and type.
 */
export function isRecorded(properties: Partial<EndpointState>): properties is EndpointState {
  return properties.url !== undefined;
}

export function isPending(state: EndpointState): state is PendingState {
  return state.pending !== undefined;
}
