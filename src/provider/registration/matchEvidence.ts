import type { Endpoint, EndpointList } from "../../client";
import { sameUrl } from "../../shared/url";
import type { Wanted } from "../facts/exportedState";
import { describeOwner, isOtherType, mayBeMadeHere, type OwnerOf } from "../facts/owner";
import { type Evidence, isFit } from "../facts/registrationEvidence";
import { nearlySameUrl } from "../facts/same";
import { parseTimestamp } from "../facts/time";

/** What is known about a resource that is to get an endpoint. */
export interface Known {
  /** What may have made an endpoint for the resource. */
  readonly evidence: readonly Evidence[];
  readonly ownerOf: OwnerOf;
  /** Returns whether another resource of this stack that is to get an endpoint declares this url: not nearly, but in any normal spelling. */
  readonly declares: (url: string) => boolean;
  /** Whether the resource's `adoptId` has no effect any more: it has an endpoint, or had this `adoptId` before. */
  readonly isSpent: boolean;
}

/** What fits together: some evidence, and the endpoints that it may have made. */
interface Fits {
  /** What was sent first comes first. */
  readonly evidence: readonly Evidence[];
  /** The oldest comes first. */
  readonly endpoints: readonly Endpoint[];
}

/** A registration made this endpoint: the evidence is of it. */
export interface Take {
  readonly kind: "take";
  readonly endpoint: Endpoint;
  readonly by: Evidence;
}

/** A registration may have made one of these endpoints. */
export interface Doubt {
  readonly kind: "doubt";
  readonly endpoints: readonly Endpoint[];
  readonly why: string;
}

/**
 * Returns what evidence shows in a list: what its registration certainly made, that this is in doubt and why, or nothing.
 *
 * @param equal the endpoints of the list with this url and type that no `WebhookEndpoint` of the stack has
 */
export function matchEvidence(
  wanted: Wanted,
  equal: readonly Endpoint[],
  { list, graceMs }: { readonly list: EndpointList; readonly graceMs: number },
  { evidence, ownerOf, declares }: Known,
): Take | Doubt | undefined {
  const mayBeIt = (endpoint: Endpoint) => mayBeMadeHere(ownerOf(endpoint));
  const fits = fitsOf(equal.filter(mayBeIt), evidence, graceMs);
  const holder = fits.endpoints.map(ownerOf).find(isOtherType);
  const why = holder ? describeOwner(holder) : reasonToDoubt(fits, wanted, graceMs);
  if (why !== undefined) return { kind: "doubt", endpoints: fits.endpoints, why };
  const [endpoint] = fits.endpoints;
  const by = fits.evidence.find((each) => endpoint && isFit(endpoint, each, graceMs));
  if (endpoint && by) return { kind: "take", endpoint, by };
  const near = list.endpoints.filter((each) => isNear(each, wanted) && mayBeIt(each) && !declares(each.url));
  const nearFits = fitsOf(near, evidence, graceMs).endpoints;
  if (nearFits.length === 0) return undefined;
  return {
    kind: "doubt",
    endpoints: nearFits,
    why: "the service may have stored the url in another spelling",
  };
}

function fitsOf(endpoints: readonly Endpoint[], evidence: readonly Evidence[], graceMs: number): Fits {
  const fitting = evidence
    .filter((each) => endpoints.some((endpoint) => isFit(endpoint, each, graceMs)))
    .toSorted(byTime(({ earliestSentAt }) => earliestSentAt ?? Number.MAX_VALUE));
  const fits = endpoints
    .filter((endpoint) => fitting.some((each) => isFit(endpoint, each, graceMs)))
    .toSorted(byTime(({ createdAt }) => parseTimestamp(createdAt) ?? 0));
  return { evidence: fitting, endpoints: fits };
}

function byTime<T>(timeOf: (each: T) => number): (a: T, b: T) => number {
  return (a, b) => timeOf(a) - timeOf(b);
}

function isNear({ url, type }: Endpoint, wanted: Wanted): boolean {
  return type === wanted.type && !sameUrl(url, wanted.url) && nearlySameUrl(wanted.url, url);
}

/**
 * Returns whether each endpoint may come of a registration of its own. The first in time gets the one whose window ends first: if that leaves
 * none for another one, no other choice would help.
 */
function isExplained({ evidence, endpoints }: Fits, graceMs: number): boolean {
  const taken = new Set<string>();
  return endpoints.every((endpoint) => {
    const by = evidence.find((each) => !taken.has(each.id) && isFit(endpoint, each, graceMs));
    if (by) taken.add(by.id);
    return by !== undefined;
  });
}

function reasonToDoubt(fits: Fits, { ip }: Wanted, graceMs: number): string | undefined {
  const { evidence, endpoints } = fits;
  if (!isExplained(fits, graceMs)) {
    const count = new Set(evidence.map(({ id }) => id)).size;
    if (endpoints.length <= count) return "some registrations fit more endpoints than they can have made";
    return `${endpoints.length} endpoints fit ${count === 1 ? "one registration" : `${count} registrations`}`;
  }
  if (evidence.some((each) => each.ip !== (ip ?? null)))
    return "the registration had another ip, or one that the state encrypts, and the service tells no ip";
  if (evidence.some(({ earliestSentAt }) => earliestSentAt === undefined))
    return "nothing tells when the registration was sent";
  if (endpoints.some(({ createdAt }) => parseTimestamp(createdAt) === undefined))
    return "the service does not tell readably when an endpoint was created";
  return undefined;
}
