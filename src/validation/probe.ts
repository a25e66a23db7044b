import type { Dispatcher } from "undici";
import { postDelivery } from "../shared/post";
import { isUrl } from "../shared/url";
import { type Deliveries, deliveriesFor, type ValidationDelivery } from "./delivery";
import {
  type Answer,
  type Answers,
  canPass,
  isAccepted,
  judge,
  reasonOf,
  type ValidationErrorCode,
} from "./verdict";

/** A delivery is given at least this long, in milliseconds, also when the time of its probe is over. */
const SHORTEST_DELIVERY_MS = 1_000;

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
  const { url, secrets, dispatcher, timeoutMs, signal } = options;
  const endsAt = performance.now() + timeoutMs;
  const send = async ({ headers, body }: ValidationDelivery): Promise<Answer> => {
    const leftMs = Math.max(endsAt - performance.now(), SHORTEST_DELIVERY_MS);
    const request = { url, headers, body, dispatcher, signal, timeoutMs: leftMs, longestAnswer: 0 };
    const answer = await postDelivery(request);
    if (answer.status === null) return answer;
    const { location, "www-authenticate": login } = answer.headers;
    const isTarget = typeof location === "string" && isUrl(location, url);
    const target = isTarget ? { location: new URL(location, url).href } : {};
    return { status: answer.status, ...target, asksForLogin: login !== undefined };
  };
  // One after the other: a receiver of this package that knows the genuine one does not report the broken one.
  const sendAll = async ({ genuine, broken, brokenAnew }: Deliveries): Promise<Answers> => {
    const answers = { genuine: await send(genuine), broken: await send(broken) };
    // Some receivers accept an id that they have seen before they verify anything.
    return isAccepted(answers.broken) ? { ...answers, broken: await send(brokenAnew) } : answers;
  };
  const all = await Promise.all(secrets.map(deliveriesFor).map(sendAll));
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
