import { isSuccess } from "../../shared/isSuccess";
import { type DeliveryAnswer, type DeliveryRequest, postDelivery } from "../../shared/post";
import { sign } from "../../signature";
import { withoutSecrets } from "../knownSecrets";
import type { NamedSecret } from "../secrets";

/** How much of an answer is shown, in characters. */
const SHOWN_ANSWER_LENGTH = 300;
/** The answers 4xx that say nothing about the delivery: wrong path, wrong method, too slow, too many. */
const UNRELATED_STATUSES: readonly number[] = [404, 405, 408, 429];

/** One attempt, as `--json` prints it. */
export interface SentDelivery {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** Why there was no answer. */
  readonly failure: string | null;
  readonly durationMs: number;
  /** The beginning of the answer. */
  readonly answer: string;
  readonly asExpected: boolean;
}

/** Sends a delivery once. @param shouldRefuse whether the receiver should refuse it */
export async function attempt(
  request: DeliveryRequest,
  { shouldRefuse }: { readonly shouldRefuse: boolean },
): Promise<SentDelivery> {
  const startedAt = performance.now();
  const answer = await postDelivery(request);
  const durationMs = Math.round(performance.now() - startedAt);
  const { status } = answer;
  const isRefused = status !== null && status >= 400 && status < 500 && !UNRELATED_STATUSES.includes(status);
  const isAccepted = isSuccess(status);
  return {
    status,
    failure: answer.status === null ? answer.failure : null,
    durationMs,
    answer: textOf(answer),
    asExpected: shouldRefuse ? isRefused : isAccepted,
  };
}

function textOf(answer: DeliveryAnswer): string {
  if (answer.status === null) return "";
  // Before it is cut, so that no part of a secret stays.
  const text = withoutSecrets(answer.body.toString("utf8").trim());
  return text.length > SHOWN_ANSWER_LENGTH ? `${text.slice(0, SHOWN_ANSWER_LENGTH)}…` : text;
}

export interface Signing {
  readonly id: string;
  readonly body: string | Uint8Array;
  /** In seconds. */
  readonly age: number;
  readonly secrets: readonly NamedSecret[];
}

/** Signs a delivery with each secret, as the service does while one is rotated. */
export function signedHeaders({ id, body, age, secrets }: Signing): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000) - age;
  const signatures = secrets.map(
    ({ value }) => sign({ id, timestamp, body, secret: value })["webhook-signature"],
  );
  return {
    "content-type": "application/json",
    "user-agent": "webhook-endpoints",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}
