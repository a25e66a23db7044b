import type { Endpoint } from "../client";
import type { Asker } from "./asker";
import type { Book } from "./book";
import type { Pending } from "./decide";
import { ipHash, realIdOf } from "./entry";
import type { Stack } from "./stack";
import { isSameAccount } from "./trace";

interface Options {
  readonly book: Book;
  readonly asker: Asker;
  readonly stack: Stack;
}

/** Writes down that a pending registration made this endpoint. That is proof: the next `up` takes it over. @param now in milliseconds */
export function accept({ entry, ip }: Pending, endpoint: Endpoint, options: Options, now: number): void {
  const { id, createdAt } = endpoint;
  if (entry !== undefined && realIdOf(entry) === undefined) {
    options.book.change(entry, { id, createdAt });
    return;
  }
  const sent = { at: now, serviceTime: null, before: [], complete: false };
  options.book.begin({ ...decided(options), ...(ip && { ip }), sent, id, createdAt }, endpoint);
}

/** Writes down that an endpoint is not this stack's: nothing takes it, and nothing names it again. */
export function disown(endpoint: Endpoint, options: Options): void {
  const { id, createdAt } = endpoint;
  options.book.begin({ ...decided(options), id, createdAt, closed: true, foreign: true }, endpoint);
}

/** Closes the entries of pending registrations of which nothing is left. */
export function close(by: readonly Pending[], book: Book): void {
  for (const { entry } of by) if (entry) book.close(entry);
}

/** Closes the entries of registrations that made nothing. Absence in another account shows nothing. */
export function closeAbsent(by: readonly Pending[], book: Book, { origin }: Pick<Asker, "origin">): void {
  for (const { entry } of by) if (entry && isSameAccount(entry, origin)) book.close(entry);
}

/** What a person decides belongs to no run. */
function decided({ asker, stack }: Options) {
  return { ...asker.origin, stack: stack.name, run: "", sender: "", ip: ipHash(undefined) };
}
