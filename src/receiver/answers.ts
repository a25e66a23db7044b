import type { OutcomeKind, ReceiverResponse, Refusal } from "./types";

/** Seconds after which to come again, where nothing better is known. */
const RETRY_AFTER_SECONDS = 5;

const REFUSALS: Readonly<Record<Refusal | "unverified" | "no-secrets", ReceiverResponse>> = {
  method: answer(405, "method not allowed", { allow: "POST" }),
  size: answer(413, "payload too large"),
  timeout: answer(408, "the body took too long"),
  aborted: answer(400, "the body ended early"),
  // The program is at fault: with 5xx the sender tries again, and nothing is lost once it is mended.
  "parsed-body": answer(500, "the body was read before it could be verified"),
  unverified: answer(401, "not verified"),
  "no-secrets": answer(503, "not ready", { "retry-after": String(RETRY_AFTER_SECONDS) }),
};

const OUTCOMES: Readonly<Record<OutcomeKind, ReceiverResponse>> = {
  handled: answer(200, "handled"),
  unhandled: answer(200, "unhandled"),
  duplicate: answer(200, "duplicate"),
  held: answer(503, "in progress"),
  failed: answer(500, "failed"),
  "timed-out": answer(503, "timed out"),
  "store-unavailable": answer(503, "not ready"),
};

/** The answer to a request that was refused. One for all that was not verified: a forger learns nothing from it. */
export function refusalAnswer(reason: keyof typeof REFUSALS): ReceiverResponse {
  return REFUSALS[reason];
}

/**
 * The answer that makes the sender do the right thing: 2xx is not sent again, 5xx is.
 * @param retryAfterMs with a 503: when it is worth coming again
 */
export function outcomeAnswer(
  outcome: OutcomeKind,
  retryAfterMs = RETRY_AFTER_SECONDS * 1000,
): ReceiverResponse {
  const plain = OUTCOMES[outcome];
  if (plain.status !== 503) return plain;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return { ...plain, headers: { ...plain.headers, "retry-after": String(seconds) } };
}

function answer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): ReceiverResponse {
  return Object.freeze({
    status,
    headers: Object.freeze({ "content-type": "text/plain; charset=utf-8", ...headers }),
    body,
  });
}
