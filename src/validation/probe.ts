import type { Dispatcher } from "undici";
import { isSuccess } from "../shared/isSuccess";
import { postDelivery } from "../shared/post";
import { isUrl } from "../shared/url";
import { type Deliveries, deliveriesFor, type ValidationDelivery } from "./delivery";
import { type Answer, type Answers, canPass, judge, reasonOf, type ValidationErrorCode } from "./verdict";

/** A delivery is given at least this long, in milliseconds, also when the time of its probe is over. */
const SHORTEST_DELIVERY_MS = 1_000;

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
  /** For the deliveries of one secret together, in milliseconds. */
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
  const { url, secrets } = options;
  const endsAt = performance.now() + options.timeoutMs;
  const all = await Promise.all(
    secrets.map(deliveriesFor).map((deliveries) => answersTo(deliveries, options, endsAt)),
  );
  const judged = all.map((answers, at) => ({ answers, at, code: judge(answers) }));
  const failed = judged.filter(({ code }) => code !== null);
  const decisive = failed.find(({ code }) => code !== null && !canPass(code)) ?? failed[0] ?? judged[0];
  if (decisive === undefined) throw new TypeError("Cannot validate a receiver: secrets is empty.");

  const { answers, at, code } = decisive;
  const shown = { genuine: { status: answers.genuine.status }, broken: { status: answers.broken.status } };
  if (code === null) return { validated: true, code, reason: null, ...shown };
  const secret = `secret ${at + 1} of ${secrets.length}`;
  return { validated: false, code, reason: reasonOf({ code, url, secret, ...answers }), ...shown };
}

/** The genuine one first: some receivers accept an id that they have seen before they verify anything. */
async function answersTo(deliveries: Deliveries, options: ProbeOptions, endsAt: number): Promise<Answers> {
  const genuine = await send(deliveries.genuine, options, endsAt);
  const broken = await send(deliveries.broken, options, endsAt);
  return {
    genuine,
    broken: isSuccess(broken.status) ? await send(deliveries.brokenAnew, options, endsAt) : broken,
  };
}

async function send(
  { headers, body }: ValidationDelivery,
  { url, dispatcher, signal }: ProbeOptions,
  endsAt: number,
): Promise<Answer> {
  const timeoutMs = Math.max(endsAt - performance.now(), SHORTEST_DELIVERY_MS);
  const answer = await postDelivery({ url, headers, body, dispatcher, signal, timeoutMs, longestAnswer: 0 });
  if (answer.status === null) return answer;
  const { location } = answer.headers;
  const isTarget = typeof location === "string" && isUrl(location, url);
  return isTarget
    ? { status: answer.status, location: new URL(location, url).href }
    : { status: answer.status };
}
