import { check, checkTolerance, DEFAULT_TOLERANCE_SECONDS, refused } from "./check";
import type { HeadersLike } from "./headers";
import type { RawBody, VerificationResult } from "./result";
import { keysOf, WebhookSecretError } from "./secret";

/**
 * Whether a delivery is genuine: signed with the secret over exactly these bytes, and sent within the tolerance.
 *
 * ```ts
 * if (!verify(rawBody, request.headers, process.env.WEBHOOK_SECRET ?? "")) return respond(401);
 * ```
 *
 * Pure: no network, no lookup. It never throws on what a sender controls. Signatures are compared in constant time, and
 * only canonical forms are accepted: a header sent once, a decimal timestamp, the padded base64 of 32 bytes.
 *
 * @param rawBody the bytes as received, before any parsing; text stands for its UTF-8 bytes
 * @param headers the request's headers, in any form and any case
 * @param secret `whsec_` and the base64 of the key; several while a secret is rotated, any of which may match. With a
 *   malformed one among them the answer is false
 * @param toleranceSeconds how old, and how far ahead of this machine's clock, the timestamp may be: whole seconds,
 *   default 300; 0 turns this window off and nothing else
 * @throws RangeError when the tolerance is no whole number of seconds, 0 or more
 * @see https://www.standardwebhooks.com
 */
export function verify(
  rawBody: RawBody,
  headers: HeadersLike,
  secret: string | readonly string[],
  toleranceSeconds: number = DEFAULT_TOLERANCE_SECONDS,
): boolean {
  return verifyDetailed(rawBody, headers, secret, toleranceSeconds).ok;
}

/**
 * `verify` with the id and timestamp of a genuine delivery, or with the reason of a refusal: for logs and for finding out why
 * a signature does not match. The reasons are no secret, but tell a sender no more than "401".
 *
 * ```ts
 * const result = verifyDetailed(rawBody, request.headers, secret);
 * if (!result.ok) logger.warn(`delivery refused: ${result.reason}`);
 * ```
 *
 * @throws RangeError when the tolerance is no whole number of seconds, 0 or more
 */
export function verifyDetailed(
  rawBody: RawBody,
  headers: HeadersLike,
  secret: string | readonly string[],
  toleranceSeconds: number = DEFAULT_TOLERANCE_SECONDS,
): VerificationResult {
  checkTolerance(toleranceSeconds);
  const keys = keysOrNone(secret);
  if (keys === undefined) return refused("malformed-secret");
  return check({ rawBody, headers, keys, toleranceSeconds, now: Date.now() });
}

function keysOrNone(secret: string | readonly string[]): ReturnType<typeof keysOf> | undefined {
  try {
    return keysOf(secret);
  } catch (error) {
    if (error instanceof WebhookSecretError) return undefined;
    throw error;
  }
}
