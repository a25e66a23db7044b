import type { VerificationFailure } from "./result";

/** A header's value; an array holds one element for each time the header was sent. */
export type HeaderValue = string | readonly string[] | undefined;

/**
 * Request headers in whatever form a framework has them, names in any case: a record (Node's `req.headers`,
 * `headersDistinct`, an AWS Lambda event's `headers` or `multiValueHeaders`), a Fetch `Headers`, a `Map`, or pairs.
 */
export type HeadersLike = Readonly<Record<string, HeaderValue>> | Iterable<readonly [string, HeaderValue]>;

/** The three headers of a delivery, each sent once and in canonical form. */
export interface SignatureHeaders {
  readonly id: string;
  /** As sent: the signature covers this text. */
  readonly timestamp: string;
  readonly signature: string;
}

/** The three headers of a delivery, or why they cannot be had. Never throws. */
export function readSignatureHeaders(headers: HeadersLike): SignatureHeaders | VerificationFailure {
  const { id, timestamp, signature } = collect(headers);
  if (id === undefined || id === "") return "missing-id";
  if (timestamp === undefined || timestamp === "") return "missing-timestamp";
  if (signature === undefined || signature === "") return "missing-signature";
  if (id === TWICE) return "duplicate-id";
  if (timestamp === TWICE) return "duplicate-timestamp";
  if (signature === TWICE) return "duplicate-signature";
  // Node, Fetch and gateways may make one value of a header that came twice, by a comma. In the signature `match.ts` looks for it.
  if (!isCanonicalId(id)) return id.includes(", ") ? "duplicate-id" : "malformed-id";
  if (!isCanonicalTimestamp(timestamp))
    return timestamp.includes(",") ? "duplicate-timestamp" : "malformed-timestamp";
  return { id, timestamp, signature };
}

/** Visible ASCII without '.': that separates what is signed, and "a.1" + "." + "b" must not read as "a" + "." + "1.b". */
export function isCanonicalId(id: string): boolean {
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    if (code <= 0x20 || code >= 0x7f || code === 0x2e) return false;
  }
  return id !== "";
}

/** Decimal digits without a leading zero, at most the largest safe integer. */
export function isCanonicalTimestamp(timestamp: string): boolean {
  for (let i = 0; i < timestamp.length; i++) {
    const digit = timestamp.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9 || (i === 0 && digit === 0 && timestamp !== "0")) return false;
  }
  return timestamp !== "" && Number.isSafeInteger(Number(timestamp));
}

const TWICE = Symbol("sent more than once");
type Found = { [part in keyof SignatureHeaders]: string | typeof TWICE | undefined };
type Writable<T> = { -readonly [key in keyof T]: T[key] };

function collect(headers: HeadersLike): Found {
  const found: Writable<Found> = { id: undefined, timestamp: undefined, signature: undefined };
  if (typeof headers !== "object" || headers === null) return found;
  if (isIterable(headers)) {
    for (const pair of headers) {
      const part = Array.isArray(pair) ? partNamed(pair[0]) : undefined;
      if (part !== undefined) add(found, part, pair[1]);
    }
  } else {
    for (const name in headers) {
      const part = partNamed(name);
      if (part !== undefined) add(found, part, headers[name]);
    }
  }
  return found;
}

function isIterable(headers: HeadersLike): headers is Iterable<readonly [string, HeaderValue]> {
  return typeof (headers as { [Symbol.iterator]?: unknown })[Symbol.iterator] === "function";
}

function add(found: Writable<Found>, part: keyof Found, value: unknown): void {
  if (value === undefined) return;
  if (Array.isArray(value)) for (const one of value) put(found, part, one);
  else put(found, part, value);
}

/** What is no text reads as an empty header: some frameworks give null or a number. */
function put(found: Writable<Found>, part: keyof Found, value: unknown): void {
  if (found[part] !== undefined) found[part] = TWICE;
  else found[part] = typeof value === "string" ? value : "";
}

const ID = "webhook-id";
const TIMESTAMP = "webhook-timestamp";
const SIGNATURE = "webhook-signature";

// Without the flag `u`, /i folds ASCII letters alone: no other character passes for one of these.
const ANY_CASE_ID = /^webhook-id$/i;
const ANY_CASE_TIMESTAMP = /^webhook-timestamp$/i;
const ANY_CASE_SIGNATURE = /^webhook-signature$/i;

function partNamed(name: unknown): keyof Found | undefined {
  if (typeof name !== "string" || (name.length !== ID.length && name.length !== TIMESTAMP.length))
    return undefined;
  if (name === ID) return "id";
  if (name === TIMESTAMP) return "timestamp";
  if (name === SIGNATURE) return "signature";
  if (ANY_CASE_ID.test(name)) return "id";
  if (ANY_CASE_TIMESTAMP.test(name)) return "timestamp";
  return ANY_CASE_SIGNATURE.test(name) ? "signature" : undefined;
}
