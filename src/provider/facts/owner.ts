import type { Endpoint } from "../../client";
import { foreign } from "../../shared/escape";
import type { Origin } from "../../shared/permanent";
import { nameOf } from "../../shared/urn";
import type { Endpoints } from "./endpoints";
import type { Resource } from "./resource";
import type { StackState } from "./stackState";

/**
 * Answers: whose is it? What this run knows comes first, then the state.
 *
 * - `own`: a resource of this stack has it. Such an endpoint is never equal to what another one wants, and no other one's evidence
 * - `leaving`: as `own`, of a resource that is deleted as soon as its replacement stands. An `adoptId` may name it
 * - `deleted`: this run has deleted it, though a list may still show it. It counts as not there
 * - `other`: a resource of another type has it: a stop names it
 * - `perhaps`: a dynamic resource with its id holds something encrypted. It only stops an adoption or a deletion, which names it
 * - `nobody`: no resource of this stack, as far as is known
 */
export type Owner =
  | { readonly kind: "own" | "leaving" | "deleted" | "nobody" }
  | { readonly kind: "other" | "perhaps"; readonly resource: Resource };

/** A resource of another type. */
export type OtherOwner = Extract<Owner, { resource: Resource }>;

export function isOther(owner: Owner): owner is OtherOwner {
  return owner.kind === "other" || owner.kind === "perhaps";
}

export type OwnerOf = (endpoint: Pick<Endpoint, "id"> & Partial<Endpoint>) => Owner;

export function ownersIn(
  state: Pick<StackState, "holderOf"> | undefined,
  { endpoints, origin }: { readonly endpoints: Endpoints; readonly origin: Origin },
): OwnerOf {
  return (endpoint) => {
    const { id } = endpoint;
    if (endpoints.isDeleted(id)) return { kind: "deleted" };
    if (endpoints.isOurs(id)) return { kind: "own" };
    const holder = state?.holderOf(endpoint, origin);
    if (holder === undefined) return { kind: "nobody" };
    const { kind, resource } = holder;
    return kind === "own" ? { kind: resource.delete ? "leaving" : "own" } : { kind, resource };
  };
}

/** Names a resource of another type that has an endpoint, or may have it, and the alias that hands it over. */
export function describeOwner({ kind, resource }: OtherOwner): string {
  const { type, urn } = resource;
  const has = kind === "other" ? "has it" : "may have it: it holds something that the state encrypts";
  const alias = `aliases: [{ type: ${foreign(JSON.stringify(type))} }]`;
  return (
    `the resource ${foreign(JSON.stringify(nameOf(urn)))} of the type ${foreign(type)} ${has}. To hand it over without touching the service, give the new resource ` +
    `that name and the option ${alias}, and take the old one out of the program`
  );
}
