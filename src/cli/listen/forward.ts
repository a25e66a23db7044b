import type { Dispatcher } from "undici";
import type { ReceiverRequest, ReceiverResponse } from "../../receiver";
import { postDelivery } from "../../shared/post";
import { deliveryHeaders, pairsOf } from "../capture/captureFile";

/** What a target answered, or that it did not, or not to the end. */
export interface Forwarded {
  /** What to answer the sender. */
  readonly response: ReceiverResponse;
  /** The target's status. Null when it did not answer. */
  readonly status: number | null;
  /** Why it did not answer, such as `ECONNREFUSED`. */
  readonly failure: string | null;
  readonly durationMs: number;
}

export interface Target {
  readonly url: string;
  readonly dispatcher: Dispatcher;
}

/** The headers of the answer that a sender needs. */
const RETURNED: readonly string[] = ["content-type", "retry-after"];
const LONGEST_ANSWER_BYTES = 1024 * 1024;
const NO_ANSWER: ReceiverResponse = {
  status: 502,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: "the target did not answer",
};

/** Sends a delivery to the target, byte for byte, and returns what the target answered. Never rejects. */
export async function forward(request: ReceiverRequest, { url, dispatcher }: Target): Promise<Forwarded> {
  const answer = await postDelivery({
    url,
    headers: deliveryHeaders(pairsOf(request.headers)),
    body: request.body,
    dispatcher,
    longestAnswer: LONGEST_ANSWER_BYTES,
  });
  // A 502 makes the sender retry, as it would if it saw that the target's answer broke off.
  if (answer.status === null || answer.failure !== undefined)
    return {
      response: NO_ANSWER,
      status: null,
      failure: answer.failure ?? null,
      durationMs: answer.durationMs,
    };
  const { status, durationMs } = answer;
  const headers = RETURNED.flatMap((name) => {
    const value = answer.headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  // A compressed body is not text, and no sender needs it.
  const body = answer.headers["content-encoding"] === undefined ? answer.body.toString("utf8") : "";
  const response = { status, headers: Object.fromEntries(headers), body };
  return { response, status, failure: null, durationMs };
}
