import type { Endpoint, EndpointList, EndpointType } from "../client";
import { parseTimestamp } from "../endpoint/settlement";
import { sameUrl } from "../endpoint/url";

/** A registration that a killed run may or may not have made. */
export interface Leftover {
  /** Which of the stack's pending registrations it is. */
  readonly index: number;
  readonly urn: string;
  readonly url: string;
  readonly type: EndpointType;
  readonly ip: string | undefined;
}

/**
 * - `found`: this endpoint came of it
 * - `nothing`: it was never made
 * - `unclear`: a person must say which of the candidates it is, if any
 */
export type Finding =
  | { readonly kind: "found"; readonly leftover: Leftover; readonly endpoint: Endpoint }
  | { readonly kind: "nothing"; readonly leftover: Leftover }
  | {
      readonly kind: "unclear";
      readonly leftover: Leftover;
      readonly candidates: readonly Endpoint[];
      readonly why: string;
    };

export interface MatchOptions {
  /** Registrations of one account. */
  readonly leftovers: readonly Leftover[];
  readonly list: EndpointList;
  /** The ids that the stack has already. */
  readonly known: ReadonlySet<string>;
  /** On the service's clock, in milliseconds: no endpoint that is older came of them. */
  readonly notBefore: number;
  /** The same, from when on an endpoint surely did; Infinity when that is not known. */
  readonly surelySince: number;
}

/** What came of each registration: endpoints of its url and type that the stack does not know and that are young enough. */
export function match({ leftovers, list, known, notBefore, surelySince }: MatchOptions): Finding[] {
  return groups(leftovers).flatMap((group) => {
    const [first] = group;
    const possible = list.endpoints.filter(
      (endpoint) =>
        endpoint.type === first.type &&
        sameUrl(endpoint.url, first.url) &&
        !known.has(endpoint.id) &&
        // One whose time cannot be read may be any age.
        !(parseTimestamp(endpoint.createdAt) < notBefore),
    );
    const sure = possible.filter(({ createdAt }) => !(parseTimestamp(createdAt) < surelySince));
    const candidates = sure.length > 0 ? sure : possible;
    const unclear = (why: string): Finding[] =>
      group.map((leftover) => ({ kind: "unclear", leftover, candidates, why }));

    if (!list.complete) return unclear("the service lists only a part of its endpoints");
    if (candidates.length === 0) return group.map((leftover) => ({ kind: "nothing", leftover }));
    if (sure.length === 0) return unclear("it may also be older, or of a run that has ended since");
    if (candidates.some(({ createdAt }) => Number.isNaN(parseTimestamp(createdAt))))
      return unclear("the service does not say when the endpoint was made");
    if (candidates.length > group.length)
      return unclear(`${candidates.length} endpoints are there for ${group.length} registrations`);
    // Equal registrations take equal endpoints in any order. The service does not tell an endpoint's ip.
    if (candidates.length < group.length || group.length > 1) {
      if (group.some(({ ip }) => ip !== first.ip))
        return unclear("the registrations differ in ip, which the service does not tell");
    }
    return group.map((leftover, index) => {
      const endpoint = candidates[index];
      return endpoint ? { kind: "found", leftover, endpoint } : { kind: "nothing", leftover };
    });
  });
}

type NonEmpty<T> = [T, ...T[]];

/** The registrations that only their order tells apart. */
function groups(leftovers: readonly Leftover[]): NonEmpty<Leftover>[] {
  const result: NonEmpty<Leftover>[] = [];
  for (const leftover of leftovers) {
    const group = result.find(([{ url, type }]) => type === leftover.type && sameUrl(url, leftover.url));
    if (group) group.push(leftover);
    else result.push([leftover]);
  }
  return result;
}
