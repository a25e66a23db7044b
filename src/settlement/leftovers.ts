import type { Endpoint, EndpointList } from "../client";
import type { Book } from "./book";
import { type Decision, type Doubt, decide, decideAbsence, type Pending, type Question } from "./decide";
import { identityOf, keyIn, plainText, type Resource } from "./deployment";
import { type Entry, isUnderWay, mayTake } from "./entry";
import type { Evidence } from "./evidence";
import { type Identity, isProvisional, keyHash } from "./identity";
import { removeIfAbandoned, statusOf } from "./pendingEntry";
import { pendingOfSent, recordOf } from "./pendingResource";
import { type Lookup, listWith } from "./settle";
import type { Stack } from "./stack";
import type { Asker } from "./trace";

/** What a list shows about pending registrations of one url and type. */
export interface Verdict {
  /** Undefined if neither the service nor the state shows the url any more. */
  readonly identity: Identity | undefined;
  readonly decision: Decision;
  /** The pending registrations that it is about. */
  readonly by: readonly Pending[];
  /** The interrupted operations of this url and type. */
  readonly operations: readonly Resource[];
  /** The resource whose registration is pending, if it is about one. */
  readonly resource?: Resource;
}

/** What shows that registrations of a stack are pending. */
export interface Shown {
  readonly entries: readonly Entry[];
  /** Interrupted operations. Those whose url the state encrypts are left out. */
  readonly operations?: readonly Resource[];
  /** Resources with a provisional id. */
  readonly resources?: readonly Resource[];
}

/** What an interrupted run of a stack made, or may have made, and no resource has. */
export type Leftover = Verdict & { readonly decision: Extract<Decision, { kind: "found" }> | Doubt };

/** The parts that know of leftovers. */
export interface LeftoverSources {
  readonly book: Book;
  readonly evidence: Evidence;
  readonly asker: Asker;
  readonly service: Lookup;
}

/** Finds what interrupted runs of a stack made and no resource has. @throws WebhookError when the service's list fails */
export async function leftoversOf(stack: Stack, sources: LeftoverSources): Promise<Leftover[]> {
  // Without the state, every endpoint would look like one.
  if ((await stack.state()) === undefined) return [];
  const entries = await openEntries(stack, sources.book, sources.asker.run);
  if (entries.length === 0) return [];
  return (await verdictsOf({ entries }, await listFor({ entries }, sources), sources)).filter(isLeftover);
}

/** Returns whether the state shows what a verdict is about. If not, only the book does. */
export function isInState({ operations, resource }: Verdict): boolean {
  return operations.length > 0 || resource !== undefined;
}

export function isLeftover(verdict: Verdict): verdict is Leftover {
  return verdict.decision.kind === "found" || verdict.decision.kind === "doubt";
}

/**
 * Returns the open entries of a stack whose endpoints no run has recorded. Closes those whose endpoint the state has, and removes
 * those that were never sent.
 *
 * @param run the run that asks: what it sent itself is not interrupted
 */
export async function openEntries(stack: Stack, book: Book, run: string): Promise<Entry[]> {
  const open: Entry[] = [];
  for (const entry of book.entriesOf(stack.name)) {
    if (entry.closed || isUnderWay(entry, run)) continue;
    if (entry.adopted)
      book.close(entry); // The endpoint was there before.
    else if (entry.sent === null) await removeIfAbandoned(entry, stack, book);
    else {
      const { kind } = await statusOf(entry, stack);
      if (kind === "recorded") book.close(entry);
      else if (kind !== "pending" && kind !== "another") open.push(entry);
    }
  }
  return open;
}

/** Lists, and asks for the endpoints that the list may not show yet. */
export function listFor(
  { entries, operations = [] }: Shown,
  { service }: Pick<LeftoverSources, "service">,
): Promise<EndpointList> {
  const answered = operations.flatMap(({ id }) => (!id || isProvisional(id) ? [] : [id]));
  return listWith(service, [...new Set([...entries.flatMap(({ id }) => id ?? []), ...answered])]);
}

/** Decides what a list shows about pending registrations, as far as they belong to the account. No endpoint is named twice. */
export async function verdictsOf(
  { entries, operations = [], resources = [] }: Shown,
  list: EndpointList,
  { evidence, asker }: LeftoverSources,
): Promise<Verdict[]> {
  const { patienceMs } = asker;
  const named = new Set<string>();
  const identities = identitiesIn(list, operations);
  const verdicts: Verdict[] = [];
  const keys = [...entries.map(({ key }) => key), ...operations.flatMap((each) => keyIn(each) ?? [])];
  for (const key of new Set(keys)) {
    const identity = identities.get(key);
    if (identity === undefined) {
      const own = entries.filter((entry) => entry.key === key && mayTake(entry, asker.origin));
      const by = own.flatMap((entry) =>
        entry.sent ? [{ ...pendingOfSent(entry.sent, patienceMs), entry }] : [],
      );
      const decision = decideAbsence({ list, patienceMs }, by);
      if (by.length > 0) verdicts.push({ identity, decision, by, operations: [] });
      continue;
    }
    const known = await evidence.about(identity);
    const ofKey = operations.filter((each) => keyIn(each) === key);
    for (const decided of decideAll({ ...known, identity, list, patienceMs }, named))
      verdicts.push({ identity, ...decided, operations: ofKey });
  }
  for (const resource of resources) {
    const identity = identityOf(resource);
    if (identity === undefined) continue;
    const wanted = { ...identity, ip: plainText(resource.inputs, "ip") };
    const known = await evidence.about(wanted, { record: recordOf(resource), alone: true });
    const [decided] = decideAll({ ...known, identity, list, patienceMs }, named);
    if (decided) verdicts.push({ identity, ...decided, operations: [], resource });
  }
  return verdicts;
}

/**
 * Decides about the pending registrations of one url and type until none is left that may be taken. As `up` does, it asks for one
 * ip at a time.
 */
function decideAll(question: Question, named: Set<string>): Pick<Verdict, "decision" | "by">[] {
  const holderOf = (endpoint: Endpoint) =>
    named.has(endpoint.id) ? "somebody" : question.holderOf(endpoint);
  const all: Pick<Verdict, "decision" | "by">[] = [];
  let left = question.pending;
  for (;;) {
    const first = left.find(({ explainsOnly }) => !explainsOnly);
    if (first === undefined) return all;
    const pending = left.map((each) => ({ ...each, sameIp: each.ip === first.ip }));
    const decision = decide({ ...question, pending, holderOf });
    const asked = pending.filter(({ explainsOnly, sameIp }) => !explainsOnly && sameIp);
    const by = "by" in decision ? [decision.by].flat() : asked;
    all.push({ decision, by });
    for (const { id } of endpointsOf(decision)) named.add(id);
    left = pending.filter((each) => !by.includes(each));
  }
}

export function endpointsOf(decision: Decision): readonly Endpoint[] {
  if (decision.kind === "found") return [decision.endpoint];
  return decision.kind === "doubt" ? decision.candidates : [];
}

/** Returns the urls and types that a list or a state shows, by their hash. */
function identitiesIn(list: EndpointList, operations: readonly Resource[]): ReadonlyMap<string, Identity> {
  const odd = list.unrecognized.flatMap(({ url }): Identity[] =>
    url === null ? [] : (["production", "development"] as const).map((type) => ({ url, type })),
  );
  const all = [...odd, ...list.endpoints, ...operations.flatMap((each) => identityOf(each) ?? [])];
  return new Map(all.map(({ url, type }) => [keyHash({ url, type }), { url, type }]));
}
