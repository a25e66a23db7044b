import { setTimeout as sleep } from "node:timers/promises";
import { MOST_SECONDS } from "../shared/optionChecks";
import { type DeliveryResponse, postDelivery, textOf } from "../shared/post";
import { problemOfReceiverUrl } from "../shared/url";
import { VALIDATION_EVENT, VALIDATION_ID } from "../signature/event";
import { fingerprintOf, newSecret } from "../signature/secret";
import { newMessageId, signedHeaders } from "../signature/sign";
import { isTemporary, type Problem, problemOf } from "./problem";

/** Options of `validateReceiver`. */
export interface ValidateReceiverOptions {
  /** Where the receiver listens: an absolute http(s) URL without user-info. */
  readonly url: string;
  /** `whsec_…`. With several, the receiver must accept each. */
  readonly secrets: string | readonly string[];
  /** How long to retry temporary failures, in milliseconds, at most an hour. Default 60,000. The last attempt may end up to ten seconds later. */
  readonly timeoutMs?: number | undefined;
  /** Ends the validation at once: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Responses of the receiver. The status is null when there was none; of the body, it is the beginning. */
type ShownResponses = Readonly<
  Record<"genuine" | "broken", Pick<DeliveryResponse, "status"> & { readonly body: string }>
>;

/** How a validation ended, with the responses that decided it. Its reason holds no secret, and of the url only its origin. */
export type ValidationResult =
  | ({ readonly validated: true; readonly code: null; readonly reason: null } & ShownResponses)
  | ({ readonly validated: false } & Problem & ShownResponses);

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;
const LONGEST_TIMEOUT_MS = MOST_SECONDS * 1000;
/** An attempt is given this long, in milliseconds, and less if all are. */
const LONGEST_ATTEMPT_MS = 10_000;

/**
 * Proves that a receiver accepts genuine deliveries and refuses others. For each secret it sends two deliveries of the type
 * `webhook.validation`: a genuine one, and one with a broken signature. Validated means that every genuine one got 2xx and
 * every broken one 4xx.
 *
 * Until the deadline it retries temporary failures: no response, 404, 405, 408, 429, 5xx, and a genuine delivery that is refused, because the
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
  const { timeoutMs = 60_000, signal } = options;
  // Also refuses NaN, and a string, which may be a secret.
  if (!(Number.isFinite(timeoutMs) && timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS))
    throw new RangeError(
      `Cannot validate a receiver: timeoutMs must be a number of milliseconds above 0, at most ${LONGEST_TIMEOUT_MS}.`,
    );
  const deadline = performance.now() + timeoutMs;
  // The deadline ends the retries, and cuts no attempt short: that would hide what the receiver responds.
  const attempt = { ...options, timeoutMs: Math.min(timeoutMs, LONGEST_ATTEMPT_MS) };
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    const result = await probeReceiver(attempt);
    const isFinal = result.validated || !isTemporary(result.code);
    if (isFinal || performance.now() + waitMs >= deadline) return result;
    await sleep(waitMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/**
 * Does the same once, without retries. The result is that of the first secret that fails, and one that cannot pass comes before one
 * that can.
 *
 * @throws as `validateReceiver` does
 */
export async function probeReceiver(options: ValidateReceiverOptions): Promise<ValidationResult> {
  const { url, timeoutMs = LONGEST_ATTEMPT_MS, signal } = options;
  const problem = problemOfReceiverUrl(url);
  if (problem !== undefined) throw new TypeError(`Cannot validate a receiver: url ${problem}.`);
  const secrets = [options.secrets].flat();
  const send = (key: string) => postDelivery({ url, ...signedDelivery(key), signal, timeoutMs });
  const probe = async (key: string): Promise<ValidationResult> => {
    // A key that nobody has breaks the signature.
    const [genuine, broken] = await Promise.all([send(key), send(newSecret())]);
    const problem = problemOf({ url, secret: `the secret ${fingerprintOf([key])}`, genuine, broken });
    const responses = { genuine: shown(genuine), broken: shown(broken) };
    if (problem === null) return { validated: true, code: null, reason: null, ...responses };
    return { validated: false, ...problem, ...responses };
  };
  const results = await Promise.all(secrets.map(probe));
  signal?.throwIfAborted();
  const failed = results.filter(({ validated }) => !validated);
  const [decisive] = [
    ...failed.filter(({ code }) => code !== null && !isTemporary(code)),
    ...failed,
    ...results,
  ];
  if (decisive === undefined) throw new TypeError("Cannot validate a receiver: secrets is empty.");
  return decisive;
}

function shown(response: DeliveryResponse) {
  return { status: response.status, body: textOf(response) };
}

/** Returns a new delivery, of the event type for which receivers of this package call no handler. */
function signedDelivery(secret: string) {
  const body = validationBody(new Date().toISOString());
  // An id of its own: some receivers accept an id that they have seen before they verify anything.
  const id = newMessageId(VALIDATION_ID);
  return { headers: signedHeaders({ id, body, secret }), body };
}

/**
 * Returns the body of a validation's delivery: JSON that no serializer writes this way. A receiver that parses and serializes it again gets
 * other bytes, and so does one that decodes it with the wrong character set.
 */
export function validationBody(timestamp: string): string {
  return `{ "type":"${VALIDATION_EVENT}",  "timestamp": "${timestamp}", "data" : {"note": "\\u0070roves the receiver: ✓ ä"} }\n`;
}
