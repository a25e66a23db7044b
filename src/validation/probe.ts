import { randomBytes, randomUUID } from "node:crypto";
import { postDelivery } from "../shared/post";
import { sign } from "../signature";
import { canPass, judge, type ValidationErrorCode } from "./verdict";

interface ShownAnswers {
  /** The status is null when there was no answer. */
  readonly genuine: { readonly status: number | null };
  readonly broken: { readonly status: number | null };
}

/** How a validation ended, with the statuses that decided it. Holds no secret, and of the url only its origin. */
export type ValidationResult =
  | ({ readonly validated: true; readonly code: null; readonly reason: null } & ShownAnswers)
  | ({
      readonly validated: false;
      readonly code: ValidationErrorCode;
      /** What failed, the likely cause and what to do. */
      readonly reason: string;
    } & ShownAnswers);

/** An attempt is given this long, in milliseconds, and less when the deadline is near. */
export const LONGEST_ATTEMPT_MS = 10_000;

interface ProbeOptions {
  readonly url: string;
  /** At least one. */
  readonly secrets: readonly string[];
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a genuine and a broken delivery for each secret, once. The result is that of the first secret that fails, and one that
 * cannot pass comes before one that can.
 *
 * @throws WebhookSecretError for a malformed secret
 * @throws the reason of the signal
 */
export async function probeReceiver(options: ProbeOptions): Promise<ValidationResult> {
  const results = await Promise.all(options.secrets.map((_, at) => probeSecret(at, options)));
  options.signal?.throwIfAborted();
  const failed = results.filter(({ validated }) => !validated);
  const [decisive] = [...failed.filter(({ code }) => code !== null && !canPass(code)), ...failed, ...results];
  if (decisive === undefined) throw new TypeError("Cannot validate a receiver: secrets is empty.");
  return decisive;
}

async function probeSecret(
  at: number,
  { url, secrets, signal, timeoutMs = LONGEST_ATTEMPT_MS }: ProbeOptions,
): Promise<ValidationResult> {
  // A key that nobody has breaks the signature.
  const keys = [secrets[at] as string, `whsec_${randomBytes(32).toString("base64")}`] as const;
  const send = (key: string) => postDelivery({ url, ...signedDelivery(key), signal, timeoutMs });
  const [genuine, broken] = await Promise.all([send(keys[0]), send(keys[1])]);
  const verdict = judge({ url, secret: `secret ${at + 1} of ${secrets.length}`, genuine, broken });
  const shown = { genuine: { status: genuine.status }, broken: { status: broken.status } };
  if (verdict === null) return { validated: true, code: null, reason: null, ...shown };
  return { validated: false, ...verdict, ...shown };
}

/** Returns a new delivery, of the event type for which receivers of this package call no handler. */
function signedDelivery(secret: string) {
  const now = Date.now();
  // JSON that no serializer writes this way: a receiver that parses and serializes the body again gets other bytes. So does one that
  // decodes it with the wrong character set.
  const body = `{ "type":"webhook.validation",  "timestamp": "${new Date(now).toISOString()}", "data" : {"note": "\\u0070roves the receiver: ✓ ä"} }\n`;
  // An id of its own: some receivers accept an id that they have seen before they verify anything.
  const id = `msg_validation_${randomUUID()}`;
  const signature = sign({ id, timestamp: Math.floor(now / 1000), body, secret });
  return { headers: { ...signature, "content-type": "application/json" }, body };
}
