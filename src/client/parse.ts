import { type Headers, isRecord, MalformedAnswer, serverTimeOf } from "./answer";
import type { Endpoint, EndpointList, EndpointType, UnrecognizedEndpoint } from "./endpoint";
import { linksToNextPage, mentionsMore } from "./partialList";

/** @throws MalformedAnswer */
export function parseEndpoint(value: unknown, subject = "the endpoint"): Endpoint {
  const { id, url, type, createdAt, updatedAt } = recordOf(value, subject);
  if (!isEndpointType(type)) {
    throw new MalformedAnswer(`the type of ${subject} is neither "production" nor "development"`);
  }
  if (typeof url !== "string" || url === "") {
    throw new MalformedAnswer(`the url of ${subject} is not a non-empty string`);
  }
  return Object.freeze({
    id: parseId(id, subject),
    url,
    type,
    createdAt: parseTimestamp(createdAt, `createdAt of ${subject}`),
    updatedAt: parseTimestamp(updatedAt, `updatedAt of ${subject}`),
  });
}

const ENVELOPES = ["data", "items", "webhooks", "endpoints", "results"];

/** Returns the endpoints of a list, in each of the shapes that the contract allows. @throws MalformedAnswer */
export function parseList(answer: unknown, headers: Headers): EndpointList {
  const entries = entriesOf(answer);
  const endpoints: Endpoint[] = [];
  const unrecognized: UnrecognizedEndpoint[] = [];
  for (const [index, value] of entries.entries()) {
    const subject = `endpoint ${index} of the list`;
    const entry = recordOf(value, subject);
    if (typeof entry.type !== "string" || isEndpointType(entry.type)) {
      endpoints.push(parseEndpoint(entry, subject));
    } else {
      const url = typeof entry.url === "string" ? entry.url : null;
      unrecognized.push(Object.freeze({ id: parseId(entry.id, subject), url }));
    }
  }
  if (new Set([...endpoints, ...unrecognized].map(({ id }) => id)).size !== entries.length) {
    throw new MalformedAnswer("two endpoints of the list have the same id");
  }
  return Object.freeze({
    endpoints: Object.freeze(endpoints),
    unrecognized: Object.freeze(unrecognized),
    complete: !linksToNextPage(headers) && !mentionsMore(answer, entries.length),
    serverTime: serverTimeOf(headers),
  });
}

function entriesOf(answer: unknown): unknown[] {
  if (Array.isArray(answer)) return answer;
  const candidates = isRecord(answer) ? ENVELOPES.map((name) => answer[name]) : [];
  const entries = candidates.find((value) => Array.isArray(value));
  if (Array.isArray(entries)) return entries;
  throw new MalformedAnswer(
    `it is neither an array nor an object with an array under ${ENVELOPES.join(", ")}`,
  );
}

function recordOf(value: unknown, subject: string): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw new MalformedAnswer(`${subject} is not an object`);
}

function isEndpointType(value: unknown): value is EndpointType {
  return value === "production" || value === "development";
}

/** Some services number their endpoints. A number that JavaScript cannot hold exactly might name another endpoint. */
function parseId(value: unknown, subject: string): string {
  if (typeof value === "string" && value !== "") return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  throw new MalformedAnswer(`the id of ${subject} is neither a non-empty string nor an integer below 2^53`);
}

/** Returns a timestamp as the service wrote it, because the contract does not specify its format. */
function parseTimestamp(value: unknown, subject: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") throw new MalformedAnswer(`${subject} is not a timestamp`);
  return value;
}
