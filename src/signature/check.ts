import { timingSafeEqual } from "node:crypto";
import { type HeadersLike, readSignatureHeaders } from "./headers";
import { hashable, signatureOf } from "./hmac";
import type { RawBody, VerificationFailure, VerificationResult } from "./result";

interface Check {
  readonly rawBody: RawBody;
  readonly headers: HeadersLike;
  readonly keys: readonly Uint8Array[];
  readonly toleranceSeconds: number;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The length of `v1,` and the base64 of 32 bytes. */
const ENTRY_LENGTH = 47;

// Reused for each comparison, as nothing here waits.
const GIVEN = Buffer.alloc(ENTRY_LENGTH);
const EXPECTED = Buffer.alloc(ENTRY_LENGTH);

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

  const entries = v1Entries(sent.signature);
  if (entries.length === 0) return refused("malformed-signature");
  for (const key of keys) {
    const expected = signatureOf(key, sent, body);
    for (const entry of entries) if (isSame(entry, expected)) return { ok: true, id: sent.id, timestamp };
  }
  return refused("signature-mismatch");
}

export function refused(reason: VerificationFailure): VerificationResult {
  return { ok: false, reason };
}

/** Returns the entries that can match, and skips everything else, as the Standard Webhooks reference does. */
function v1Entries(header: string): readonly string[] {
  // One entry is the common case, which needs no splitting.
  return canMatch(header) ? [header] : header.split(" ").filter(canMatch);
}

function canMatch(entry: string): boolean {
  return entry.length === ENTRY_LENGTH && entry.startsWith("v1,");
}

/**
 * Compares two entries of `ENTRY_LENGTH` characters in constant time. Latin-1 keeps one byte of each character, so entries with the
 * same bytes are then compared as strings.
 */
function isSame(entry: string, expected: string): boolean {
  GIVEN.write(entry, "latin1");
  EXPECTED.write(expected, "latin1");
  return timingSafeEqual(GIVEN, EXPECTED) && entry === expected;
}
