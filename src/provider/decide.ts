import type { Endpoint, EndpointList } from "../client";
import { sameUrl } from "../shared/url";
import { equalIn, type Identity } from "./identity";
import type { IfExists } from "./settings";
import { isInWindow, parseTimestamp } from "./time";

/** What a resource is to get: an endpoint with this url, type and ip. */
export type Wanted = Identity & {
  readonly ip?: string | null | undefined;
  readonly ifExists?: IfExists | undefined;
};

/** A registration that may have made an endpoint: of a pending resource, or an interrupted creation. */
export interface Evidence {
  /** The pending resource's id, or the URN of the interrupted creation. Evidence with one id stands for at most one endpoint. */
  readonly id: string;
  /** Undefined if the state encrypts it. */
  readonly ip: string | null | undefined;
  /** When it was sent, or the time after which it was sent, in milliseconds on the service's clock. Undefined: nothing dates it. */
  readonly serviceSentAt: number | undefined;
  /** The ids that were listed before it was sent, as far as somebody noted them. */
  readonly before: readonly string[];
}

export interface Question {
  readonly wanted: Wanted;
  readonly evidence: readonly Evidence[];
  readonly list: EndpointList;
  /** Returns whether a resource of the stack has an endpoint. */
  readonly isOwned: (endpoint: Pick<Endpoint, "id"> & Partial<Endpoint>) => boolean;
  /** How long after it was sent a registration may still be made, in milliseconds. */
  readonly graceMs: number;
  /** How long this question has waited already, in milliseconds. */
  readonly waitedMs?: number;
}

/** An endpoint as a message names it. */
export type Named = Pick<Endpoint, "id"> & Partial<Pick<Endpoint, "createdAt">>;

export type Decision =
  | { readonly kind: "take"; readonly endpoint: Endpoint; readonly by: Evidence }
  | { readonly kind: "doubt"; readonly endpoints: readonly Endpoint[]; readonly why: string }
  | { readonly kind: "unknowable" }
  | { readonly kind: "wait"; readonly milliseconds: number }
  | { readonly kind: "adopt"; readonly endpoint: Endpoint }
  /** `left`: how many endpoints of the account no resource of the stack has, with the rows that cannot be read. */
  | { readonly kind: "exists"; readonly endpoints: readonly Named[]; readonly left: number }
  | { readonly kind: "register"; readonly isListPartial: boolean };

/**
 * Decides what a list shows about a registration. Pure. It is the table of `docs/architecture.md`, row by row in this order, after the
 * first: what `adoptId` names, `create` adopts before it asks (`adopt.ts`).
 */
export function decide(question: Question): Decision {
  const { wanted, evidence, list, isOwned, graceMs } = question;
  const equal = equalIn(list, wanted).filter((endpoint) => !isOwned(endpoint));
  const fitting = evidence.filter((each) => equal.some((endpoint) => isFit(endpoint, each, graceMs)));
  const fits = equal
    .filter((endpoint) => fitting.some((each) => isFit(endpoint, each, graceMs)))
    .toSorted((a, b) => (parseTimestamp(a.createdAt) ?? 0) - (parseTimestamp(b.createdAt) ?? 0));

  const unreadable = list.unrecognized.filter((row) => !isOwned({ id: row.id }));
  const odd = unreadable.filter(({ url }) => url !== null && sameUrl(url, wanted.url));
  const isListPartial = !list.complete || unreadable.some(({ url }) => url === null);
  // Of a partial list, nothing shows that it is the only one.
  const isOnly = !isListPartial && odd.length === 0 && equal.length === 1;
  const [only] = wanted.ifExists === "adopt" && isOnly ? equal : [];

  const why = reasonToDoubt(fits, fitting, wanted);
  if (why !== undefined)
    return only ? { kind: "adopt", endpoint: only } : { kind: "doubt", endpoints: fits, why };

  const [endpoint] = fits;
  const by = fitting.find((each) => endpoint && isFit(endpoint, each, graceMs));
  if (endpoint && by) return { kind: "take", endpoint, by };

  if (evidence.length > 0) {
    const mayBeIt = unreadable
      .filter(({ url }) => url === null || sameUrl(url, wanted.url))
      .some(({ id }) => evidence.some(({ before }) => !before.includes(id)));
    if (!list.complete || mayBeIt) return { kind: "unknowable" };
    const milliseconds = timeLeft(question);
    if (milliseconds > 0) return { kind: "wait", milliseconds };
  }

  if (only) return { kind: "adopt", endpoint: only };
  if (equal.length + odd.length > 0) {
    // Rows that cannot be read count, too: nothing says that they are another's.
    const left = list.endpoints.filter((endpoint) => !isOwned(endpoint)).length + unreadable.length;
    return { kind: "exists", endpoints: [...equal, ...odd], left };
  }
  return { kind: "register", isListPartial };
}

/** Returns whether a registration may have made an endpoint, as far as the endpoint's time can be read. */
export function isFit(
  { id, createdAt }: Endpoint,
  { before, serviceSentAt }: Evidence,
  graceMs: number,
): boolean {
  const made = parseTimestamp(createdAt);
  const isInTime =
    made === undefined || serviceSentAt === undefined || isInWindow(made, serviceSentAt, graceMs);
  return isInTime && !before.includes(id);
}

function reasonToDoubt(
  fits: readonly Endpoint[],
  fitting: readonly Evidence[],
  { ip }: Wanted,
): string | undefined {
  const count = new Set(fitting.map(({ id }) => id)).size;
  if (fits.length > count)
    return `${fits.length} endpoints fit ${count === 1 ? "one registration" : `${count} registrations`}`;
  if (fitting.some((each) => each.ip !== (ip ?? null)))
    return "the registration had another ip, or one that the state encrypts, and the service tells no ip";
  if (fitting.some(({ serviceSentAt }) => serviceSentAt === undefined))
    return "nothing tells when the registration was sent";
  if (fits.some(({ createdAt }) => parseTimestamp(createdAt) === undefined))
    return "the service does not tell readably when an endpoint was created";
  return undefined;
}

/** Returns how long some registration may still be made, in milliseconds. No wait is longer than the grace period, whatever the clocks say. */
function timeLeft({ evidence, list: { serverTime }, graceMs, waitedMs = 0 }: Question): number {
  const atMost = graceMs - waitedMs;
  const left = evidence.map(({ serviceSentAt }) =>
    serviceSentAt === undefined || serverTime === null ? atMost : serviceSentAt + graceMs - serverTime,
  );
  return Math.min(Math.max(0, ...left), atMost);
}
