import type { Endpoint, EndpointList } from "../../client";
import { sameUrl } from "../../shared/url";
import type { Evidence } from "../facts/evidence";
import { countsAsEqual, forbidsAdoption, isOtherType, type OtherTypeOwner, type Owner } from "../facts/owner";
import type { Wanted } from "../facts/resource";
import { nearlySameUrl } from "../facts/same";
import type { Proof } from "../facts/stack";
import { LAG_MS } from "../facts/time";
import { endpointsLike } from "../facts/urlAndType";
import type { IfExists } from "../settings";
import { type Doubt, type Known, matchEvidence, type Take } from "./match";

/** What the rule is asked. */
export type Wish =
  /** What does a resource get that is created? */
  | {
      readonly verb: "create";
      readonly wanted: Wanted;
      readonly adoptId?: string | undefined;
      readonly ifExists: IfExists;
    }
  /** What did a registration without a response make: that of a pending resource which is read or deleted, or one of this run? */
  | { readonly verb: "settle"; readonly wanted: Wanted };

/** What the rule decides on. */
export interface Facts {
  readonly list: EndpointList;
  /** What `adoptId` names, as a get shows it; undefined if there is none. */
  readonly named?: Endpoint | undefined;
  /** What this run knows and the state says. */
  readonly known: Known;
  /** What this run knows without the state. Only a create may need a proof, so only that has it. */
  readonly withoutState?: Known | undefined;
  /**
   * Whether the state is this stack's: a second look (`stack.ts`) shows this run at work in it, or it can only be this one's. Undefined: nobody has
   * asked yet, and the state counts in full. So evidence of a state that may be another stack's can stop a create or make it wait, but gives it
   * nothing that it would not get without the state. Not proven: `withoutState` counts, and `ifExists: "adopt"` adopts nothing. (An adoption that
   * needed no proof asks for one afterwards, and goes on without.)
   */
  readonly proof?: Proof | undefined;
  /** How long after it was sent a registration may still be made, in milliseconds. */
  readonly graceMs: number;
  /** How long after the first list of this question this one was sent, in milliseconds. */
  readonly waitedMs: number;
}

/** An endpoint as a message names it. */
export type Shown = Pick<Endpoint, "id"> & Partial<Pick<Endpoint, "createdAt">>;

/** What stops a registration. */
export type Stop =
  | { readonly kind: "missing"; readonly id: string }
  | { readonly kind: "mismatch"; readonly endpoint: Endpoint }
  | {
      readonly kind: "taken";
      readonly endpoint: Endpoint;
      readonly owner: Owner;
    }
  /**
   * Evidence fits something, or nothing but nearly something, and nothing shows for certain what it made. `match.ts` has the reasons, such as two
   * endpoints for one registration, or no date.
   */
  | Doubt
  /** `isStale`: a get has shown that the list is. Otherwise the list says that it is partial, or has a row that cannot be read. */
  | { readonly kind: "unknowable"; readonly isStale: boolean }
  /**
   * `left`: how many endpoints of the account no resource of the stack has, with the rows that cannot be read. `owner`: a resource of another
   * type that has one of these, or may have it.
   */
  | {
      readonly kind: "exists";
      readonly endpoints: readonly Shown[];
      readonly left: number;
      readonly owner: OtherTypeOwner | undefined;
    };

export type Decision =
  | Stop
  /**
   * The endpoint that an earlier registration made, and the evidence of that registration. If several endpoints fit, it is the oldest, and there are
   * registrations enough for all of them: otherwise it is a `doubt`.
   */
  | Take
  /** The endpoint that the user named, or let the resource adopt. */
  | { readonly kind: "adopt"; readonly endpoint: Endpoint }
  | { readonly kind: "wait"; readonly milliseconds: number }
  /** `mayLackEqual`: the list is partial, or has a row without a readable url. `despite`: the stop that `ifExists: "register"` overrules. */
  | { readonly kind: "register"; readonly mayLackEqual: boolean; readonly despite: Stop | undefined }
  /** The registration that was to be settled made nothing. */
  | { readonly kind: "none" };

/**
 * Decides what a resource gets. Pure: it is the table of `docs/architecture.md`, row by row in this order. `conclusion.ts` looks at two answers once
 * more: it asks for what is taken over or adopted; and before "register" or "none" it asks whether the list is stale, which makes that `unknowable`.
 *
 * @returns the decision, and whether it needs a proof that the state is this stack's: without what only the state says, the resource would get
 *   another endpoint, or none, or would be stopped. (Taking over and adopting the same endpoint are the same here.) A stop and a wait need none,
 *   unless the state alone says whether the `adoptId` is spent. (An adoption in a `create` asks for one after this, too, before other stacks are
 *   read. If there is none, they are not read, and the decision stays)
 */
export function decide(wish: Wish, facts: Facts): { decision: Decision; needsProof: boolean } {
  const { known, withoutState = known, proof } = facts;
  if (proof?.proven === false) return { decision: ruleFor(wish, facts, withoutState), needsProof: false };
  const decision = ruleFor(wish, facts, known);
  if (proof !== undefined || wish.verb !== "create") return { decision, needsProof: false };
  if (wish.adoptId !== undefined && known.isSpent !== withoutState.isSpent)
    return { decision, needsProof: true };
  if (isStop(decision) || decision.kind === "wait") return { decision, needsProof: false };
  const other = ruleFor(wish, facts, withoutState);
  const isSame = !isStop(other) && endpointOf(other) === endpointOf(decision);
  return { decision, needsProof: !isSame };
}

