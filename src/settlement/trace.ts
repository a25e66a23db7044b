import type { Endpoint } from "../client";
import { keyIn, plainText, providerNameOf, type Resource } from "./deployment";
import { hashOf } from "./files";
import { keyHash } from "./identity";
import { isSameTime, placeIn, type Window } from "./time";

/** Where something was registered, as the book holds it. */
export interface OriginHashes {
  /** A hash of the base URL. */
  readonly service: string;
  /** The API key's fingerprint. */
  readonly fingerprint: string;
  /** A hash of the provider's name. */
  readonly provider: string;
}

/** The run, or the command, that asks what became of registrations. */
export interface Asker {
  readonly origin: OriginHashes;
  /** What all processes of one command of the engine have in common. */
  readonly run: string;
  /** What each provider of a command has for itself. */
  readonly sender: string;
  readonly timeoutMs: number;
  readonly patienceMs: number;
  /** The service's clock less this machine's, in milliseconds; null if unknown. */
  readonly skew: () => number | null;
  /** True for a person's command: overtaken operations count too, though nothing takes what they made, and what other keys sent. */
  readonly countsAll?: boolean;
}

type Unclear<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** What the state, the book or the service says of an endpoint. Undefined is unknown. */
export interface Trace extends Unclear<OriginHashes> {
  readonly id: string | null | undefined;
  /** The hash of url and type. */
  readonly key: string | undefined;
  readonly createdAt: string | null | undefined;
  /** When it was made, where `createdAt` does not tell. */
  readonly window?: Window | undefined;
}

/** Who has an endpoint. `unclear`: a resource has its id, perhaps in another account, or from before it was used again. */
export type Holder = "nobody" | "somebody" | "unclear";

export function originHashes(origin: {
  readonly baseUrl: string;
  readonly account: string;
  readonly provider?: string | undefined;
}): OriginHashes {
  const { baseUrl, account, provider = "" } = origin;
  return { service: hashOf(baseUrl), fingerprint: account, provider: hashOf(provider) };
}

export function providerHashOf(resource: Pick<Resource, "provider">): string {
  return hashOf(providerNameOf(resource) ?? "");
}

/** Returns whether two things were registered with one key at one base URL. */
export function isSameAccount(a: Unclear<OriginHashes>, b: Unclear<OriginHashes>): boolean {
  return isSame(a.service, b.service) && isSame(a.fingerprint, b.fingerprint);
}

export function traceOfResource(resource: Pick<Resource, "id" | "inputs" | "outputs">): Trace {
  const { id, inputs, outputs } = resource;
  const [baseUrl, fingerprint, createdAt] = ["baseUrl", "account", "createdAt"].map(
    (name) => plainText(outputs, name) ?? plainText(inputs, name),
  );
  const service = baseUrl === undefined ? undefined : hashOf(baseUrl);
  return { id, key: keyIn(resource), createdAt, service, fingerprint };
}

export function traceOfEndpoint(endpoint: Endpoint, origin: OriginHashes): Trace {
  return { ...origin, id: endpoint.id, key: keyHash(endpoint), createdAt: endpoint.createdAt };
}

/**
 * Returns whether somebody who says that it has an endpoint has this one. An id alone does not show it: ids may count for each account,
 * and be used again. Of one account, it takes the same url and type or the same time. `unclear` is what may be a coincidence.
 */
function compare(holder: Trace, endpoint: Trace): Holder {
  if (holder.id == null || holder.id !== endpoint.id) return "nobody";
  const isAlike = isSame(holder.key, endpoint.key);
  const isOwn = isSameAccount(holder, endpoint);
  switch (timesAgree(holder, endpoint)) {
    case true:
      return isOwn ? "somebody" : "unclear";
    case false:
      return isOwn && isAlike ? "unclear" : "nobody";
    case undefined:
      return isOwn && isAlike ? "somebody" : isOwn || isAlike ? "unclear" : "nobody";
  }
}

/** Returns who has an endpoint, of those who say that they have one. */
export function holderAmong(holders: readonly Trace[], endpoint: Trace): Holder {
  return strongest(...holders.map((each) => compare(each, endpoint)));
}

export function strongest(...holders: readonly Holder[]): Holder {
  return holders.includes("somebody") ? "somebody" : holders.includes("unclear") ? "unclear" : "nobody";
}

/** Returns whether two traces tell of one time; undefined when one of them does not tell. */
export function timesAgree(a: Trace, b: Trace): boolean | undefined {
  const same = isSameTime(a.createdAt, b.createdAt);
  if (same !== undefined) return same;
  const window = a.window ?? b.window;
  return window && placeIn(window, a.createdAt ?? b.createdAt) === "outside" ? false : undefined;
}

/** What is unknown may be the same. */
export function isSame(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}
