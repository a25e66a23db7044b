import { foreign } from "./escape";

/** Returns a number with its noun, such as "2 endpoints". */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** How many names a message has: it counts the rest. */
export const MOST_NAMES = 5;

/** Joins names that others chose as a sentence does, and only counts those after the first few. */
export function joined(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  const shown = names.slice(0, MOST_NAMES).map(foreign);
  return new Intl.ListFormat("en-GB").format(more > 0 ? [...shown, `${more} more`] : shown);
}