/** A kind that is missing here does not compile: a stop that counted as none would be followed by a registration. */
const STOPS: { readonly [K in Decision["kind"]]: K extends Stop["kind"] ? true : false } = {
  missing: true,
  mismatch: true,
  taken: true,
  doubt: true,
  unknowable: true,
  exists: true,
  take: false,
  adopt: false,
  wait: false,
  register: false,
  none: false,
};

export function isStop(decision: Decision): decision is Stop {
  return STOPS[decision.kind];
}

/** Returns the endpoint that a decision gives the resource, if it gives it one that is there. */
export function endpointOf(decision: Decision): Endpoint | undefined {
  return decision.kind === "take" || decision.kind === "adopt" ? decision.endpoint : undefined;
}

/** @param known what counts: with the state, or without it */
function ruleFor(wish: Wish, facts: Facts, known: Known): Decision {
  const { wanted } = wish;
  const { list } = facts;
  const { evidence, ownerOf } = known;
  const { adoptId, ifExists } = wish.verb === "create" ? wish : {};
  if (adoptId !== undefined && !known.isSpent) return adoption(adoptId, wanted, facts, known);

  // Of this url and type, and no `WebhookEndpoint` of this stack has it: so of two, one of them this stack's own, the other is the only equal one.
  // What a resource of another type has, or may have, is equal. What this run has deleted is not.
  const equal = endpointsLike(list, wanted).filter((endpoint) => countsAsEqual(ownerOf(endpoint)));
  // Of the rows that cannot be read, only those drop out whose id a `WebhookEndpoint` of this stack has, or that this run has deleted.
  // (A row without an id is not among them: it makes the list partial.)
  const unreadable = list.unrecognized.filter(({ id }) => countsAsEqual(ownerOf({ id })));
  const unreadableEqual = unreadable.filter(({ url }) => url !== null && sameUrl(url, wanted.url));
  const mayLackEqual = !list.complete || unreadable.some(({ url }) => url === null);
  const register = (despite?: Stop): Decision => ({ kind: "register", mayLackEqual, despite });
  const stop = (reason: Stop) => (ifExists === "register" ? register(reason) : reason);
  // Adopted is the only equal one, and only if it is nobody's: beside one of a resource of another type, nothing is adopted. Of a partial list,
  // nothing shows that it is the only equal one. Where a proof was needed and there is none, the state may be another stack's,
  // and does not show that it is nobody's here; one that cannot be read hides only what this run does not touch.
  const mayAdopt = ifExists === "adopt" && facts.proof?.proven !== false;
  const isOnlyEqual = mayAdopt && !mayLackEqual && unreadableEqual.length === 0 && equal.length === 1;
  const [adoptable] = isOnlyEqual ? equal.filter((each) => ownerOf(each).kind === "nobody") : [];

  // In doubt: fits that are not certain, or no fit and one that nearly is.
  const shown = evidence.length > 0 ? matchEvidence(wanted, equal, facts, known) : undefined;
  if (shown?.kind === "doubt") return adoptable ? { kind: "adopt", endpoint: adoptable } : stop(shown);
  if (shown !== undefined) return shown;

  if (evidence.length > 0) {
    // An interrupted creation noted no ids, so each such row may be its own.
    const mayBeIt = unreadable
      .filter(({ url }) => url === null || sameUrl(url, wanted.url))
      .some(({ id }) => evidence.some(({ before }) => !before.has(id)));
    if (!list.complete || mayBeIt) return stop({ kind: "unknowable", isStale: false });
    const milliseconds = timeLeft(evidence, facts);
    if (milliseconds > 0) return { kind: "wait", milliseconds };
  }
  // From here on, the evidence has made nothing: as without any.
  if (wish.verb === "settle") return { kind: "none" };
  if (adoptable) return { kind: "adopt", endpoint: adoptable };
  if (equal.length + unreadableEqual.length === 0) return register();
  // Rows that cannot be read count, too: nothing says that they are another's.
  const left = list.endpoints.filter((each) => ownerOf(each).kind === "nobody").length + unreadable.length;
  const owner = equal.map(ownerOf).find(isOtherType);
  return stop({ kind: "exists", endpoints: [...equal, ...unreadableEqual], left, owner });
}

/** What `adoptId` names: exactly that one, if it has the url and type, and is nobody else's in this stack. */
function adoption(id: string, wanted: Wanted, facts: Facts, known: Known): Decision {
  const { named } = facts;
  if (named === undefined) return { kind: "missing", id };
  if (named.type !== wanted.type || !nearlySameUrl(wanted.url, named.url))
    return { kind: "mismatch", endpoint: named };
  // A state that is not proven may be this stack's all the same, so what it says still stops.
  const owner = [known, facts.known].map(({ ownerOf }) => ownerOf(named)).find(forbidsAdoption);
  return owner === undefined ? { kind: "adopt", endpoint: named } : { kind: "taken", endpoint: named, owner };
}

/**
 * Returns how long it is still open whether a registration has made anything, in milliseconds: until its window is over, and a second list
 * lacks it, which is not the same stale one. No wait is longer than the grace period, whatever the clocks say.
 */
function timeLeft(evidence: readonly Evidence[], { list: { serverTime }, graceMs, waitedMs }: Facts): number {
  const atMost = graceMs - waitedMs;
  const left = evidence.map(({ serviceSentAt }) =>
    serviceSentAt === undefined || serverTime === null ? atMost : serviceSentAt + graceMs - serverTime,
  );
  return Math.min(Math.max(LAG_MS - waitedMs, ...left), atMost);
}
