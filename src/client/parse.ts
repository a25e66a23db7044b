import { isRecord } from "../shared/json";
import { type Headers, MalformedAnswer, serverTimeOf } from "./answer";
import type { Endpoint, EndpointList, UnrecognizedEndpoint } from "./endpoint";
import { headersMentionMore, mentionsMore } from "./partialList";

/** @throws MalformedAnswer */
export function parseEndpoint(value: unknown): Endpoint {
  if (!isRecord(value)) throw new MalformedAnswer("the endpoint is not an object");
  const { url, type, createdAt, updatedAt } = value;
  const id = idOf(value);
  if (id === undefined) {
    throw new MalformedAnswer(
      "the id of the endpoint is neither a non-empty string nor an integer below 2^53",
    );
  }
  if (type !== "production" && type !== "development") {
    throw new MalformedAnswer('the type of the endpoint is neither "production" nor "development"');
  }
  if (typeof url !== "string" || url === "") {
    throw new MalformedAnswer("the url of the endpoint is not a non-empty string");
  }
  const times = {
    createdAt: parseTimestamp(createdAt, "createdAt"),
    updatedAt: parseTimestamp(updatedAt, "updatedAt"),
  };
  return Object.freeze({ id, url, type, ...times });
}

type Row = Endpoint | UnrecognizedEndpoint;

const ENVELOPES = ["data", "items", "webhooks", "endpoints", "results"];

/** Returns the endpoints of a list, in each of the shapes that the contract allows. @throws MalformedAnswer */
export function parseList(answer: unknown, headers: Headers): EndpointList {
  const candidates = isRecord(answer) ? ENVELOPES.map((name) => answer[name]) : [answer];
  const entries: unknown = candidates.find((value) => Array.isArray(value));
  if (!Array.isArray(entries)) {
    throw new MalformedAnswer(
      `it is neither an array nor an object with an array under ${ENVELOPES.join(", ")}`,
    );
  }
  const rows = new Map<string, Row>();
  for (const row of entries.map(parseRow)) if (row) rows.set(row.id, row);
  // Rows without an id and repeated ids: a list that is inconsistent may lack an endpoint.
  const isConsistent = rows.size === entries.length;
  const shown = entries.length;
  const announcesMore = mentionsMore(answer, shown) || headersMentionMore(headers, shown);
  const listed = [...rows.values()];
  return Object.freeze({
    endpoints: Object.freeze(listed.filter(isEndpoint)),
    unrecognized: Object.freeze(listed.filter((row) => !isEndpoint(row))),
    complete: isConsistent && !announcesMore,
    serverTime: serverTimeOf(headers),
  });
}

/** Returns what an entry of a list shows, or undefined if it has no id. */
function parseRow(entry: unknown): Row | undefined {
  const id = isRecord(entry) ? idOf(entry) : undefined;
  if (!isRecord(entry) || id === undefined) return undefined;
  try {
    return parseEndpoint(entry);
  } catch {
    const url = typeof entry.url === "string" && entry.url !== "" ? entry.url : null;
    return Object.freeze({ id, url });
  }
}

function isEndpoint(row: Row): row is Endpoint {
  return "type" in row;
}

/**
 * Returns the id of an endpoint, or undefined if it has no usable one. Some services number their endpoints. A number that
 * JavaScript cannot hold exactly might name another endpoint.
 */
function idOf({ id }: Record<string, unknown>): string | undefined {
  if (typeof id === "string" && id !== "") return id;
  return Number.isSafeInteger(id) ? String(id) : undefined;
}

/** Returns a timestamp as the service wrote it, because the contract does not specify its format. */
function parseTimestamp(value: unknown, name: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") throw new MalformedAnswer(`${name} of the endpoint is not a timestamp`);
  return value;
}
