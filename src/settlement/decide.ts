import type { Endpoint, EndpointList } from "../client";
import { sameUrl } from "../shared/url";
import { countOf } from "../shared/words";
import type { Entry } from "./entry";
import { alike, type Identity } from "./identity";
import { parseTimestamp, placeIn, UNKNOWN, type Window } from "./time";
import type { Holder, Trace } from "./trace";

/** A pending registration: one that was sent, or may have been, and whose outcome is unknown. */
export interface Pending {
  /** When the service may have made its endpoint. */
  readonly window: Window;
  /** The endpoints with its url and type that were listed before it was sent. */
  readonly before: readonly string[];
  /** True if `before` has all of them. */
  readonly complete: boolean;
  /** The id that the service answered, if the answer arrived and was then lost. It is proof. */
  readonly id?: string | undefined;
  /** False if it was declared with another ip, which the service does not report. */
  readonly sameIp: boolean;
  /** The hash of the ip that it was declared with. */
  readonly ip?: string | undefined;
  /** True if this very run sent it. */
  readonly own?: boolean;
  /** True if its resource is not the one that asks: it explains an endpoint, and gives no right to take one. */
  readonly explainsOnly?: boolean;
  /** Why the evidence of it may be out of date, as the end of a sentence. */
  readonly doubt?: string | undefined;
  /** True if no resource will take what it made: a later `up` did without, or its resource lives. */
  readonly unwanted?: boolean | undefined;
  readonly entry?: Entry | undefined;
  /** The provisional id of its resource, if that is in the state. */
  readonly pendingId?: string;
  /** When it was sent at the latest, in milliseconds on this machine's clock, if only an interrupted operation shows it. */
  readonly sentAt?: number;
}

/**
 * What a list shows about the pending registrations of one url and type:
 * - `found`: this one made this endpoint
 * - `absent`: no endpoint of theirs shows, and none can appear any more
 * - `wait`: they may still happen, within so many milliseconds
 * - `unknowable`: the list is partial, so an endpoint that it lacks may exist
 * - `doubt`: one of these endpoints may be theirs, or somebody else's. A person must say.
 */
export type Decision =
  | { readonly kind: "found"; readonly endpoint: Endpoint; readonly by: Pending }
  | { readonly kind: "absent" | "unknowable" }
  | { readonly kind: "wait"; readonly milliseconds: number }
  | Doubt;

export interface Doubt {
  readonly kind: "doubt";
  readonly candidates: readonly Endpoint[];
  /** The pending registrations that may have made them. */
  readonly by: readonly Pending[];
  /** As the end of a sentence. */
  readonly why: string;
}

export interface Question {
  readonly identity: Identity;
  /** Every pending registration of this url and type that is known. */
  readonly pending: readonly Pending[];
  readonly list: EndpointList;
  readonly holderOf: (endpoint: Endpoint) => Holder;
  /** In milliseconds. No wait is longer: the service's clock may have been put back. */
  readonly patienceMs: number;
}

/** Decides what a list shows. Pure: `docs/architecture.md` has it as a table. */
export function decide(question: Question): Decision {
  const { identity, pending, list, holderOf } = question;
  let left = alike(list, identity)
    .map((endpoint) => ({ endpoint, holder: holderOf(endpoint) }))
    .filter(({ holder }) => holder !== "somebody");

  for (const by of pending.toSorted(doubtfulLast)) {
    const proven = left.find(({ endpoint }) => endpoint.id === by.id);
    const isOutside = proven && placeIn(by.window, proven.endpoint.createdAt) === "outside";
    // After the window, the id was used again. Before it, the service dates what it makes by another clock.
    const isEarlier =
      isOutside &&
      parseTimestamp(proven.endpoint.createdAt) < by.window.from &&
      !by.before.includes(proven.endpoint.id);
    if (proven === undefined || (isOutside && (!isEarlier || by.explainsOnly))) continue;
    left = left.filter((each) => each !== proven);
    if (by.explainsOnly || !by.sameIp) continue;
    if (by.doubt !== undefined) return doubt([proven], [by], by.doubt);
    if (isEarlier) return doubt([proven], [by], EARLIER);
    if (proven.holder === "unclear") return doubt([proven], [by], SAME_ID);
    return { kind: "found", endpoint: proven.endpoint, by };
  }

  const unproven = pending.filter(({ id }) => id === undefined);
  return decideByTime(left, unproven) ?? decideAbsence(question, unproven);
}

interface Candidate {
  readonly endpoint: Endpoint;
  readonly holder: Holder;
}

const EARLIER = "it has the id of what was registered, and an earlier time";
const SAME_ID = "a resource with another API key or base URL has the same id";
const OTHER_IP =
  "a registration that differs only in ip is pending too, and the service does not report the ip";
