import type { VerificationFailure } from "./result";

/** A header's value; an array holds one element for each time the header was sent. */
export type HeaderValue = string | readonly string[] | undefined;

/**
 * Request headers in whatever form a framework has them, names in any case: a record (Node's `req.headers`,
 * `headersDistinct`, an AWS Lambda event's `headers` or `multiValueHeaders`), a Fetch `Headers`, a `Map`, or pairs.
 */
export type HeadersLike =
  | Readonly<Record<string, HeaderValue>>
  | Iterable<readonly [name: string, value: HeaderValue]>;

/** The three headers of a delivery, each sent once and in canonical form. */
export interface SignatureHeaders {
  readonly id: string;
  /** As sent: the signature covers this text. */
  readonly timestamp: string;
  readonly signature: string;
}

const ID = "webhook-id";
const TIMESTAMP = "webhook-timestamp";
const SIGNATURE = "webhook-signature";

/** The three headers of a delivery, or why they cannot be had. Never throws. */
export function readSignatureHeaders(headers: HeadersLike): SignatureHeaders | VerificationFailure {
  const found = collect(headers);
  const id = found[ID];
  const timestamp = found[TIMESTAMP];
  const signature = found[SIGNATURE];

  if (id === undefined || id === "") return "missing-id";
  if (timestamp === undefined || timestamp === "") return "missing-timestamp";
  if (signature === undefined || signature === "") return "missing-signature";
  // Node, Fetch and most gateways join a header that came twice with ", ", which occurs in no canonical value.
  if (id === TWICE || id.includes(", ")) return "duplicate-id";
  if (timestamp === TWICE || timestamp.includes(",")) return "duplicate-timestamp";
  if (signature === TWICE || signature.includes(", ")) return "duplicate-signature";
  if (!isCanonicalId(id)) return "malformed-id";
  if (!isCanonicalTimestamp(timestamp)) return "malformed-timestamp";
  return { id, timestamp, signature };
}

/** Visible ASCII without '.': that separates what is signed, and "a.1" + "." + "b" must not read as "a" + "." + "1.b". */
export function isCanonicalId(id: string): boolean {
  return /^[\x21-\x2d\x2f-\x7e]+$/.test(id);
}

/** Decimal digits without a leading zero, at most the largest safe integer. */
export function isCanonicalTimestamp(timestamp: string): boolean {
  return /^(?:0|[1-9]\d{0,15})$/.test(timestamp) && Number.isSafeInteger(Number(timestamp));
}

const TWICE = Symbol("sent more than once");
type Found = { [name in typeof ID | typeof TIMESTAMP | typeof SIGNATURE]: string | typeof TWICE | undefined };

function collect(headers: HeadersLike): Found {
  const found: Found = { [ID]: undefined, [TIMESTAMP]: undefined, [SIGNATURE]: undefined };
  if (typeof headers !== "object" || headers === null) return found;
  if (isIterable(headers)) {
    for (const pair of headers) if (Array.isArray(pair)) add(found, pair[0], pair[1]);
  } else {
    for (const name of Object.keys(headers)) add(found, name, headers[name]);
  }
  return found;
}

function isIterable(headers: HeadersLike): headers is Iterable<readonly [string, HeaderValue]> {
  return typeof (headers as { [Symbol.iterator]?: unknown })[Symbol.iterator] === "function";
}

function add(found: Found, name: unknown, value: unknown): void {
  const known = knownName(name);
  if (known === undefined || value === undefined) return;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const one of values) found[known] = found[known] === undefined ? text(one) : TWICE;
}

// Without the flag `u`, /i folds ASCII letters alone: no other character passes for one of these.
const FOLDED = {
  [ID]: /^webhook-id$/i,
  [TIMESTAMP]: /^webhook-timestamp$/i,
  [SIGNATURE]: /^webhook-signature$/i,
};

function knownName(name: unknown): keyof Found | undefined {
  if (name === ID || name === TIMESTAMP || name === SIGNATURE) return name;
  if (typeof name !== "string") return undefined;
  if (name.length === ID.length) return FOLDED[ID].test(name) ? ID : undefined;
  if (name.length !== TIMESTAMP.length) return undefined;
  if (FOLDED[TIMESTAMP].test(name)) return TIMESTAMP;
  return FOLDED[SIGNATURE].test(name) ? SIGNATURE : undefined;
}

/** What is no text reads as an empty header: some frameworks give null or a number. */
function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
