import { check, checkTolerance, DEFAULT_TOLERANCE_SECONDS } from "./check";
import type { HeadersLike } from "./headers";
import type { RawBody, VerificationResult } from "./result";
import { keysOf } from "./secret";

export interface VerifierOptions {
  /** `whsec_` and the base64 of the key; several while a secret is rotated, any of which may match. */
  readonly secrets: string | readonly string[];
  /** Whole seconds, default 300; 0 turns the timestamp window off and nothing else. */
  readonly toleranceSeconds?: number | undefined;
  /** The clock, in unix milliseconds. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

export interface Verifier {
  /** As `verifyDetailed`, with the secrets read once. Never throws on what a sender controls. */
  verify(rawBody: RawBody, headers: HeadersLike): VerificationResult;
}

/**
 * A verifier for many deliveries: secrets are read and checked once, at start-up.
 *
 * ```ts
 * const verifier = createVerifier({ secrets: [newSecret, oldSecret] });
 * const result = verifier.verify(rawBody, request.headers);
 * ```
 *
 * @throws WebhookSecretError when a secret is malformed, or when there is none; the message does not repeat it
 * @throws RangeError when the tolerance is no whole number of seconds, 0 or more
 */
export function createVerifier({
  secrets,
  toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
  now = Date.now,
}: VerifierOptions): Verifier {
  checkTolerance(toleranceSeconds);
  const keys = keysOf(secrets);
  return {
    verify: (rawBody, headers) => check({ rawBody, headers, keys, toleranceSeconds, now: now() }),
  };
}
