import type { OutcomeKind, ReceiverResponse, Refusal } from "./types";

/** When to retry, in seconds, if nothing better is known. */
const RETRY_AFTER_SECONDS = 5;

/** The responses to refused requests. All that fail verification get the same one: a forger learns nothing. */
export const REFUSALS: Readonly<Record<Refusal | "unverified" | "not-ready", ReceiverResponse>> = {
  method: text(405, "method not allowed", { allow: "POST" }),
  size: text(413, "payload too large"),
  "incomplete-body": text(408, "the body did not arrive in time"),
  // The program is at fault. After a 5xx the sender retries, so nothing is lost once the program is fixed.
  "parsed-body": text(500, "the body was read before it could be verified"),
  unverified: text(401, "not verified"),
  "not-ready": text(503, "not ready", { "retry-after": String(RETRY_AFTER_SECONDS) }),
};

/**
 * Returns why the head of a request alone is a reason to refuse it, undefined if it is not. An adapter asks before it reads the body, and
 * `handle` asks, too, because programs may call it themselves.
 * @param bytes how large the body is, or is going to be. NaN if nobody knows
 */
export function reasonToRefuse(
  method: string | undefined,
  bytes: number,
  mostBytes: number,
): "method" | "size" | undefined {
  if (method !== "POST") return "method";
  return bytes > mostBytes ? "size" : undefined;
}

const OUTCOMES: Readonly<Record<OutcomeKind, ReceiverResponse>> = {
  // The common case: without a body, the response costs less.
  handled: { status: 200, headers: {}, body: "" },
  unhandled: text(200, "unhandled"),
  duplicate: text(200, "duplicate"),
  validation: text(200, "validated"),
  held: text(503, "in progress"),
  failed: text(500, "failed"),
  "timed-out": text(503, "timed out"),
  "store-unavailable": text(503, "not ready"),
  queued: text(202, "queued"),
  "queue-unavailable": text(503, "not ready"),
};

/**
 * Returns the response that makes the sender do the right thing: it retries after a 5xx, and not after a 2xx.
 * @param retryAfterMs with a 503, when to retry
 */
export function responseTo(
  outcome: OutcomeKind,
  retryAfterMs = RETRY_AFTER_SECONDS * 1000,
): ReceiverResponse {
  const plain = OUTCOMES[outcome];
  if (plain.status !== 503) return plain;
  const retryAfter = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  return { ...plain, headers: { ...plain.headers, "retry-after": retryAfter } };
}

function text(status: number, body: string, headers: Record<string, string> = {}): ReceiverResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body };
}
