import { isRecord } from "../shared/json";
import type { Headers } from "./answer";

/** Names are compared in lower case and without punctuation: `next_page_token` is `nextpagetoken`. */
const MORE = /^(next(cursor|link|offset|page|pagetoken|token|url)?|has(more|next|nextpage)|more)$/;
const TOTAL_ENTRIES = /^(total(count|elements|entries|items|records|results)?|count)$/;
const TOTAL_PAGES = /^((total)?pages|(total)?pagecount)$/;
/** Where services put such values, unless it is next to the endpoints. */
const PLACES = ["pagination", "paging", "page", "pageInfo", "page_info", "meta", "links", "_links"];

/**
 * Returns whether the JSON of a list says that there are more endpoints than the `shown` ones. Pages are not followed,
 * because the contract documents none. A doubtful value counts as a yes: a partial list proves no absence.
 */
export function mentionsMore(answer: unknown, shown: number): boolean {
  const inner = placesIn(answer);
  const places = [answer, ...inner, ...inner.flatMap(placesIn)].filter(isRecord);
  return places.some((place) =>
    Object.entries(place).some(([key, value]) => {
      const name = key.replace(/[^a-z]/gi, "").toLowerCase();
      if (MORE.test(name)) return Boolean(value) && value !== "false";
      if (TOTAL_ENTRIES.test(name)) return countOf(value) > shown;
      return TOTAL_PAGES.test(name) && countOf(value) > 1;
    }),
  );
}

function placesIn(value: unknown): Record<string, unknown>[] {
  return isRecord(value) ? PLACES.map((name) => value[name]).filter(isRecord) : [];
}

function countOf(value: unknown): number {
  return typeof value === "number" || typeof value === "string" ? Number(value) : 0;
}

/** One link of a `Link` header (RFC 8288), and one of its parameters. Quoted values may hold commas and semicolons. */
const LINK = /<[^>]*>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]*))?)*)/g;
const PARAMETER = /;\s*([^\s=;,"]+)(?:\s*=\s*(?:"([^"]*)"|([^\s;,"]*)))?/g;

/** Returns whether a `Link` header has rel=next. */
export function linksToNextPage({ link }: Headers): boolean {
  const links = [...[link ?? []].flat().join(", ").matchAll(LINK)];
  return links.some(([, parameters = ""]) => {
    const rel = [...parameters.matchAll(PARAMETER)].find(([, name]) => name?.toLowerCase() === "rel");
    return /(^|\s)next(\s|$)/i.test(rel?.[2] ?? rel?.[3] ?? "");
  });
}
