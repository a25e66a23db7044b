import { check, checkTolerance, DEFAULT_TOLERANCE_SECONDS, refused } from "./check";
import type { HeadersLike } from "./headers";
import type { RawBody, VerificationResult } from "./result";
import { keysOf, WebhookSecretError } from "./secret";

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
  /** Returns true if the delivery is genuine, by the rules of the function `verify`. */
  verify(rawBody: RawBody, headers: HeadersLike): boolean;
  /** Returns the id and the timestamp of a genuine delivery, or the reason for its refusal. */
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
export function createVerifier({
  secrets,
  toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
  now = Date.now,
}: VerifierOptions): Verifier {
  checkTolerance(toleranceSeconds);
  const keys = keysOf(secrets);
  const verifyDetailed = (rawBody: RawBody, headers: HeadersLike) =>
    check({ rawBody, headers, keys, toleranceSeconds, now: now() });
  return { verifyDetailed, verify: (rawBody, headers) => verifyDetailed(rawBody, headers).ok };
}

/**
 * Returns true if a delivery is genuine: signed with the secret over exactly these bytes, and sent within the tolerance.
 *
 * ```ts
 * if (!verify(rawBody, request.headers, process.env.WEBHOOK_SECRET ?? "")) return respond(401);
 * ```
 *
 * It never throws on what a sender controls, and compares signatures in constant time. It accepts what the Standard Webhooks reference
 * library accepts, except:
 * - an id that is not visible ASCII without '.', and a timestamp that is not plain decimal digits;
 * - a header that was sent twice;
 * - a matching entry that is not exactly `v1,` and 44 characters, such as `v1,<signature>,x`;
 * - a body that is not UTF-8: the reference hashes its decoded form, and `verify` the bytes as received;
 * - a secret without the prefix `whsec_`.
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

/**
 * Verifies as `verify` does, and returns the id and the timestamp of a genuine delivery, or the reason for its refusal: for logs.
 * Send the sender no more than "401".
 *
 * ```ts
 * const result = verifyDetailed(rawBody, request.headers, secret);
 * if (!result.ok) logger.warn(`delivery refused: ${result.reason}`);
 * ```
 *
 * @throws RangeError if the tolerance is not a whole number of seconds, 0 or more
 */
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
