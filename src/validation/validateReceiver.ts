import { setTimeout as sleep } from "node:timers/promises";
import { unknownOptions } from "../shared/knownOptions";
import { openWayTo } from "../shared/post";
import { HIDDEN, shown } from "../shared/shown";
import { probe, type ValidationResult } from "./probe";
import { problemOfUrl } from "./url";
import { canPass } from "./verdict";

/** Options of `validateReceiver`. */
export interface ValidateReceiverOptions {
  /** Where the receiver listens: an absolute http(s) URL without user-info. */
  readonly url: string;
  /** `whsec_…`. With several, the receiver must accept each. */
  readonly secrets: string | readonly string[];
  /** How long to retry what can pass, in milliseconds. Default 60,000. At least one attempt is made. */
  readonly timeoutMs?: number | undefined;
  /** Ends the validation at once: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** An attempt is given this long, in milliseconds, and less when the deadline is near. */
const LONGEST_ATTEMPT_MS = 10_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;
const OPTION_NAMES: readonly string[] = ["url", "secrets", "timeoutMs", "signal"];
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
 * @throws TypeError for a url that is not absolute http(s), an empty list of secrets, and an unknown option
 * @throws RangeError for a timeout out of its range
 * @throws WebhookSecretError for a malformed secret; its message does not repeat it
 * @throws the reason of the signal
 */
export async function validateReceiver(options: ValidateReceiverOptions): Promise<ValidationResult> {
  return validate(options, FIRST_WAIT_MS);
}

/** Asks once, without retries. Takes about ten seconds at most. */
export async function validateOnce(
  options: Omit<ValidateReceiverOptions, "timeoutMs">,
): Promise<ValidationResult> {
  return validate({ ...options, timeoutMs: LONGEST_ATTEMPT_MS }, Number.POSITIVE_INFINITY);
}

/** @param firstWaitMs between the first two attempts; later waits are longer. There is one attempt if it reaches the deadline. */
async function validate(options: ValidateReceiverOptions, firstWaitMs: number): Promise<ValidationResult> {
  const { url, secrets, timeoutMs, signal } = resolve(options);
  const dispatcher = openWayTo(url);
  const deadline = performance.now() + timeoutMs;
  try {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const leftMs = Math.min(deadline - performance.now(), LONGEST_ATTEMPT_MS);
      const result = await probe({ url, secrets, dispatcher, timeoutMs: leftMs, signal });
      if (result.validated || !canPass(result.code)) return result;
      signal?.throwIfAborted();
      if (performance.now() + waitMs >= deadline) return result;
      await sleep(waitMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  } finally {
    await dispatcher.destroy();
  }
}

function resolve(options: ValidateReceiverOptions) {
  const unknown = unknownOptions(options, OPTION_NAMES, "an option of validateReceiver");
  // A name may be a secret in the wrong place.
  const isShown = Object.keys(Object(options)).every((name) => shown(name) === name && !/whsec_/i.test(name));
  if (unknown.length > 0)
    throw new TypeError(
      `Cannot validate a receiver: ${isShown ? unknown.join("; ") : `an option is unknown ${HIDDEN}; use ${OPTION_NAMES.join(", ")}`}.`,
    );
  const { url, secrets, timeoutMs = 60_000, signal }: ValidateReceiverOptions = Object(options);
  const problem = problemOfUrl(url);
  if (problem !== undefined) throw new TypeError(`Cannot validate a receiver: url ${problem}.`);
  if (typeof secrets !== "string" && !Array.isArray(secrets)) {
    const isPromise = typeof Object(secrets).then === "function";
    const given = isPromise ? "a promise: await it first" : `a value of type ${typeof secrets}`;
    throw new TypeError(
      `Cannot validate a receiver: secrets must be a secret or a list of them, not ${given}.`,
    );
  }
  // A string would be joined to the time of the deadline.
  if (!(typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS)) {
    const given = typeof timeoutMs === "number" ? String(timeoutMs) : `a value of type ${typeof timeoutMs}`;
    throw new RangeError(
      `Cannot validate a receiver: timeoutMs must be above 0 and at most ${LONGEST_TIMEOUT_MS} milliseconds; got ${given}.`,
    );
  }
  if (signal && typeof signal.throwIfAborted !== "function")
    throw new TypeError("Cannot validate a receiver: signal must be the signal of an AbortController.");
  return { url, secrets: typeof secrets === "string" ? [secrets] : secrets, timeoutMs, signal };
}
