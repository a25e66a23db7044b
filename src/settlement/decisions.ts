import type { Endpoint } from "../client";
import type { Asker } from "./asker";
import type { Book } from "./book";
import type { Pending } from "./decide";
import { ipHash } from "./entry";
import type { Stack } from "./stack";
import { isSameAccount } from "./trace";

interface Options {
  readonly book: Book;
  readonly asker: Asker;
  readonly stack: Stack;
}

/**
 * Writes down that what the state holds as interrupted or pending made an endpoint: the state may forget it before the next `up`.
 *
 * @param pending.id the provisional id, if a resource has one
 * @param at the time in milliseconds
 */
export function accept(
  pending: { readonly by: Pending; readonly id: string | undefined },
  endpoint: Endpoint,
  options: Options,
  at: number,
): void {
  const { id, createdAt } = endpoint;
  const { ip } = pending.by;
  const pendingId = pending.id === undefined ? {} : { pendingId: pending.id };
  const sent = { at, serviceTime: null, before: [], complete: false };
  options.book.begin({ ...ofNoRun(options), ...(ip && { ip }), ...pendingId, sent, id, createdAt }, endpoint);
}

/** Writes down that an endpoint is not this stack's, for ever: nothing takes it, and nothing names it again. */
export function disown(endpoint: Endpoint, options: Options): void {
  const { id, createdAt } = endpoint;
  options.book.begin({ ...ofNoRun(options), id, createdAt, closed: true, foreign: true }, endpoint);
}

function ofNoRun({ asker, stack }: Options) {
  return { ...asker.origin, stack: stack.name, run: "", sender: "", ip: ipHash(undefined) };
}

/** Closes the entries of pending registrations of which nothing is left. */
export function close(by: readonly Pending[], book: Book): void {
  for (const { entry } of by) if (entry) book.close(entry);
}

/** Closes the entries of registrations that made nothing. Absence in another account shows nothing. */
export function closeAbsent(by: readonly Pending[], book: Book, { origin }: Pick<Asker, "origin">): void {
  for (const { entry } of by) if (entry && isSameAccount(entry, origin)) book.close(entry);
}
