/**
 * Why a message was refused: the first reason found. `docs/signature-mismatch.md` says what to do about each.
 *
 * | reason | meaning |
 * | --- | --- |
 * | `malformed-secret` | the receiver's own secret cannot be used, or there is none (`verifyDetailed` only) |
 * | `body-not-raw` | the body given is no bytes and no text: a framework parsed it before verification |
 * | `missing-id`, `missing-timestamp`, `missing-signature` | the header is absent or empty |
 * | `duplicate-id`, `duplicate-timestamp`, `duplicate-signature` | the header came more than once |
 * | `malformed-id` | the id holds a '.', a space or what is not visible ASCII |
 * | `malformed-timestamp` | the timestamp is no plain decimal number: a sign, a leading zero, a fraction, a date |
 * | `timestamp-too-old`, `timestamp-too-new` | outside the tolerance: a replay, a slow queue, or a clock that is wrong |
 * | `no-v1-signature` | the signature header has no entry of the scheme `v1` |
 * | `malformed-signature` | no `v1` entry is the canonical base64 of 32 bytes, or the header is not entries with one space between |
 * | `signature-mismatch` | another secret, or a body that is not byte for byte the one that was signed |
 */
export type VerificationFailure =
  | "malformed-secret"
  | "body-not-raw"
  | "missing-id"
  | "missing-timestamp"
  | "missing-signature"
  | "duplicate-id"
  | "duplicate-timestamp"
  | "duplicate-signature"
  | "malformed-id"
  | "malformed-timestamp"
  | "timestamp-too-old"
  | "timestamp-too-new"
  | "no-v1-signature"
  | "malformed-signature"
  | "signature-mismatch";

/** The message is genuine, and these are its id and its time of sending in unix seconds; or why it was refused. */
export type VerificationResult =
  | { readonly ok: true; readonly id: string; readonly timestamp: number }
  | { readonly ok: false; readonly reason: VerificationFailure };

/** A message as it came over the wire: bytes, or text that stands for its UTF-8 bytes. */
export type RawBody = Uint8Array | ArrayBuffer | string;
