import { isRefusal, isSuccess } from "../../shared/isSuccess";
import { type DeliveryAnswer, type DeliveryRequest, postDelivery } from "../../shared/post";
import { isNoRoute, whatToReach } from "../../validation/verdict";
import { withoutSecrets } from "../knownSecrets";

/** How much of an answer is shown, in characters. */
const SHOWN_ANSWER_LENGTH = 300;

/** One attempt, as `--json` prints it. */
export interface SentDelivery {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** Why there was no answer, or why it did not end. */
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
  const answer = await postDelivery(request);
  const { status, durationMs } = answer;
  return {
    status,
    failure: answer.failure ?? null,
    durationMs,
    answer: textOf(answer),
    asExpected: shouldRefuse ? isRefusal(status) : isSuccess(status),
  };
}

function textOf(answer: DeliveryAnswer): string {
  if (answer.status === null) return "";
  // Before it is cut, so that no part of a secret stays.
  const text = withoutSecrets(answer.body.toString("utf8").trim());
  return text.length > SHOWN_ANSWER_LENGTH ? `${text.slice(0, SHOWN_ANSWER_LENGTH)}…` : text;
}

const NONE = { status: null, failure: null };

/**
 * Returns what to do about the first answer that was not as expected.
 *
 * @param fault why the receiver should have refused the delivery, if it should have
 */
export function adviceFor(deliveries: readonly SentDelivery[], fault: string | undefined): string {
  const { status, failure } = deliveries.find(({ asExpected }) => !asExpected) ?? NONE;
  if (failure === "UND_ERR_INVALID_ARG")
    return "Nothing was sent: HTTP does not allow a header of the delivery. Check the headers of the capture.";
  if (failure === "timed out")
    return "The receiver took too long. If its log has a line of this delivery, look at what its handler waits for. Otherwise, check that this machine can reach it.";
  if (status === null) return `The receiver did not answer. ${whatToReach()}.`;
  if (isNoRoute({ status })) return "No receiver answers at this path. Check the path of the url.";
  if (status >= 300 && status < 400)
    return "The receiver redirects deliveries, and a service does not follow redirects. Use the url of the redirect's target.";
  if (fault !== undefined)
    return `The receiver should refuse this delivery with a 4xx other than 404, 405, 408 and 429: it was ${fault}.`;
  if (status === 401)
    return "The receiver refused the delivery. It has another secret, something changes the body, or its clock or this machine's is wrong: its log names the reason.";
  return "The receiver did not accept the delivery with 2xx. Its log says why.";
}
