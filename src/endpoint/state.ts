import { randomUUID } from "node:crypto";
import type { Endpoint } from "../client";
import type { Origin } from "./origin";
import type { EndpointInputs, EndpointState, UnansweredRegistration } from "./types";

const PROVISIONAL_PREFIX = "pending:";

/** The state of a registration that got no answer. */
export type UnansweredState = EndpointState & { readonly pending: UnansweredRegistration };

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

export function isUnanswered(state: EndpointState): state is UnansweredState {
  return state.pending !== undefined;
}

/** Returns a new provisional id, for a registration that got no answer. */
export function provisionalId(): string {
  return `${PROVISIONAL_PREFIX}${randomUUID()}`;
}

export function isProvisional(id: string): boolean {
  return id.startsWith(PROVISIONAL_PREFIX);
}
