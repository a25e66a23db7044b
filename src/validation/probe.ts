import type { Dispatcher } from "undici";
import { type DeliveryPair, deliveryPair } from "./delivery";
import { post } from "./post";
import { reasonOf } from "./reason";
import { type Answers, canPass, judge, type ValidationErrorCode } from "./verdict";

/** Of each answer, what may be shown. */
interface ShownAnswer {
  /** Null when there was no answer. */
  readonly status: number | null;
}

interface ShownAnswers {
  readonly genuine: ShownAnswer;
  readonly broken: ShownAnswer;
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

export interface ProbeOptions {
  readonly url: string;
  /** At least one. */
  readonly secrets: readonly string[];
  readonly dispatcher: Dispatcher;
  /** For each delivery, in milliseconds. */
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
export async function probe({
  url,
  secrets,
  dispatcher,
  timeoutMs,
  signal,
}: ProbeOptions): Promise<ValidationResult> {
  const pairs = secrets.map(deliveryPair);
  const send = async ({ genuine, broken }: DeliveryPair): Promise<Answers> => {
    const options = { url, dispatcher, timeoutMs, signal };
    const [first, second] = await Promise.all([post(genuine, options), post(broken, options)]);
    return { genuine: first, broken: second };
  };
  const all = await Promise.all(pairs.map(send));
  const judged = all.map((answers, at) => ({ answers, at, code: judge(answers) }));
  const decisive =
    judged.find(({ code }) => code !== null && !canPass(code)) ??
    judged.find(({ code }) => code !== null) ??
    judged[0];
  if (decisive === undefined) throw new TypeError("Cannot validate a receiver: secrets is empty.");

  const { answers, at, code } = decisive;
  const shown = { genuine: { status: answers.genuine.status }, broken: { status: answers.broken.status } };
  if (code === null) return { validated: true, code, reason: null, ...shown };
  const secret = `secret ${at + 1} of ${secrets.length}`;
  return { validated: false, code, reason: reasonOf({ code, url, secret, ...answers }), ...shown };
}
