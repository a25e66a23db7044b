import { isRecord } from "../shared/json";
import type { Headers } from "./operation";

/** Names are compared in lower case and without punctuation: `has_more` is `hasmore`. */
const MORE =
  /^(hasmore|hasnextpage|(odata)?next(cursor|link|page|pagetoken|token|url)?|continuationtoken|istruncated)$/;
const TOTAL = /^(total(count|elements|items)?|count)$/;
const PAGES = /^(totalpages|lastpage)$/;

/**
 * Returns whether the JSON of a list says that there are more endpoints than the `shown` ones, also three objects deep, as in
 * `{ meta: { pagination: { next } } }`. A doubtful value counts as a yes: a partial list proves no absence.
 */
export function mentionsMore(answer: unknown, shown: number, depth = 1): boolean {
  if (!isRecord(answer) || depth > 3) return false;
  return Object.entries(answer).some(([key, value]) => {
    const name = key.toLowerCase().replace(/[^a-z]/g, "");
    if (MORE.test(name)) return Boolean(value);
    if (TOTAL.test(name) && Number(value) > shown) return true;
    return (PAGES.test(name) && Number(value) > 1) || mentionsMore(value, shown, depth + 1);
  });
}

/** Returns whether the headers of a list say that there are more endpoints than the `shown` ones. */
export function headersMentionMore(headers: Headers, shown: number): boolean {
  if (headers["x-next-page"] || Number(headers["x-total-count"]) > shown) return true;
  // RFC 8288
  return /;\s*rel\s*=\s*("[^"]*\bnext\b|next\b)/i.test([headers.link].flat().join(", "));
}
