import type { Endpoint, EndpointList } from "../../client";
import { sameUrl } from "../../shared/url";
import type { Evidence } from "../facts/evidence";
import { equalIn } from "../facts/identity";
import { isOther, type OtherOwner, type Owner } from "../facts/owner";
import type { Wanted } from "../facts/resource";
import { nearlySameUrl } from "../facts/same";
import { LAG_MS } from "../facts/time";
import type { IfExists } from "../settings";
import { match, type Source } from "./match";

/** What a verb wants of the rule. */
export interface Wish {
  readonly wanted: Wanted;
  /** `preview`: what `create` would do. `read` and `delete`: what a pending resource has made. */
  readonly verb: "create" | "preview" | "read" | "delete";
  readonly adoptId?: string | undefined;
  readonly ifExists: IfExists;
}

export interface Facts {
  readonly list: EndpointList;
  /** What `adoptId` names, as a get shows it; undefined if there is none. */
  readonly named?: Endpoint | undefined;
  readonly known: Source;
  /** The same from this run alone. Undefined: there is no more than that. */
  readonly certain?: Source | undefined;
  /** With a state that is not believed, because it may be another stack's. It may be this one's, so it still stops what adopts. */
  readonly doubted?: Source | undefined;
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
  | { readonly kind: "doubt"; readonly endpoints: readonly Endpoint[]; readonly why: string }
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
      readonly owner: OtherOwner | undefined;
    };

export type Decision =
  | Stop
  | { readonly kind: "take"; readonly endpoint: Endpoint; readonly by: Evidence }
  | { readonly kind: "adopt"; readonly endpoint: Endpoint }
  | { readonly kind: "wait"; readonly milliseconds: number }
  /** `despite`: the stop that `ifExists: "register"` overrules. */
  | { readonly kind: "register"; readonly isListPartial: boolean; readonly despite: Stop | undefined }
  /** Of a read or a delete: the registration made nothing. */
  | { readonly kind: "none" };

/** The endpoints that nothing hides from the rule. Those that this run has deleted are not there any more. */
const FREE: readonly Owner["kind"][] = ["nobody", "other", "perhaps"];

/**
 * Decides what a resource gets. Pure: it is the table of `docs/architecture.md`, row by row in this order.
 *
 * @returns the decision, and whether it needs a proof that the state is this stack's: it would be another one without what only the state
 *   says. A stop needs none
 */
export function decide(wish: Wish, facts: Facts): { decision: Decision; needsProof: boolean } {
  const { known, certain } = facts;
  const decision = ruleFor(wish, facts, known);
  if (certain === undefined || wish.verb !== "create") return { decision, needsProof: false };
  if (wish.adoptId !== undefined && known.isSpent !== certain.isSpent) return { decision, needsProof: true };
  if (isStop(decision) || decision.kind === "wait") return { decision, needsProof: false };
  const other = ruleFor(wish, facts, certain);
  const isSame = !isStop(other) && takenBy(other) === takenBy(decision);
  return { decision, needsProof: !isSame };
}

function isStop(decision: Decision): decision is Stop {
  return ["missing", "mismatch", "taken", "doubt", "unknowable", "exists"].includes(decision.kind);
}

export function takenBy(decision: Decision): Endpoint | undefined {
  return decision.kind === "take" || decision.kind === "adopt" ? decision.endpoint : undefined;
}

function ruleFor(wish: Wish, facts: Facts, source: Source): Decision {
  const { wanted, verb, adoptId, ifExists } = wish;
  const { list } = facts;
  const { evidence, ownerOf } = source;
  if (adoptId !== undefined && !source.isSpent) return adoption(adoptId, wanted, facts, source);

  const isPending = verb === "read" || verb === "delete";
  const isOverruled = ifExists === "register" && !isPending;
  const free = equalIn(list, wanted).filter((endpoint) => FREE.includes(ownerOf(endpoint).kind));
  const unreadable = list.unrecognized.filter((row) => FREE.includes(ownerOf({ id: row.id }).kind));
  const odd = unreadable.filter(({ url }) => url !== null && sameUrl(url, wanted.url));
  const isListPartial = !list.complete || unreadable.some(({ url }) => url === null);
  const register = (despite?: Stop): Decision => ({ kind: "register", isListPartial, despite });
  const stop = (reason: Stop) => (isOverruled ? register(reason) : reason);
  // Of a partial list, nothing shows that it is the only one; and without the state, nothing shows that it is not this stack's own.
  const mayAdopt = ifExists === "adopt" && !isPending && facts.doubted === undefined;
  const isOnly = mayAdopt && !isListPartial && odd.length === 0 && free.length === 1;
  const [only] = isOnly ? free.filter((each) => ownerOf(each).kind === "nobody") : [];

  const shown = evidence.length > 0 ? match(wanted, free, facts, source) : undefined;
  if (shown?.kind === "doubt") return only ? { kind: "adopt", endpoint: only } : stop(shown);
  if (shown !== undefined) return shown;

  if (evidence.length > 0) {
    const mayBeIt = unreadable
      .filter(({ url }) => url === null || sameUrl(url, wanted.url))
      .some(({ id }) => evidence.some(({ before }) => !before.includes(id)));
    if (!list.complete || mayBeIt) return stop({ kind: "unknowable", isStale: false });
    const milliseconds = timeLeft(evidence, facts);
    if (milliseconds > 0) return { kind: "wait", milliseconds };
  }
  if (isPending) return { kind: "none" };
  if (only) return { kind: "adopt", endpoint: only };
  if (free.length + odd.length === 0) return register();
  // Rows that cannot be read count, too: nothing says that they are another's.
  const left = list.endpoints.filter((each) => FREE.includes(ownerOf(each).kind)).length + unreadable.length;
  const owner = free.map(ownerOf).find(isOther);
  return stop({ kind: "exists", endpoints: [...free, ...odd], left, owner });
}

/** What `adoptId` names: exactly that one, if it has the url and type, and is nobody else's in this stack. */
function adoption(id: string, wanted: Wanted, { named, doubted }: Facts, source: Source): Decision {
  if (named === undefined) return { kind: "missing", id };
  if (named.type !== wanted.type || !nearlySameUrl(wanted.url, named.url))
    return { kind: "mismatch", endpoint: named };
  const owners = [source, ...(doubted ? [doubted] : [])].map(({ ownerOf }) => ownerOf(named));
  const owner = owners.find(({ kind }) => ["own", "other", "perhaps"].includes(kind));
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
