import type { Endpoint } from "../../client";
import { foreign } from "../../shared/escape";
import type { Origin } from "../../shared/permanent";
import { nameOf } from "../../shared/urn";
import { quoted } from "../../shared/words";
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

/** Names a resource of another type that has an endpoint, or may have it. */
export function describeOwner({ kind, resource }: OtherOwner): string {
  const has = kind === "other" ? "has it" : "may have it: it holds something that the state encrypts";
  return `the resource ${foreign(JSON.stringify(nameOf(resource.urn)))} of the type ${foreign(resource.type)} ${has}`;
}

/** Says how such a resource hands its endpoint over. An alias does only if its outputs are called as those of an endpoint. */
export function howToHandOver({ resource: { type, urn, outputs } }: OtherOwner): string {
  const isAlike = outputs !== undefined && "url" in outputs && "type" in outputs;
  return isAlike
    ? "To hand it over without touching the service, give the new resource the same name and the option aliases: " +
        `[{ type: ${foreign(JSON.stringify(type))} }], and take the old one out of the program.`
    : `To hand it over without touching the service, run \`pulumi state delete ${quoted(urn)}\`, take the old resource out of the program, and ` +
        "let the new one adopt the endpoint.";
}
