import { postDelivery } from "../shared/post";
import { isUrl } from "../shared/url";
import { brokenDelivery, genuineDelivery, type ValidationDelivery } from "./delivery";
import { type Answer, canPass, judge, reasonOf, type ValidationErrorCode } from "./verdict";

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

async function probeSecret(at: number, options: ProbeOptions): Promise<ValidationResult> {
  const { url, secrets } = options;
  const deliveries = [genuineDelivery(secrets[at] as string), brokenDelivery()] as const;
  const [genuine, broken] = await Promise.all([send(deliveries[0], options), send(deliveries[1], options)]);
  const code = judge({ genuine, broken });
  const shown = { genuine: { status: genuine.status }, broken: { status: broken.status } };
  if (code === null) return { validated: true, code, reason: null, ...shown };
  const secret = `secret ${at + 1} of ${secrets.length}`;
  return { validated: false, code, reason: reasonOf({ code, url, secret, genuine, broken }), ...shown };
}

async function send(
  { headers, body }: ValidationDelivery,
  { url, signal, timeoutMs = LONGEST_ATTEMPT_MS }: ProbeOptions,
): Promise<Answer> {
  const answer = await postDelivery({ url, headers, body, signal, timeoutMs });
  const { status, failure } = answer;
  const { location } = answer.headers;
  const isTarget = typeof location === "string" && isUrl(location, url);
  return { status, failure, ...(isTarget && { location: new URL(location, url).href }) };
}
