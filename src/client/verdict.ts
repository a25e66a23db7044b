import type { Exchanged, Failure } from "./exchange";
import type { OperationName } from "./options";
import type { WebhookErrorCode } from "./webhookError";

/** What a failed attempt means. */
export interface Verdict {
  readonly code: WebhookErrorCode;
  /** Whether the same again may help: after a backoff, or after the pause that the service asked for. */
  readonly retry: "never" | "backoff" | "pause";
  /** Whether the service may have done what it was asked for. */
  readonly effect: "none" | "possible";
}

const failureCodes: Record<Failure["reason"], WebhookErrorCode> = {
  connection: "CONNECTION_LOST",
  timeout: "TIMED_OUT",
  "too-large": "RESPONSE_TOO_LARGE",
  aborted: "ABORTED",
};

/** A 2xx that does not hold what it should. */
export const malformed: Verdict = { code: "MALFORMED_RESPONSE", retry: "never", effect: "possible" };

/**
 * Judges one attempt; undefined when it worked. What is surely not made may be sent again; what is undecided never is.
 *
 * @param pauseMs how long the service asked to wait by a `Retry-After` that can be read; undefined when it did not.
 */
export function judge(
  operation: OperationName,
  { sent, answer, failure }: Exchanged,
  pauseMs: number | undefined,
): Verdict | undefined {
  if (!answer) return failure && judgeSilence(failure, sent);
  const { statusCode } = answer;
  if (statusCode >= 200 && statusCode < 300) {
    // The answer to a delete is nothing, so there is nothing to miss in one that broke off.
    return failure && operation !== "delete" ? judgeSilence(failure, sent) : undefined;
  }
  if (statusCode === 429) return { code: "RATE_LIMITED", retry: "pause", effect: "none" };
  if (statusCode === 503 && pauseMs !== undefined)
    return { code: "SERVER_ERROR", retry: "pause", effect: "none" };
  if (statusCode === 408) return { code: "TIMED_OUT", retry: "backoff", effect: "possible" };
  if (statusCode >= 500) {
    const passing = [500, 502, 503, 504].includes(statusCode);
    return { code: "SERVER_ERROR", retry: passing ? "backoff" : "never", effect: "possible" };
  }
  return { code: refusalCode(operation, statusCode), retry: "never", effect: "none" };
}

function judgeSilence({ reason }: Failure, sent: boolean): Verdict {
  const code = reason === "connection" && !sent ? "UNREACHABLE" : failureCodes[reason];
  const final = reason === "too-large" || reason === "aborted";
  return { code, retry: final ? "never" : "backoff", effect: sent ? "possible" : "none" };
}

function refusalCode(operation: OperationName, statusCode: number): WebhookErrorCode {
  if (statusCode < 400) return "REDIRECTED";
  if (statusCode === 401 || statusCode === 403) return "UNAUTHORIZED";
  if (statusCode === 404 && (operation === "get" || operation === "delete")) return "NOT_FOUND";
  return "REJECTED";
}
