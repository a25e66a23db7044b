import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { isArrayBuffer, isArrayBufferView } from "node:util/types";
import { type HeadersLike, type ReadHeaders, readSignatureHeaders } from "./headers";
import type { RawBody, VerificationFailure, VerificationResult } from "./result";
import { keysOf, WebhookSecretError } from "./secret";

/** The tolerance of the Standard Webhooks libraries, in seconds. */
export const DEFAULT_TOLERANCE_SECONDS = 300;
/** A receiver's longest, in seconds: a day. A longer one is in milliseconds by mistake, and would let recorded deliveries in for days. */
export const LONGEST_TOLERANCE_SECONDS = 86_400;

/** Options of `createVerifier`. */
export interface VerifierOptions {
  /** `whsec_` and the base64 of the key. Give several while a secret is rotated: any of them may match. */
  readonly secrets: string | readonly string[];
  /** How old, and how far ahead, a timestamp may be: whole seconds, default 300. 0 turns this window off and nothing else. */
  readonly toleranceSeconds?: number | undefined;
  /** The clock, in unix milliseconds. Default: `Date.now`. Unless the window is off, no delivery is accepted without a finite number from it. */
  readonly now?: (() => number) | undefined;
}

/** Verifies deliveries with the same secrets. */
export interface Verifier {
  /** As the function `verify`. */
  verify(rawBody: RawBody, headers: HeadersLike): boolean;
  /** As the function `verifyDetailed`. */
  verifyDetailed(rawBody: RawBody, headers: HeadersLike): VerificationResult;
}

/**
 * Creates a verifier for many deliveries, which reads and checks the secrets once, at start-up.
 *
 * ```ts
 * const verifier = createVerifier({ secrets: [newSecret, oldSecret] });
 * if (!verifier.verify(rawBody, request.headers)) return respond(401);
 * ```
 *
 * @throws WebhookSecretError if a secret is malformed or there is none; the message does not repeat it
 * @throws RangeError if the tolerance is not a whole number of seconds, 0 or more
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const check = signatureChecker(options);
  return {
    verify: (rawBody, headers) => check(rawBody, readSignatureHeaders(headers)).ok,
    verifyDetailed: (rawBody, headers) => check(rawBody, readSignatureHeaders(headers)),
  };
}

/** Returns what a verifier does with headers that have been read. @throws as `createVerifier` */
export function signatureChecker({
  secrets,
  toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
  now = Date.now,
}: VerifierOptions): (rawBody: RawBody, sent: ReadHeaders) => VerificationResult {
  checkTolerance(toleranceSeconds);
  const keys = keysOf(secrets);

  return (rawBody, sent) => {
    const body = hashable(rawBody);
    if (body === undefined) return refused("parsed-body");
    if (typeof sent === "string") return refused(sent);

    const timestamp = Number(sent.timestamp);
    if (toleranceSeconds > 0) {
      const time = now();
      if (!Number.isFinite(time)) return refused("invalid-clock");
      const age = Math.floor(time / 1000) - timestamp;
      if (age > toleranceSeconds) return refused("timestamp-too-old");
      if (age < -toleranceSeconds) return refused("timestamp-too-new");
    }

    const { signature } = sent;
    // One entry is the common case, which needs no splitting.
    const entries = canMatch(signature) ? [signature] : signature.split(" ").filter(canMatch);
    if (entries.length === 0) return refused("malformed-signature");
    // The body is hashed once for each key, whatever the header holds.
    for (const key of keys) {
      EXPECTED.write(signatureOf(key, sent, body), VERSION.length, "latin1");
      for (const entry of entries) {
        // Another length in bytes: it has characters outside ASCII, and a part of the entry before may be left.
        if (GIVEN.write(entry) === ENTRY_LENGTH && timingSafeEqual(GIVEN, EXPECTED))
          return { ok: true, id: sent.id, timestamp };
      }
    }
    return refused("signature-mismatch");
  };
}

/**
 * Returns true if a delivery is genuine: signed with the secret over exactly these bytes, and sent within the tolerance.
 *
 * ```ts
 * if (!verify(rawBody, request.headers, process.env.WEBHOOK_SECRET ?? "")) return respond(401);
 * ```
 *
 * It never throws on what a sender controls, and compares signatures in constant time. It accepts what the Standard Webhooks reference
 * library accepts, with the few differences that `docs/signature-mismatch.md` lists.
 *
 * @param rawBody the bytes as received, before any parsing; a string stands for its UTF-8 bytes
 * @param headers the request's headers, in any form and any case
 * @param secret one or several, as in `VerifierOptions`. If one is malformed, the result is false
 * @param toleranceSeconds as in `VerifierOptions`
 * @throws RangeError if the tolerance is not a whole number of seconds, 0 or more
 * @see https://www.standardwebhooks.com
 */
export function verify(
  rawBody: RawBody,
  headers: HeadersLike,
  secret: string | readonly string[],
  toleranceSeconds?: number,
): boolean {
  return verifyDetailed(rawBody, headers, secret, toleranceSeconds).ok;
}

/** The same, for logs: returns the reason for a refusal. The sender should get no more than "401". */
export function verifyDetailed(
  rawBody: RawBody,
  headers: HeadersLike,
  secret: string | readonly string[],
  toleranceSeconds?: number,
): VerificationResult {
  try {
    return createVerifier({ secrets: secret, toleranceSeconds }).verifyDetailed(rawBody, headers);
  } catch (error) {
    if (error instanceof WebhookSecretError) return refused("malformed-secret");
    throw error;
  }
}

/** Returns what is wrong with a tolerance, or undefined if it is valid. Does not repeat it: it could be a secret. */
export function problemOfTolerance(seconds: unknown, mostSeconds = Number.MAX_SAFE_INTEGER) {
  const number = Number.isSafeInteger(seconds) ? Number(seconds) : -1;
  if (number >= 0 && number <= mostSeconds) return undefined;
  return (
    "toleranceSeconds must be a whole number of seconds, not milliseconds, from 0 (no timestamp window), and for a receiver " +
    `to ${LONGEST_TOLERANCE_SECONDS}`
  );
}

/** @throws RangeError if the tolerance is invalid, which is a mistake in the program */
export function checkTolerance(seconds: number, mostSeconds?: number): void {
  const problem = problemOfTolerance(seconds, mostSeconds);
  if (problem !== undefined) throw new RangeError(`${problem}.`);
}

const VERSION = "v1,";
/** The length of the version and the base64 of 32 bytes. */
const ENTRY_LENGTH = 47;

// Reused for each comparison, as nothing here waits.
const GIVEN = Buffer.alloc(ENTRY_LENGTH);
const EXPECTED = Buffer.alloc(ENTRY_LENGTH, VERSION);

function refused(reason: VerificationFailure): VerificationResult {
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
