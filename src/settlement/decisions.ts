import type { Endpoint } from "../client";
import type { Book } from "./book";
import type { Pending } from "./decide";
import { type Asker, ipHash, originHashes } from "./evidence";
import { isProvisional } from "./identity";
import type { Stack } from "./stack";

interface Options {
  readonly book: Book;
  readonly asker: Asker;
  readonly stack: Stack;
  /** In milliseconds since 1970. */
  readonly now: number;
}

/** Writes down that a pending registration made this endpoint. That is proof: the next `up` takes it over. */
export function accept(
  { entry, ip }: Pending,
  { id, createdAt, url, type }: Endpoint,
  { book, asker, stack, now }: Options,
): void {
  if (entry !== undefined && (entry.id === null || isProvisional(entry.id))) {
    book.change(entry, { id, createdAt });
    return;
  }
  const sent = { at: now, serviceTime: null, before: [], complete: false };
  book.begin(
    { ...begun({ asker, stack }), ip: ip ?? ipHash(undefined), sent, id, createdAt, closed: false },
    { url, type },
  );
}

/** Writes down that an endpoint is not this stack's: nothing takes it, and nothing names it again. */
export function disown(
  { id, createdAt, url, type }: Endpoint,
  { book, asker, stack }: Omit<Options, "now">,
): void {
  const ip = ipHash(undefined);
  const decided = { ip, sent: null, id, createdAt, closed: true, foreign: true };
  book.begin({ ...begun({ asker, stack }), ...decided }, { url, type });
}

/** Closes the entries of pending registrations of which nothing is left. */
export function settled(by: readonly Pending[], book: Book): void {
  for (const { entry } of by) if (entry) book.close(entry);
}

/** What a person decides belongs to no run. */
function begun({ asker, stack }: Pick<Options, "asker" | "stack">) {
  return { stack: stack.name, run: "", sender: "", ...originHashes(asker), adopted: false };
}
