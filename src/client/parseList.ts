import type { EndpointList } from "./endpoint";
import { isRecord, MalformedAnswer } from "./json";
import { parseEndpoint } from "./parseEndpoint";

const envelopes = ["data", "items", "webhooks", "endpoints", "results"];
const partialMarkers = ["next", "hasMore", "has_more", "nextCursor"];
/** Some services keep their cursor beside the endpoints, some in an object of its own. */
const markerPlaces = ["pagination", "meta", "links", "_links"];

/** What an answer's headers tell about its list. */
export interface ListContext {
  /** Whether a `Link` header has rel=next. */
  readonly linksToNext: boolean;
  readonly serverTime: number | null;
}

/** The endpoints of a list, in each of the shapes that the contract allows. @throws MalformedAnswer */
export function parseList(answer: unknown, { linksToNext, serverTime }: ListContext): EndpointList {
  const endpoints = entries(answer).map((value, index) =>
    parseEndpoint(value, `endpoint ${index} of the list`),
  );
  if (new Set(endpoints.map(({ id }) => id)).size !== endpoints.length) {
    throw new MalformedAnswer("two endpoints of the list have the same id");
  }
  return Object.freeze({
    endpoints: Object.freeze(endpoints),
    complete: !linksToNext && !announcesMore(answer),
    serverTime,
  });
}

function entries(answer: unknown): unknown[] {
  if (Array.isArray(answer)) return answer;
  if (isRecord(answer)) {
    for (const name of envelopes) {
      const value = answer[name];
      if (Array.isArray(value)) return value;
    }
  }
  throw new MalformedAnswer(`it is neither an array nor an object with one under ${envelopes.join(", ")}`);
}

/** Pages are not followed: the contract documents none. A marker that is there and says anything but "no" counts. */
function announcesMore(answer: unknown): boolean {
  if (!isRecord(answer)) return false;
  const places = [answer, ...markerPlaces.map((name) => answer[name])].filter(isRecord);
  return places.some((place) =>
    partialMarkers.some((name) => Boolean(place[name]) && place[name] !== "false"),
  );
}
