import { isEndpointType } from "../shared/endpointType";
import { isRecord, parseJson } from "../shared/json";
import { type Endpoint, type EndpointList, isReadable, type Row } from "./endpoint";
import { type Headers, serverTimeOf } from "./response";

/** @throws Error */
export function parseBody(body: Uint8Array): unknown {
  need(body.length > 0, "it is empty");
  const value = parseJson(new TextDecoder().decode(body));
  need(value !== undefined, "it is not JSON");
  return value;
}

/** @throws Error */
export function parseEndpoint(value: unknown): Endpoint {
  const endpoint = endpointOf(value);
  if (typeof endpoint === "string") throw new Error(endpoint);
  return endpoint;
}

/** Returns an endpoint, or why it cannot be read. It throws nothing for that: a list may have a million such rows. */
function endpointOf(value: unknown): Endpoint | string {
  if (!isRecord(value)) return "the endpoint is not an object";
  const { url, type, createdAt = value.created_at, updatedAt = value.updated_at } = value;
  const id = idOf(value);
  if (id === undefined)
    return "the id of the endpoint is neither a non-empty string nor an integer below 2^53";
  if (!isEndpointType(type)) return 'the type of the endpoint is neither "production" nor "development"';
  if (typeof url !== "string" || url === "") return "the url of the endpoint is not a non-empty string";
  const times = { createdAt: timestampOf(createdAt), updatedAt: timestampOf(updatedAt) };
  return Object.freeze({ id, url, type, ...times });
}

const ENVELOPES = ["data", "items", "webhooks", "endpoints", "results"];

/** Returns the endpoints of a list, in each of the shapes that the contract allows. @throws Error */
export function parseList(body: unknown, headers: Headers): EndpointList {
  const candidates = isRecord(body) ? ENVELOPES.map((name) => body[name]) : [body];
  const entries: readonly unknown[] | undefined =
    candidates.find(Array.isArray) ?? (isNullList(body) ? [] : undefined);
  need(entries, `it is neither an array nor an object with an array under ${ENVELOPES.join(", ")}`);
  const rows = entries.map(rowOf).filter((row) => row !== undefined);
  const listed = [...new Map(rows.map((row) => [row.id, row])).values()];
  const listedCount = entries.length;
  const announcesMore = mentionsMore(body, listedCount) || headersMentionMore(headers, listedCount);
  return Object.freeze({
    endpoints: Object.freeze(listed.filter(isReadable)),
    unrecognized: Object.freeze(listed.filter((row) => !isReadable(row))),
    // A list with a row without an id, or with an id twice, may lack an endpoint.
    complete: listed.length === listedCount && !announcesMore,
    serverTime: serverTimeOf(headers),
  });
}

/** Names are compared in lower case and without punctuation: `has_more` is `hasmore`. */
const MORE =
  /^(hasmore|hasnextpage|(odata)?next(cursor|link|page|pagetoken|token|url)?|continuationtoken|istruncated)$/;
const TOTAL = /^(total(count|elements|items)?|count)$/;
const PAGES = /^(totalpages|lastpage)$/;

/** What else an envelope may say of an empty list. Names are compared as above. */
const PAGE =
  /^(cursor|limit|links|meta|offset|page(info|number|size)?|pages|pagination|paging|perpage|prev(ious)?(cursor|link|page|pagetoken|token|url)?|size)$/;

/**
 * Returns whether JSON is what some languages write for a list without entries: `null`, or an envelope whose list is `null`. An
 * envelope that says anything besides counts and pages of nothing may be an error instead.
 */
function isNullList(json: unknown): boolean {
  if (!isRecord(json)) return json === null;
  const named = ENVELOPES.filter((name) => name in json);
  const others = Object.entries(json).filter(([name]) => !named.includes(name));
  return (
    named.length > 0 &&
    named.every((name) => json[name] === null) &&
    others.every(([name, value]) => countsNothing(name, value))
  );
}

/** Returns whether an entry of an envelope is the count or the page of an empty list: 0 or empty, also within up to two objects. */
function countsNothing(key: string, value: unknown, depth = 1): boolean {
  const inner = isRecord(value) ? Object.entries(value) : [];
  if (inner.length > 0) return depth < 3 && inner.every((entry) => countsNothing(...entry, depth + 1));
  const name = bare(key);
  const isEmpty = isRecord(value) || Number(value) === 0;
  return isEmpty && [MORE, TOTAL, PAGES, PAGE].some((names) => names.test(name));
}

function bare(key: string): string {
  return key.toLowerCase().replace(/[^a-z]/g, "");
}

/**
 * Returns whether the JSON of a list says that there are more endpoints than the `shown` ones, also three objects deep, as in
 * `{ meta: { pagination: { next } } }`. A doubtful value counts as a yes: a partial list proves no absence.
 */
function mentionsMore(json: unknown, shown: number, depth = 1): boolean {
  if (!isRecord(json) || depth > 3) return false;
  return Object.entries(json).some(([key, value]) => {
    const name = bare(key);
    if (MORE.test(name)) return Boolean(value);
    if (TOTAL.test(name) && Number(value) > shown) return true;
    return (PAGES.test(name) && Number(value) > 1) || mentionsMore(value, shown, depth + 1);
  });
}

/** Returns whether the headers of a list say that there are more endpoints than the `shown` ones. */
function headersMentionMore(headers: Headers, shown: number): boolean {
  if (headers["x-next-page"] || Number(headers["x-total-count"]) > shown) return true;
  // RFC 8288
  return /;\s*rel\s*=\s*("[^"]*\bnext\b|next\b)/i.test([headers.link].flat().join(", "));
}

/** Returns what an entry of a list shows, or undefined if it has no id. */
function rowOf(entry: unknown): Row | undefined {
  const id = isRecord(entry) ? idOf(entry) : undefined;
  if (!isRecord(entry) || id === undefined) return undefined;
  const endpoint = endpointOf(entry);
  if (typeof endpoint !== "string") return endpoint;
  const url = typeof entry.url === "string" && entry.url !== "" ? entry.url : null;
  return Object.freeze({ id, url });
}

/** Returns the usable id of an endpoint, if any. A number that JavaScript cannot hold exactly might name another endpoint. */
function idOf({ id }: Record<string, unknown>): string | undefined {
  if (typeof id === "string" && id !== "") return id;
  return Number.isSafeInteger(id) ? String(id) : undefined;
}

/** Returns a timestamp as the service wrote it, because the contract does not specify its format. */
function timestampOf(value: unknown = null): string | null {
  if (value === null || typeof value === "string") return value;
  try {
    return JSON.stringify(value);
  } catch {
    // It is too deep.
    return null;
  }
}

/** @throws Error that says how a response breaks the contract, without a value of it */
export function need(condition: unknown, problem: string): asserts condition {
  if (!condition) throw new Error(problem);
}
