import { setTimeout as sleep } from "node:timers/promises";
import { problemOfUrl } from "./arguments";
import { LONGEST_ATTEMPT_MS, probeReceiver, type ValidationResult } from "./probe";
import { canPass } from "./verdict";

/** Options of `validateReceiver`. */
export interface ValidateReceiverOptions {
  /** Where the receiver listens: an absolute http(s) URL without user-info. */
  readonly url: string;
  /** `whsec_…`. With several, the receiver must accept each. */
  readonly secrets: string | readonly string[];
  /** How long to retry what can pass, in milliseconds, at most an hour. Default 60,000. At least one attempt is made. */
  readonly timeoutMs?: number | undefined;
  /** Ends the validation at once: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;
/** One hour. */
const LONGEST_TIMEOUT_MS = 3_600_000;

/**
 * Proves that a receiver accepts genuine deliveries and refuses others. For each secret it sends a signed delivery of the type
 * `webhook.validation`, and then the same with a broken signature. Validated means that every genuine one was answered 2xx and every
 * broken one 4xx.
 *
 * Until the deadline it retries what can pass: no answer, 404, 405, 408, 429, 5xx, and a genuine delivery that is refused, because the
 * new release may still be on its way. A broken delivery that is accepted, or a redirect, ends the validation at once.
 *
 * ```ts
 * const { validated, code, reason } = await validateReceiver({ url: "https://hooks.example.com/jobs", secrets });
 * if (!validated) throw new Error(`${reason} (${code})`);
 * ```
 *
 * @throws TypeError for a url that is not absolute http(s), and for an empty list of secrets
 * @throws RangeError for a timeout out of its range
 * @throws WebhookSecretError for a malformed secret; its message does not repeat it
 * @throws the reason of the signal
 */
export async function validateReceiver(options: ValidateReceiverOptions): Promise<ValidationResult> {
  const { url, secrets: given, timeoutMs = 60_000, signal } = options;
  const problem = problemOfUrl(url);
  if (problem !== undefined) throw new TypeError(`Cannot validate a receiver: url ${problem}.`);
  // Also refuses NaN, and a string, which may be a secret.
  if (!(Number.isFinite(timeoutMs) && timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS))
    throw new RangeError(
      `Cannot validate a receiver: timeoutMs must be a number of milliseconds above 0, at most ${LONGEST_TIMEOUT_MS}.`,
    );
  const secrets = typeof given === "string" ? [given] : given;
  const deadline = performance.now() + timeoutMs;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    const leftMs = Math.min(deadline - performance.now(), LONGEST_ATTEMPT_MS);
    const result = await probeReceiver({ url, secrets, timeoutMs: leftMs, signal });
    if (result.validated || !canPass(result.code)) return result;
    if (performance.now() + waitMs >= deadline) return result;
    await sleep(waitMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}
