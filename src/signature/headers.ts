import type { VerificationFailure } from "./result";

/** The value of a header. An array holds one element for each time that the header was sent. */
export type HeaderValue = string | readonly string[] | undefined;

/**
 * Request headers as frameworks provide them, with names in any case: a record (Node's `req.headers` or `headersDistinct`, an
 * AWS Lambda event's `headers` or `multiValueHeaders`), a Fetch `Headers`, a `Map`, or pairs.
 */
export type HeadersLike = Readonly<Record<string, HeaderValue>> | Iterable<readonly [string, HeaderValue]>;

/** The three headers of a delivery. Each was sent once, and the id and the timestamp are in canonical form. */
export interface SignatureHeaders {
  readonly id: string;
  /** The string as sent: the signature covers it. */
  readonly timestamp: string;
  readonly signature: string;
}

type Part = keyof SignatureHeaders;

/** Reads the three headers of a delivery, or returns why they cannot be used. Never throws on what a sender controls. */
export function readSignatureHeaders(headers: HeadersLike): SignatureHeaders | VerificationFailure {
  const { id, timestamp, signature } = collect(headers);
  if (id === undefined || id === "") return "missing-id";
  if (timestamp === undefined || timestamp === "") return "missing-timestamp";
  if (signature === undefined || signature === "") return "missing-signature";
  if (id === TWICE) return "duplicate-id";
  if (timestamp === TWICE) return "duplicate-timestamp";
  if (signature === TWICE) return "duplicate-signature";
  // Node, Fetch and gateways may join the values of a header that was sent twice with a comma.
  if (!isCanonicalId(id)) return id.includes(", ") ? "duplicate-id" : "malformed-id";
  if (!isCanonicalTimestamp(timestamp))
    return timestamp.includes(",") ? "duplicate-timestamp" : "malformed-timestamp";
  return { id, timestamp, signature };
}

/**
 * Whether an id is visible ASCII without '.', which separates the parts of the signed content: "a.1" + "." + "b" must not read
 * as "a" + "." + "1.b".
 */
export function isCanonicalId(id: string): boolean {
  return /^[!-\-/-~]+$/.test(id);
}

/** Whether a timestamp is decimal digits without a leading zero, up to the largest safe integer. */
export function isCanonicalTimestamp(timestamp: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(timestamp) && Number.isSafeInteger(Number(timestamp));
}

const PARTS: ReadonlyMap<string, Part> = new Map([
  ["webhook-id", "id"],
  ["webhook-timestamp", "timestamp"],
  ["webhook-signature", "signature"],
]);
const TWICE = Symbol("sent more than once");
type Found = { [part in Part]: string | typeof TWICE | undefined };

function collect(headers: HeadersLike): Found {
  const found: Found = { id: undefined, timestamp: undefined, signature: undefined };
  if (typeof headers !== "object" || headers === null) return found;
  if (isIterable(headers)) {
    for (const pair of headers) if (Array.isArray(pair)) add(found, pair[0], pair[1]);
  } else {
    for (const name in headers) add(found, name, headers[name]);
  }
  return found;
}

function isIterable(headers: HeadersLike): headers is Iterable<readonly [string, HeaderValue]> {
  return typeof (headers as { [Symbol.iterator]?: unknown })[Symbol.iterator] === "function";
}

/** Most names are in lower case, or not of one of these lengths. */
function partNamed(name: string): Part | undefined {
  if (name.length !== "webhook-id".length && name.length !== "webhook-signature".length) return undefined;
  return PARTS.get(name) ?? PARTS.get(name.toLowerCase());
}

function add(found: Found, name: unknown, value: unknown): void {
  const part = typeof name === "string" ? partNamed(name) : undefined;
  if (part === undefined || value === undefined) return;
  if (Array.isArray(value)) for (const one of value) put(found, part, one);
  else put(found, part, value);
}

/** Some frameworks give null or a number; those count as empty. */
function put(found: Found, part: Part, value: unknown): void {
  if (found[part] !== undefined) found[part] = TWICE;
  else found[part] = typeof value === "string" ? value : "";
}
