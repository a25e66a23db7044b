import { type Book, type Entry, isLiving } from "./book";
import { type Decision, type Doubt, decide } from "./decide";
import { type Asker, type Evidence, statusOf, type Wanted } from "./evidence";
import { isProvisional, keyHash } from "./identity";
import { listWith, type SettlingRun } from "./settlement";
import type { Stack } from "./stack";
import { describeEndpoints } from "./words";

/** What an interrupted run of a stack made, or may have made, and no resource has. */
export interface Leftover {
  readonly wanted: Wanted;
  readonly decision: Extract<Decision, { kind: "found" }> | Doubt;
  readonly entries: readonly Entry[];
}

/** The parts that know of leftovers. */
export interface LeftoverSources {
  readonly book: Book;
  readonly evidence: Evidence;
  readonly asker: Asker;
  readonly service: Pick<SettlingRun["service"], "list" | "find">;
}

/**
 * Returns the open entries of a stack whose endpoints no run has recorded. Closes those whose endpoint the state has, and removes
 * those that were never sent.
 */
export async function openEntries(
  stack: Stack,
  { book, asker }: Pick<LeftoverSources, "book" | "asker">,
): Promise<Entry[]> {
  const open: Entry[] = [];
  for (const entry of book.entriesOf(stack.name)) {
    if (entry.closed || isLiving(entry, asker.run)) continue;
    if (entry.sent === null && !entry.adopted) {
      book.remove(entry);
      continue;
    }
    const { kind } = await statusOf(entry, stack);
    if (kind === "recorded") book.close(entry);
    else if (!entry.adopted && kind !== "pending" && kind !== "another") open.push(entry);
  }
  return open;
}

/** Finds what interrupted runs of a stack made and no resource has. @throws WebhookError when the service's list fails */
export async function leftoversOf(stack: Stack, sources: LeftoverSources): Promise<Leftover[]> {
  const { evidence, asker, service } = sources;
  const open = await openEntries(stack, sources);
  if (open.length === 0) return [];
  const ids = open.flatMap(({ id }) => (id === null || isProvisional(id) ? [] : [id]));
  const list = await listWith(service, ids);
  const byKey = new Map(list.endpoints.map((endpoint) => [keyHash(endpoint), endpoint]));
  const keys = [...new Set(open.map(({ key }) => key))];
  const found = keys.map(async (key): Promise<Leftover[]> => {
    const like = byKey.get(key);
    if (like === undefined) return [];
    const wanted: Wanted = { url: like.url, type: like.type, anyIp: true };
    const { pending, holderOf } = await evidence.about(wanted);
    const decision = decide({ identity: wanted, pending, list, holderOf, patienceMs: asker.patienceMs });
    if (decision.kind !== "found" && decision.kind !== "doubt") return [];
    return [{ wanted, decision, entries: open.filter((entry) => entry.key === key) }];
  });
  return (await Promise.all(found)).flat();
}

/** Names leftovers in one line. */
export function describeLeftovers(leftovers: readonly Leftover[]): string {
  const endpoints = leftovers.flatMap(({ decision }) =>
    decision.kind === "found" ? [decision.endpoint] : decision.candidates,
  );
  return (
    `an interrupted run registered, or may have registered, what no resource of this stack has: ${describeEndpoints(endpoints)}. \`pulumi up\` takes over ` +
    "what the program still declares. `npx webhook-endpoints recover` deletes the rest, after a question."
  );
}
