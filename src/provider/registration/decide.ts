import type { Endpoint, EndpointList } from "../../client";
import { sameUrl } from "../../shared/url";
import type { Wanted } from "../facts/exportedState";
import { countsAsEqual, forbidsAdoption, isOtherType, type OtherTypeOwner, type Owner } from "../facts/owner";
import type { Evidence } from "../facts/registrationEvidence";
import { nearlySameUrl } from "../facts/same";
import type { Proof } from "../facts/stack";
import { LAG_MS } from "../facts/time";
import { endpointsLike } from "../facts/urlAndType";
import type { IfExists } from "../settings";
import { type Doubt, type Known, matchEvidence, type Take } from "./matchEvidence";

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
  /** At most ten seconds old: resources that are created one after the other share it. After a deletion, and while it waits, a new one. */
  readonly list: EndpointList;
  /** What `adoptId` names, as a get shows it; undefined if there is none. */
  readonly named?: Endpoint | undefined;
  /** What this run knows and the state says. */
  readonly known: Known;
  /** What this run knows without the state. Only a create may need a proof, so only that has it. */
  readonly withoutState?: Known | undefined;
  /**
   * Whether the state is this stack's: a second look, at the state or at the backend's list of stacks (`stack.ts`), shows this run at work, or it
   * can only be this one's. Undefined: nobody has asked yet, and the state counts in full. So what a state says that may be another stack's can
   * stop a create or make it wait, but what it gives needs a proof first. Not proven: `withoutState` says what it gets. What the state says can still
   * stop it: as `OTHER_ACCOUNT` (`account.ts`), as the adoption of what another resource has, or by an endpoint that a stale list lacks
   * (`conclude.ts`).
   */
  readonly proof?: Proof | undefined;
  /**
   * Whether a get has shown that this list lacks an endpoint that there is, five seconds or more after the first list of this question. Then it
   * may lack the wanted one, too.
   */
  readonly isStale?: boolean | undefined;
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
   * Evidence fits something, or nothing but nearly something, and nothing shows for certain what it made. `matchEvidence.ts` has the reasons, such as two
   * endpoints for one registration, or no date.
   */
  | Doubt
  /** What the list lacks may be there all the same. `isStale`: as in `Facts`. Otherwise the list is partial, or has a row that cannot be read. */
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
 * Decides what a resource gets. Pure: it is the table of `docs/architecture.md`, row by row in this order. `conclude.ts` gathers the facts, and
 * asks the service once more about two kinds of decisions before they count: whether what is taken over or adopted is still there (not for
 * `adoptId`, which has asked already), and before "register" or "none", whether the list is stale (not where `ifExists: "register"` says to register
 * another one). A preview, and the look for what a lost response of this run made, ask neither.
 *
 * @returns the decision, and whether it needs a proof that the state is this stack's. Then the proof is to be asked for, and the rule once more
 */
export function decide(wish: Wish, facts: Facts): { decision: Decision; needsProof: boolean } {
  const { known, withoutState = known, proof } = facts;
  const decision = ruleFor(wish, facts, proof?.proven === false ? withoutState : known);
  if (proof !== undefined || wish.verb !== "create") return { decision, needsProof: false };
  return { decision, needsProof: needsProof(decision, wish, facts, withoutState) };
}

/**
 * Returns whether a create needs a proof: to adopt, because other stacks are asked before that, and only those of a proven backend; and to get
 * what it would not get without what only the state says. A stop and a wait need none, unless the state alone says that the `adoptId` is spent.
 */
function needsProof(
  decision: Decision,
  wish: Extract<Wish, { verb: "create" }>,
  facts: Facts,
  withoutState: Known,
): boolean {
  if (decision.kind === "adopt") return true;
  if (wish.adoptId !== undefined && facts.known.isSpent !== withoutState.isSpent) return true;
  if (isStop(decision) || decision.kind === "wait") return false;
  const other = ruleFor(wish, facts, withoutState);
  // To take over an endpoint and to adopt it give the resource the same.
  return isStop(other) || endpointOf(other) !== endpointOf(decision);
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
  // nothing shows that it is the only equal one.
  const isOnlyEqual = !mayLackEqual && unreadableEqual.length === 0 && equal.length === 1;
  const [adoptable] =
    ifExists === "adopt" && isOnlyEqual
      ? equal.filter((each) => ownersOf(each, facts, known).every(({ kind }) => kind === "nobody"))
      : [];

  // In doubt: fits that are not certain, or no fit and one that nearly is.
  const shown = evidence.length > 0 ? matchEvidence(wanted, equal, facts, known) : undefined;
  if (shown?.kind === "doubt") return adoptable ? { kind: "adopt", endpoint: adoptable } : stop(shown);
  if (shown !== undefined) return shown;

  if (evidence.length > 0) {
    // An interrupted creation noted no ids, so each such row may be its own.
    const mayBeIt = unreadable
      .filter(({ url }) => url === null || sameUrl(url, wanted.url))
      .some(({ id }) => evidence.some(({ idsBefore }) => !idsBefore.has(id)));
    if (!list.complete || mayBeIt) return stop({ kind: "unknowable", isStale: false });
    const milliseconds = timeLeft(evidence, facts);
    if (milliseconds > 0) return { kind: "wait", milliseconds };
  }
  // From here on, the evidence has made nothing: as without any.
  if (adoptable) return { kind: "adopt", endpoint: adoptable };
  if (wish.verb === "create" && equal.length + unreadableEqual.length > 0) {
    // Rows that cannot be read count, too: nothing says that they are another's.
    const left = list.endpoints.filter((each) => ownerOf(each).kind === "nobody").length + unreadable.length;
    const owner = equal.map(ownerOf).find(isOtherType);
    return stop({ kind: "exists", endpoints: [...equal, ...unreadableEqual], left, owner });
  }
  if (facts.isStale) return stop({ kind: "unknowable", isStale: true });
  return wish.verb === "settle" ? { kind: "none" } : register();
}

/** Whose an endpoint is by what counts, and by the state, which may be this stack's though nothing proves it. */
function ownersOf(endpoint: Endpoint, facts: Facts, known: Known): Owner[] {
  return [known, facts.known].map(({ ownerOf }) => ownerOf(endpoint));
}

/** What `adoptId` names: exactly that one, if it has the type and nearly the url, and no other resource of this stack keeps it. */
function adoption(id: string, wanted: Wanted, facts: Facts, known: Known): Decision {
  const { named } = facts;
  if (named === undefined) return { kind: "missing", id };
  if (named.type !== wanted.type || !nearlySameUrl(wanted.url, named.url))
    return { kind: "mismatch", endpoint: named };
  const owner = ownersOf(named, facts, known).find(forbidsAdoption);
  return owner === undefined ? { kind: "adopt", endpoint: named } : { kind: "taken", endpoint: named, owner };
}

/**
 * Returns how long it is still open whether a registration has made anything, in milliseconds: until its window is over, and a second list
 * lacks it, which is not the same stale one. No wait is longer than the grace period, whatever the clocks say.
 */
function timeLeft(evidence: readonly Evidence[], { list: { serverTime }, graceMs, waitedMs }: Facts): number {
  const atMost = graceMs - waitedMs;
  const left = evidence.map(({ earliestSentAt }) =>
    earliestSentAt === undefined || serverTime === null ? atMost : earliestSentAt + graceMs - serverTime,
  );
  return Math.min(Math.max(LAG_MS - waitedMs, ...left), atMost);
}
