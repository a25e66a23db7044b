import type { OutcomeKind, ReceiverResponse, Refusal } from "./types";

/** When to retry, in seconds, if nothing better is known. */
const RETRY_AFTER_SECONDS = 5;
/** Nobody has to wait longer than a day, whatever a dedupe store says. */
const LONGEST_RETRY_AFTER_SECONDS = 86_400;

const PLAIN_TEXT = { "content-type": "text/plain; charset=utf-8" };

const REFUSALS: Readonly<Record<Refusal | "unverified" | "not-ready", ReceiverResponse>> = {
  method: answer(405, "method not allowed", { allow: "POST" }),
  size: answer(413, "payload too large"),
  timeout: answer(408, "the body took too long"),
  aborted: answer(400, "the body ended early"),
  // The program is at fault. After a 5xx the sender retries, so nothing is lost once the program is fixed.
  "parsed-body": answer(500, "the body was read before it could be verified"),
  unverified: answer(401, "not verified"),
  "not-ready": answer(503, "not ready", { "retry-after": String(RETRY_AFTER_SECONDS) }),
};

const OUTCOMES: Readonly<Record<OutcomeKind, ReceiverResponse>> = {
  // The common case: without a body, the answer costs less.
  handled: Object.freeze({ status: 200, headers: Object.freeze({}), body: "" }),
  unhandled: answer(200, "unhandled"),
  duplicate: answer(200, "duplicate"),
  validation: answer(200, "validated"),
  held: answer(503, "in progress"),
  failed: answer(500, "failed"),
  "timed-out": answer(503, "timed out"),
  "store-unavailable": answer(503, "not ready"),
  "invalid-data": answer(500, "failed"),
  queued: answer(202, "queued"),
  "queue-unavailable": answer(503, "not ready"),
};

/** Returns the answer to a request that was refused. It is the same for all that fail verification: a forger learns nothing. */
export function refusalAnswer(reason: keyof typeof REFUSALS): ReceiverResponse {
  return REFUSALS[reason];
}

/**
 * Returns the answer that makes the sender do the right thing: it retries after a 5xx, and not after a 2xx.
 * @param retryAfterMs with a 503, when to retry; ignored unless it is a finite number
 */
export function outcomeAnswer(outcome: OutcomeKind, retryAfterMs?: number): ReceiverResponse {
  const plain = OUTCOMES[outcome];
  if (plain.status !== 503) return plain;
  const seconds = Number.isFinite(retryAfterMs)
    ? Math.ceil(Number(retryAfterMs) / 1000)
    : RETRY_AFTER_SECONDS;
  const retryAfter = String(Math.min(Math.max(1, seconds), LONGEST_RETRY_AFTER_SECONDS));
  return { ...plain, headers: { ...plain.headers, "retry-after": retryAfter } };
}

function answer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): ReceiverResponse {
  return Object.freeze({ status, headers: Object.freeze({ ...PLAIN_TEXT, ...headers }), body });
}

/** Says what to change where something else reads the body first. @param who the receiver or its adapter */
export function readBefore(who: string, remedy: string): string {
  return `${who}: the request body was read before its signature could be verified, and a signature covers the bytes as sent. ${remedy}`;
}
