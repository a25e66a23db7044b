import type { OutcomeKind, ReceiverResponse, Refusal } from "./types";

/** When to retry, in seconds, if nothing better is known. */
const RETRY_AFTER_SECONDS = 5;

/** The answers to refused requests. All that fail verification get the same one: a forger learns nothing. */
export const REFUSALS: Readonly<Record<Refusal | "unverified" | "not-ready", ReceiverResponse>> = {
  method: answer(405, "method not allowed", { allow: "POST" }),
  size: answer(413, "payload too large"),
  "incomplete-body": answer(408, "the body did not arrive in time"),
  // The program is at fault. After a 5xx the sender retries, so nothing is lost once the program is fixed.
  "parsed-body": answer(500, "the body was read before it could be verified"),
  unverified: answer(401, "not verified"),
  "not-ready": answer(503, "not ready", { "retry-after": String(RETRY_AFTER_SECONDS) }),
};

const OUTCOMES: Readonly<Record<OutcomeKind, ReceiverResponse>> = {
  // The common case: without a body, the answer costs less.
  handled: { status: 200, headers: {}, body: "" },
  unhandled: answer(200, "unhandled"),
  duplicate: answer(200, "duplicate"),
  validation: answer(200, "validated"),
  held: answer(503, "in progress"),
  failed: answer(500, "failed"),
  "timed-out": answer(503, "timed out"),
  "store-unavailable": answer(503, "not ready"),
  queued: answer(202, "queued"),
  "queue-unavailable": answer(503, "not ready"),
};

/**
 * Returns the answer that makes the sender do the right thing: it retries after a 5xx, and not after a 2xx.
 * @param retryAfterMs with a 503, when to retry
 */
export function outcomeAnswer(
  outcome: OutcomeKind,
  retryAfterMs = RETRY_AFTER_SECONDS * 1000,
): ReceiverResponse {
  const plain = OUTCOMES[outcome];
  if (plain.status !== 503) return plain;
  const retryAfter = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  return { ...plain, headers: { ...plain.headers, "retry-after": retryAfter } };
}

function answer(status: number, body: string, headers: Record<string, string> = {}): ReceiverResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body };
}
