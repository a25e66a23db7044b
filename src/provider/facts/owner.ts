import type { Endpoint } from "../../client";
import { quoted } from "../../shared/commandLine";
import { foreign } from "../../shared/escape";
import { nameOf } from "../../shared/urn";
import type { Context } from "../context";
import type { Resource } from "./exportedState";
import type { StackState } from "./stackState";

/**
 * Answers: whose is it? What this run knows comes first, then the state.
 *
 * - `own`: a `WebhookEndpoint` of this stack has it, or had it in this run. It is not equal to what another one wants, and no other registration made it
 * - `leaving`: as `own`, of a resource that is deleted as soon as its replacement stands. An `adoptId` may name it
 * - `deleted`: this run has deleted it, though a list may still show it. It counts as not there
 * - `otherType`: a resource of another type has it, which a stop names
 * - `perhapsOtherType`: a dynamic resource with its id holds something encrypted, so that it may have it. A stop names it
 * - `nobody`: no resource of this stack, as far as is known
 */
export type Owner =
  | { readonly kind: "own" | "leaving" | "deleted" | "nobody" }
  | { readonly kind: "otherType" | "perhapsOtherType"; readonly resource: Resource };

/** A resource of another type. */
export type OtherTypeOwner = Extract<Owner, { resource: Resource }>;

/** Whether no `WebhookEndpoint` of this stack has it, and it is there: what has the wanted url and type is then an equal endpoint. */
export function countsAsEqual({ kind }: Owner): boolean {
  return kind === "nobody" || kind === "otherType" || kind === "perhapsOtherType";
}

/** Whether a registration of this stack may have made it: nothing certainly has it. */
export function mayBeMadeHere({ kind }: Owner): boolean {
  return kind === "nobody" || kind === "perhapsOtherType";
}

/** Whether an `adoptId` must not name it. */
export function forbidsAdoption(owner: Owner): boolean {
  return owner.kind === "own" || isOtherType(owner);
}

export function isOtherType(owner: Owner): owner is OtherTypeOwner {
  return owner.kind === "otherType" || owner.kind === "perhapsOtherType";
}

export type OwnerOf = (endpoint: Pick<Endpoint, "id"> & Partial<Endpoint>) => Owner;

export function ownersIn(
  state: Pick<StackState, "holderOf"> | undefined,
  { endpoints, origin, graceMs }: Pick<Context, "endpoints" | "origin" | "graceMs">,
): OwnerOf {
  return (endpoint) => {
    const { id } = endpoint;
    if (endpoints.isDeleted(id)) return { kind: "deleted" };
    if (endpoints.isOurs(endpoint, graceMs)) return { kind: "own" };
    const holder = state?.holderOf(endpoint, { origin, graceMs });
    if (holder === undefined) return { kind: "nobody" };
    const { kind, resource } = holder;
    return kind === "own" ? { kind: resource.delete ? "leaving" : "own" } : { kind, resource };
  };
}

/** Names a resource of another type that has an endpoint, or may have it. */
export function describeOwner({ kind, resource }: OtherTypeOwner): string {
  const has = kind === "otherType" ? "has it" : "may have it: it holds something that the state encrypts";
  return `the resource ${foreign(JSON.stringify(nameOf(resource.urn)))} of the type ${foreign(resource.type)} ${has}`;
}

/** Says how such a resource hands its endpoint over. An alias does only if its outputs are called as those of an endpoint. */
export function howToHandOver({ resource: { type, urn, outputs } }: OtherTypeOwner): string {
  const isAlike = outputs !== undefined && "url" in outputs && "type" in outputs;
  return isAlike
    ? "To hand it over without touching the service, give the new resource the same name and the option aliases: " +
        `[{ type: ${foreign(JSON.stringify(type))} }], and take the old one out of the program.`
    : `To hand it over without touching the service, run \`pulumi state delete ${quoted(urn)}\`, take the old resource out of the program, and ` +
        "let the new one adopt the endpoint.";
}
