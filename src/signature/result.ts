/** Why a message was refused: the first reason found. `docs/signature-mismatch.md` explains what to do about each. */
export type VerificationFailure =
  | "malformed-secret" // the receiver's own secret is malformed or missing (`verifyDetailed` only)
  | "invalid-clock" // the receiver's own `now` did not return a finite number
  | "parsed-body" // the body is neither bytes nor a string: a framework parsed it before verification
  | "missing-header" // `webhook-id`, `webhook-timestamp` or `webhook-signature` is absent or empty
  | "malformed-id" // it holds a '.', a space or a character that is not visible ASCII, or was sent twice
  | "malformed-timestamp" // it is not a plain decimal number (a sign, a leading zero, a date), or was sent twice
  | "malformed-signature" // no entry of the header is `v1,` and 44 characters
  | "timestamp-too-old" // outside the tolerance: a replay, a slow queue, or a wrong clock
  | "timestamp-too-new" // outside the tolerance: a wrong clock
  | "signature-mismatch"; // another secret, or a body that is not byte for byte the one that was signed

/** The message is genuine, with its id and its time of sending in unix seconds; or the reason why it was refused. */
export type VerificationResult =
  | { readonly ok: true; readonly id: string; readonly timestamp: number }
  | { readonly ok: false; readonly reason: VerificationFailure };

/** A body as received: bytes, or a string that stands for its UTF-8 bytes. */
export type RawBody = Uint8Array | ArrayBuffer | string;