const INEXACT = "nothing tells exactly enough when it was created, and when the registration was sent";

/** Decides by the times of endpoints, or returns undefined when none fits. */
function decideByTime(candidates: readonly Candidate[], pending: readonly Pending[]): Decision | undefined {
  const fits = candidates
    .filter(({ endpoint }) => pending.some((each) => mayHaveMade(each, endpoint)))
    .toSorted((a, b) => timeOf(a) - timeOf(b));
  const fitting = pending.filter((each) => fits.some(({ endpoint }) => mayHaveMade(each, endpoint)));
  const ours = fitting.filter(({ explainsOnly }) => !explainsOnly);
  const oldest = fits.find(({ endpoint }) => ours.some((each) => mayHaveMade(each, endpoint)));
  if (oldest === undefined) return undefined;
  // An old registration may be in doubt, and one that this run has just sent is not: `before` has what the old one made.
  const sure = ours.filter((each) => each.doubt === undefined);
  const by = sure.find((each) => fitOf(each, oldest.endpoint) === "yes");
  if (fitting.some(({ sameIp }) => !sameIp)) return doubt(fits, ours, OTHER_IP);
  const why = ours.find((each) => each.doubt !== undefined)?.doubt;
  if (by === undefined && why !== undefined) return doubt(fits, ours, why);
  // What is in doubt may have made none of them.
  const certain = fitting.filter((each) => each.doubt === undefined).length;
  if (fits.length > certain)
    return doubt(fits, ours, `${fits.length} endpoints fit ${countOf(certain, "pending registration")}`);
  if (by === undefined) return doubt(fits, ours, INEXACT);
  if (oldest.holder === "unclear") return doubt([oldest], [by], SAME_ID);
  return { kind: "found", endpoint: oldest.endpoint, by };
}

/** What of an endpoint tells whether a registration made it. */
type Made = Pick<Endpoint, "id"> & Pick<Trace, "createdAt">;

/** Returns whether a pending registration may have made an endpoint, whoever else may have. */
export function mayHaveMade(pending: Pending, endpoint: Made): boolean {
  if (pending.id === undefined) return fitOf(pending, endpoint) !== "no";
  return pending.id === endpoint.id && placeIn(pending.window, endpoint.createdAt) !== "outside";
}

/** Returns whether an endpoint fits a pending registration: its time lies in the window, or a complete list lacked it before. */
function fitOf(
  { window, before, complete, own }: Pending,
  { id, createdAt }: Made,
): "yes" | "perhaps" | "no" {
  if (before.includes(id)) return "no";
  switch (placeIn(window, createdAt)) {
    case "inside":
      return "yes";
    case "outside":
      return "no";
    case "across":
      return complete ? "yes" : "perhaps";
    case "unknown":
      return complete && own ? "yes" : "perhaps";
  }
}

/** Decides what it means that no endpoint fits. @param identity undefined if the list has nothing with its url */
export function decideAbsence(
  { identity, list, patienceMs }: Pick<Question, "list" | "patienceMs"> & Partial<Pick<Question, "identity">>,
  pending: readonly Pending[],
): Exclude<Decision, { kind: "found" | "doubt" }> {
  if (pending.length === 0) return { kind: "absent" };
  // Nor does a list say anything about an endpoint whose type it spells in an unknown way, or whose url cannot be read.
  const isOdd = list.unrecognized.some(
    ({ id, url }) =>
      (url === null || (identity !== undefined && sameUrl(url, identity.url))) &&
      !pending.every(({ before }) => before.includes(id)),
  );
  if (!list.complete || isOdd) return { kind: "unknowable" };
  // Without a time, of the service or of the registration, it takes a whole patience.
  const ends = pending
    // Nobody waits for what a later `up` did without, unless it may still come.
    .filter(({ unwanted, window }) => unwanted !== true || window.until !== UNKNOWN.until)
    .map(({ window }) => window.until);
  const { serverTime } = list;
  const left = ends.map((end) => (serverTime === null ? patienceMs : end - serverTime));
  const milliseconds = Math.min(Math.max(0, ...left), patienceMs);
  return milliseconds > 0 ? { kind: "wait", milliseconds } : { kind: "absent" };
}

function doubt(candidates: readonly Candidate[], by: readonly Pending[], why: string): Doubt {
  return { kind: "doubt", candidates: candidates.map(({ endpoint }) => endpoint), by, why };
}

function doubtfulLast(a: Pending, b: Pending): number {
  return Number(a.doubt !== undefined) - Number(b.doubt !== undefined);
}

function timeOf({ endpoint }: Candidate): number {
  return parseTimestamp(endpoint.createdAt) || 0;
}
