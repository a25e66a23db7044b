import type { ReadHeaders } from "../signature/headers";
import type { VerificationResult } from "../signature/result";
import { checkTolerance, LONGEST_TOLERANCE_SECONDS, signatureChecker } from "../signature/verify";
import type { Secrets } from "./types";
import { inTime } from "./waiting";

interface DeliveryVerifierOptions {
  readonly toleranceSeconds: number;
  readonly now: () => number;
  /** The secrets until the function's first result. */
  readonly initial: Secrets | undefined;
  readonly onError: (error: unknown) => void;
}

type Verified = VerificationResult | { readonly ok: false; readonly reason: "no-secrets" };

/** How long a result is used, and so how long a withdrawn secret is still accepted, unless the function fails. */
const MAX_AGE_MS = 60_000;
/** The least time between two calls: neither forged messages nor a function that fails cause more. */
const PAUSE_MS = 5_000;
/** How long one call may take. */
const TIMEOUT_MS = 5_000;

/**
 * Returns a function that verifies a delivery, by the rules of its option `secrets`. Deliveries that wait share one call of its function.
 * @throws WebhookSecretError if a secret given as a value is malformed; RangeError for an invalid tolerance
 */
export function deliveryVerifier(
  secrets: Secrets | (() => Secrets | Promise<Secrets>),
  { toleranceSeconds, now, initial, onError }: DeliveryVerifierOptions,
): (body: Uint8Array, sent: ReadHeaders) => Verified | Promise<Verified> {
  checkTolerance(toleranceSeconds, LONGEST_TOLERANCE_SECONDS);
  const verifierOf = (values: Secrets) => signatureChecker({ secrets: values, toleranceSeconds, now });
  if (typeof secrets !== "function") return verifierOf(secrets);
  const read = secrets;
  let verifier = initial === undefined ? undefined : verifierOf(initial);
  let askedAt = Number.NEGATIVE_INFINITY;
  let goodAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const startedAt = now();
    askedAt = startedAt;
    try {
      const reading = Promise.resolve().then(read);
      verifier = verifierOf(await inTime("Reading the webhook secrets", TIMEOUT_MS, reading));
      goodAt = startedAt;
    } catch (error) {
      onError(error);
    } finally {
      asking = undefined;
    }
  }

  // A clock that was set back or fails counts as old: calling the function once too often is harmless.
  function isOlder(time: number, milliseconds: number): boolean {
    const age = now() - time;
    return !(age >= 0 && age < milliseconds);
  }

  function askAgain(): Promise<void> | undefined {
    // A call that has not ended by then counts as lost: in Cloudflare Workers, it ends with the request that started it.
    if (isOlder(askedAt, PAUSE_MS)) asking = ask();
    return asking;
  }

  return async (body, sent) => {
    if (isOlder(goodAt, MAX_AGE_MS)) await askAgain();
    const before = verifier;
    if (before === undefined) return { ok: false, reason: "no-secrets" };
    const result = before(body, sent);
    if (result.ok || result.reason !== "signature-mismatch") return result;
    await askAgain();
    return verifier === before ? result : (verifier ?? before)(body, sent);
  };
}
