import { isRecord } from "../shared/json";
import { type Headers, headerOf } from "./answer";

/** Names are compared in lower case and without punctuation: `next_page_token` is `nextpagetoken`. */
const MORE =
  /^(next(continuationtoken|cursor|link|offset|page|pagetoken|token|url)?|odatanextlink|continuationtoken|has(more|next|nextpage)|more)$/;
const TOTAL_ENTRIES = /^(total(count|elements|entries|items|records|results)?|count)$/;
const TOTAL_PAGES = /^((total)?pages|(total)?pagecount)$/;
const LAST_PAGE = "lastpage";
const CURRENT_PAGE = /^(current)?page$/;
/** Where services put such values, unless it is next to the endpoints. */
const PLACES = [
  "pagination",
  "paging",
  "page",
  "pageInfo",
  "page_info",
  "meta",
  "links",
  "_links",
  "cursors",
];

/**
 * Returns whether the JSON of a list says that there are more endpoints than the `shown` ones. Pages are not followed,
 * because the contract documents none. A doubtful value counts as a yes: a partial list proves no absence.
 */
export function mentionsMore(answer: unknown, shown: number): boolean {
  const inner = placesIn(answer);
  const places = [answer, ...inner, ...inner.flatMap(placesIn)].filter(isRecord);
  return places.some((place) => {
    const fields = Object.entries(place).map(
      ([key, value]) => [key.replace(/[^a-z]/gi, "").toLowerCase(), value] as const,
    );
    const [, page] = fields.find(([name, value]) => CURRENT_PAGE.test(name) && isCount(value)) ?? [];
    return fields.some(([name, value]) => {
      if (MORE.test(name)) return Boolean(value) && value !== "false";
      if (name === "istruncated") return String(value).toLowerCase() === "true";
      if (TOTAL_ENTRIES.test(name)) return countOf(value) > shown;
      // No page was asked for, so one that is not named is the first.
      if (name === LAST_PAGE) return countOf(value) > countOf(page ?? 1);
      return TOTAL_PAGES.test(name) && countOf(value) > 1;
    });
  });
}

function placesIn(value: unknown): Record<string, unknown>[] {
  return isRecord(value) ? PLACES.map((name) => value[name]).filter(isRecord) : [];
}

function isCount(value: unknown): value is number | string {
  return typeof value === "number" || typeof value === "string";
}

function countOf(value: unknown): number {
  return isCount(value) ? Number(value) : 0;
}

/** Such as `items 0-24/319`. A range of bytes counts no endpoints. */
const RANGE_OF = /^(?!\s*bytes\b).*\/\s*(\d+)\s*$/i;
const NO_PAGE = /^\s*(0|false|none|null)?\s*$/i;

/** Returns whether the headers of a list say that there are more endpoints than the `shown` ones. */
export function headersMentionMore(headers: Headers, shown: number): boolean {
  const [, ofRange] = RANGE_OF.exec(headerOf(headers, "content-range") ?? "") ?? [];
  const totals = [headerOf(headers, "x-total-count"), ofRange];
  const hasNextPage = !NO_PAGE.test(headerOf(headers, "x-next-page") ?? "");
  return hasNextPage || totals.some((total) => countOf(total) > shown) || linksToNextPage(headers);
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
