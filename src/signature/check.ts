import { type HeadersLike, readSignatureHeaders } from "./headers";
import { hashable, type MacKey, mac } from "./mac";
import { holdsSignature, problemOfForm, reasonOfMismatch } from "./match";
import type { RawBody, VerificationFailure, VerificationResult } from "./result";

/** The default tolerance, in seconds, of the Standard Webhooks libraries and of the service's own. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/** @throws RangeError for a tolerance that is no whole number of seconds, 0 or more: a mistake of the program */
export function checkTolerance(toleranceSeconds: number): void {
  if (Number.isSafeInteger(toleranceSeconds) && toleranceSeconds >= 0) return;
  throw new RangeError(
    `toleranceSeconds must be a whole number of seconds, 0 or more (0 turns the timestamp window off); got ${String(toleranceSeconds)}.`,
  );
}

export interface Check {
  readonly rawBody: RawBody;
  readonly headers: HeadersLike;
  readonly keys: readonly MacKey[];
  readonly toleranceSeconds: number;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Verifies one message with keys that were read before. Hashes the body once for each key until one matches. */
export function check({ rawBody, headers, keys, toleranceSeconds, now }: Check): VerificationResult {
  const body = hashable(rawBody);
  if (body === undefined) return refused("body-not-raw");
  const sent = readSignatureHeaders(headers);
  if (typeof sent === "string") return refused(sent);

  const timestamp = Number(sent.timestamp);
  if (toleranceSeconds > 0) {
    const age = Math.floor(now / 1000) - timestamp;
    if (age > toleranceSeconds) return refused("timestamp-too-old");
    if (age < -toleranceSeconds) return refused("timestamp-too-new");
  }
  for (const key of keys) {
    if (holdsSignature(sent.signature, mac(key, sent.id, sent.timestamp, body))) {
      const problem = problemOfForm(sent.signature);
      return problem === undefined ? { ok: true, id: sent.id, timestamp } : refused(problem);
    }
  }
  return refused(reasonOfMismatch(sent.signature));
}

export function refused(reason: VerificationFailure): VerificationResult {
  return { ok: false, reason };
}
