import { type Answer, headerOf, serverTimeOf } from "./answer";
import type { Attempt, Failure } from "./attempt";
import type { WebhookErrorCode } from "./errors";
import type { OperationName } from "./options";

export type Verdict =
  | { readonly succeeded: true; readonly answer: Answer }
  | ({ readonly succeeded: false } & FailedVerdict);

/** What a failed attempt means. */
export interface FailedVerdict {
  readonly code: WebhookErrorCode;
  /** When the same request may succeed: after a backoff, or after the pause that the service asked for. */
  readonly retry: "never" | "backoff" | "pause";
  /** True if the service may have carried out the request in spite of the failure. */
  readonly mayHaveWorked: boolean;
}

const FAILURE_CODES: Readonly<Record<Failure["reason"], WebhookErrorCode>> = {
  connection: "CONNECTION_LOST",
  timeout: "TIMED_OUT",
  "too-large": "RESPONSE_TOO_LARGE",
  undecodable: "MALFORMED_RESPONSE",
  aborted: "ABORTED",
};

/** @param askedMs the pause that the answer's `Retry-After` asks for, if any */
export function judge(
  operation: OperationName,
  { sent, answer, failure }: Attempt,
  askedMs: number | undefined,
): Verdict {
  if (!answer) return failed(...judgeFailure(failure, sent));
  const { statusCode } = answer;
  if (statusCode >= 200 && statusCode < 300) {
    // The body of an answer to a delete is not needed, so the delete succeeded even if the body is incomplete.
    if (!failure || operation === "delete") return { succeeded: true, answer };
    return failed(...judgeFailure(failure, sent));
  }
  if (statusCode === 429) return failed("RATE_LIMITED", "pause", false);
  if (statusCode === 503 && askedMs !== undefined) {
    // A proxy can answer so while the service still carries out the request.
    return failed("SERVER_ERROR", "pause", operation === "register");
  }
  if (statusCode === 408) return failed("TIMED_OUT", "backoff", true);
  if (statusCode >= 500) {
    const temporary = [500, 502, 503, 504].includes(statusCode);
    return failed("SERVER_ERROR", temporary ? "backoff" : "never", true);
  }
  // 303 answers a POST that was carried out, and says where its result is (RFC 9110, section 15.4.4).
  return failed(refusalCode(operation, statusCode), "never", statusCode === 303);
}

function failed(code: WebhookErrorCode, retry: FailedVerdict["retry"], mayHaveWorked: boolean): Verdict {
  return { succeeded: false, code, retry, mayHaveWorked };
}

function judgeFailure({ reason }: Failure, sent: boolean): Parameters<typeof failed> {
  const code = reason === "connection" && !sent ? "UNREACHABLE" : FAILURE_CODES[reason];
  return [code, reason === "connection" || reason === "timeout" ? "backoff" : "never", sent];
}

function refusalCode(operation: OperationName, statusCode: number): WebhookErrorCode {
  if (statusCode < 400) return "REDIRECTED";
  if (statusCode === 401 || statusCode === 403) return "UNAUTHORIZED";
  if (statusCode === 404 && (operation === "get" || operation === "delete")) return "NOT_FOUND";
  return "REJECTED";
}

/** The ceiling of the first backoff, in milliseconds; it doubles with each repeat. */
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 5_000;
/** The longest pause that the client grants a service, in milliseconds, however long it asks for. */
export const LONGEST_PAUSE_MS = 60_000;

/** Returns how long to back off before a repeat, counted from 0: full jitter, so that clients do not return all at once. */
export function backoffMs(repeat: number, random: () => number): number {
  return random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** repeat);
}

/** The three forms of an HTTP date (RFC 9110, section 5.6.7) begin with the day of the week. */
const HTTP_DATE = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? .*\d/i;

/**
 * Returns the pause that an answer's `Retry-After` asks for, in milliseconds; undefined if it has none, or an unreadable
 * one. A date is read on the service's own clock.
 *
 * @param now the time in milliseconds since 1970, for a service that does not send its own
 */
export function retryAfterMs({ headers }: Pick<Answer, "headers">, now: number): number | undefined {
  const value = headerOf(headers, "retry-after")?.trim() ?? "";
  let pause = Number.NaN;
  if (/^\d+(\.\d+)?$/.test(value)) pause = Number(value) * 1000;
  else if (HTTP_DATE.test(value)) {
    // The oldest form names no time zone and means GMT, as the others do.
    pause = Date.parse(/GMT$/i.test(value) ? value : `${value} GMT`) - (serverTimeOf(headers) ?? now);
  }
  return Number.isNaN(pause) ? undefined : Math.min(Math.max(pause, 0), LONGEST_PAUSE_MS);
}
