import type { Endpoint } from "./endpoint";
import { isRecord, MalformedAnswer } from "./json";

/** An endpoint out of an answer. @throws MalformedAnswer */
export function parseEndpoint(value: unknown, what = "the endpoint"): Endpoint {
  if (!isRecord(value)) throw new MalformedAnswer(`${what} is not an object`);
  const { type } = value;
  if (type !== "production" && type !== "development") {
    throw new MalformedAnswer(`the type of ${what} is neither "production" nor "development"`);
  }
  return Object.freeze({
    id: text(value.id, `the id of ${what}`),
    url: text(value.url, `the url of ${what}`),
    type,
    createdAt: timestamp(value.createdAt, `createdAt of ${what}`),
    updatedAt: timestamp(value.updatedAt, `updatedAt of ${what}`),
  });
}

function text(value: unknown, what: string): string {
  if (typeof value !== "string" || value === "")
    throw new MalformedAnswer(`${what} is not a text, or an empty one`);
  return value;
}

/** Kept verbatim as text, numbers too: the contract does not say its format. */
function timestamp(value: unknown, what: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") throw new MalformedAnswer(`${what} is not a timestamp`);
  return value;
}
