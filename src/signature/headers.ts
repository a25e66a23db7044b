import type { VerificationFailure } from "./result";

/** The value of a header. An array holds one element for each time that the header was sent. */
export type HeaderValue = string | readonly string[] | undefined;

/**
 * Request headers as frameworks provide them, with names in any case: a record (Node's `req.headers` or `headersDistinct`, an
 * AWS Lambda event's `headers` or `multiValueHeaders`), a Fetch `Headers`, a `Map`, or pairs.
 */
export type HeadersLike =
  | Readonly<Record<string, HeaderValue>>
  | Iterable<readonly [string, HeaderValue]>
  // The DOM's `Headers`, which are iterable, but declared so only by the library `dom.iterable`.
  | { get(name: string): string | null; forEach(callback: (value: string, name: string) => void): void };

/** The three headers of a delivery. The id and the timestamp were sent once, and are in canonical form. */
export interface SignatureHeaders {
  readonly id: string;
  /** The string as sent: the signature covers it. */
  readonly timestamp: string;
  readonly signature: string;
}

/** The three headers of a delivery, or why they cannot be used. */
export type ReadHeaders = SignatureHeaders | VerificationFailure;

/** Stands for an id or a timestamp that was sent more than once: malformed as either. */
const SENT_TWICE = "sent twice";

/** Reads the three headers of a delivery, or returns why they cannot be used. Never throws on what a sender controls. */
export function readSignatureHeaders(headers: HeadersLike): ReadHeaders {
  const { id, timestamp, signature } = collect(headers);
  if (!id || !timestamp || !signature) return "missing-header";
  if (!isCanonicalId(id)) return "malformed-id";
  return isCanonicalTimestamp(timestamp) ? { id, timestamp, signature } : "malformed-timestamp";
}

/** Returns the id that a request claims, which is not verified. Undefined if a header is missing or malformed. */
export function claimedId(sent: ReadHeaders): string | undefined {
  return typeof sent === "string" ? undefined : sent.id;
}

/** Returns true for visible ASCII without '.', which separates the parts of the signed content. */
export function isCanonicalId(id: string): boolean {
  return /^[!-\-/-~]+$/.test(id);
}

/** Returns true for decimal digits without a leading zero, up to the largest safe integer. */
export function isCanonicalTimestamp(timestamp: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(timestamp) && Number.isSafeInteger(Number(timestamp));
}

type Found = Record<keyof SignatureHeaders, string | undefined>;

function collect(headers: HeadersLike): Found {
  const found: Found = { id: undefined, timestamp: undefined, signature: undefined };
  if (typeof headers !== "object" || headers === null) return found;
  if (Symbol.iterator in headers) {
    for (const pair of headers as Iterable<unknown>) if (Array.isArray(pair)) add(found, pair[0], pair[1]);
  } else {
    for (const name in headers) add(found, name, (headers as Readonly<Record<string, unknown>>)[name]);
  }
  return found;
}

// A switch, and the length first: a table costs a short message five percent more.
function add(found: Found, name: unknown, value: unknown): void {
  if (typeof name !== "string" || (name.length !== 10 && name.length !== 17)) return;
  switch (name.toLowerCase()) {
    case "webhook-id":
      found.id = merged(found.id, value);
      break;
    case "webhook-timestamp":
      found.timestamp = merged(found.timestamp, value);
      break;
    case "webhook-signature":
      // As most platforms join two headers before anybody can see that, so that each decides alike.
      found.signature = merged(found.signature, value, true);
      break;
  }
}

/** Some frameworks give null or a number; those count as empty. */
function merged(before: string | undefined, value: unknown, isJoined = false): string | undefined {
  if (typeof value === "string") {
    if (before === undefined) return value;
    return isJoined ? `${before}, ${value}` : SENT_TWICE;
  }
  if (value === undefined) return before;
  if (!Array.isArray(value)) return merged(before, "", isJoined);
  return value.reduce<string | undefined>((all, one) => merged(all, one ?? "", isJoined), before);
}
