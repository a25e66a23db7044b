import { type KeyObject, timingSafeEqual } from "node:crypto";
import { type HeadersLike, readSignatureHeaders } from "./headers";
import { hashable, signatureOf } from "./hmac";
import type { RawBody, VerificationFailure, VerificationResult } from "./result";

export interface Check {
  readonly rawBody: RawBody;
  readonly headers: HeadersLike;
  readonly keys: readonly KeyObject[];
  readonly toleranceSeconds: number;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The length of `v1,` and the base64 of 32 bytes. */
const ENTRY_LENGTH = 47;
/** Bounds the work that one header can cause. A sender that rotates its secrets needs a handful. */
const MOST_ENTRIES = 32;

/** Verifies one message. Hashes the body once for each key until one matches. Never throws on what a sender controls. */
export function check({ rawBody, headers, keys, toleranceSeconds, now }: Check): VerificationResult {
  const body = hashable(rawBody);
  if (body === undefined) return refused("body-not-raw");
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
  if (entries.length === 0) return refused(reasonForNoEntry(sent.signature));
  if (entries.length > MOST_ENTRIES) return refused("too-many-signatures");
  for (const key of keys) {
    const expected = Buffer.from(signatureOf(key, { id: sent.id, timestamp: sent.timestamp, body }));
    for (const entry of entries) {
      if (entry.length === expected.length && timingSafeEqual(entry, expected))
        return { ok: true, id: sent.id, timestamp };
    }
  }
  return refused(isJoined(sent.signature) ? "duplicate-signature" : "signature-mismatch");
}

export function refused(reason: VerificationFailure): VerificationResult {
  return { ok: false, reason };
}

/**
 * Returns the entries that can match, as UTF-8: `v1,` and 44 characters. Skips everything else, as the Standard Webhooks
 * reference does: other versions, malformed entries, extra spaces.
 */
function v1Entries(header: string): Buffer[] {
  const entries: Buffer[] = [];
  for (const entry of header.split(" ")) {
    if (entry.length === ENTRY_LENGTH && entry.startsWith("v1,")) entries.push(Buffer.from(entry));
  }
  return entries;
}

function reasonForNoEntry(header: string): VerificationFailure {
  if (!/(?:^| )v1,/.test(header)) return "no-v1-signature";
  return isJoined(header) ? "duplicate-signature" : "malformed-signature";
}

/** Whether the header was sent twice and joined by a comma: Node and Fetch join with ", ", AWS with "," after the padding. */
function isJoined(header: string): boolean {
  return header.includes(", ") || header.includes("=,");
}
