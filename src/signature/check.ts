import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { isArrayBuffer, isArrayBufferView } from "node:util/types";
import { type HeadersLike, readSignatureHeaders } from "./headers";
import type { RawBody, VerificationFailure, VerificationResult } from "./result";

/** The tolerance of the Standard Webhooks libraries, in seconds. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/** A receiver's longest, in seconds: a day. A longer one is in milliseconds by mistake, and would let recorded deliveries in for days. */
export const LONGEST_TOLERANCE_SECONDS = 86_400;

/** Returns what is wrong with a tolerance, or undefined if it is valid. Does not repeat it: it could be a secret. */
export function problemOfTolerance(
  seconds: unknown,
  mostSeconds: number = Number.MAX_SAFE_INTEGER,
): string | undefined {
  if (Number.isSafeInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= mostSeconds)
    return undefined;
  const most = mostSeconds === Number.MAX_SAFE_INTEGER ? "" : `, to ${mostSeconds}`;
  return `toleranceSeconds must be a whole number of seconds, not milliseconds, from 0 (no timestamp window)${most}`;
}

/** @throws RangeError if the tolerance is invalid, which is a mistake in the program */
export function checkTolerance(seconds: number, mostSeconds?: number): void {
  const problem = problemOfTolerance(seconds, mostSeconds);
  if (problem !== undefined) throw new RangeError(`${problem}.`);
}

interface Check {
  readonly rawBody: RawBody;
  readonly headers: HeadersLike;
  readonly keys: readonly KeyObject[];
  readonly toleranceSeconds: number;
  /** Unix milliseconds. */
  readonly now: number;
}

const VERSION = "v1,";
/** The length of the version and the base64 of 32 bytes. */
const ENTRY_LENGTH = 47;

// Reused for each comparison, as nothing here waits.
const GIVEN = Buffer.alloc(ENTRY_LENGTH);
const EXPECTED = Buffer.alloc(ENTRY_LENGTH, VERSION);

/** Verifies one message. Hashes the body once for each key until one matches. Never throws on what a sender controls. */
export function check({ rawBody, headers, keys, toleranceSeconds, now }: Check): VerificationResult {
  const body = hashable(rawBody);
  if (body === undefined) return refused("parsed-body");
  const sent = readSignatureHeaders(headers);
  if (typeof sent === "string") return refused(sent);

  const timestamp = Number(sent.timestamp);
  if (toleranceSeconds > 0) {
    if (!Number.isFinite(now)) return refused("invalid-clock");
    const age = Math.floor(now / 1000) - timestamp;
    if (age > toleranceSeconds) return refused("timestamp-too-old");
    if (age < -toleranceSeconds) return refused("timestamp-too-new");
  }

  const { signature } = sent;
  // One entry is the common case, which needs no splitting.
  const entries = canMatch(signature) ? [signature] : signature.split(" ").filter(canMatch);
  if (entries.length === 0) return refused("malformed-signature");
  for (const key of keys) {
    EXPECTED.write(signatureOf(key, sent, body), VERSION.length, "latin1");
    for (const entry of entries) {
      // Another length in bytes: it has characters outside ASCII, and a part of the entry before may be left.
      if (GIVEN.write(entry) === ENTRY_LENGTH && timingSafeEqual(GIVEN, EXPECTED))
        return { ok: true, id: sent.id, timestamp };
    }
  }
  return refused("signature-mismatch");
}

export function refused(reason: VerificationFailure): VerificationResult {
  return { ok: false, reason };
}

/** Everything else in the header is skipped, as the Standard Webhooks reference does. */
function canMatch(entry: string): boolean {
  return entry.length === ENTRY_LENGTH && entry.startsWith(VERSION);
}

/** Computes the signature of a message: the HMAC-SHA256 over `id.timestamp.body`, in base64. */
export function signatureOf(
  key: KeyObject,
  { id, timestamp }: { readonly id: string; readonly timestamp: string },
  body: NodeJS.ArrayBufferView | string,
): string {
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
}

/** Returns a body in a form that can be hashed, or undefined if it is neither bytes nor a string, such as a parsed body. */
export function hashable(body: unknown): NodeJS.ArrayBufferView | string | undefined {
  if (typeof body === "string" || isArrayBufferView(body)) return body;
  return isArrayBuffer(body) ? new Uint8Array(body) : undefined;
}
