import type { Dispatcher } from "undici";
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

interface ProbeOptions {
  readonly url: string;
  /** At least one. */
  readonly secrets: readonly string[];
  readonly dispatcher: Dispatcher;
  readonly timeoutMs: number;
  /** Ends the deliveries under way, which then count as not answered. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends a genuine and a broken delivery for each secret, once. The result is that of the first secret that fails, and one that
 * cannot pass comes before one that can.
 *
 * @throws WebhookSecretError for a malformed secret
 */
export async function probe(options: ProbeOptions): Promise<ValidationResult> {
  const results = await Promise.all(options.secrets.map((_, at) => probeSecret(at, options)));
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
  { url, dispatcher, signal, timeoutMs }: ProbeOptions,
): Promise<Answer> {
  const answer = await postDelivery({ url, headers, body, dispatcher, signal, timeoutMs, longestAnswer: 0 });
  if (answer.status === null) return answer;
  const { location } = answer.headers;
  const isTarget = typeof location === "string" && isUrl(location, url);
  return { status: answer.status, ...(isTarget && { location: new URL(location, url).href }) };
}
