import { isSuccess } from "../shared/status";
import type { Attempt, Failure } from "./attempt";
import type { WebhookErrorCode } from "./errors";
import type { OperationName } from "./operation";
import { type HttpResponse, serverTimeOf } from "./response";

export type Verdict = { readonly succeeded: true; readonly response: HttpResponse } | FailedVerdict;

/** What a failed attempt means. */
interface FailedVerdict {
  readonly succeeded: false;
  readonly code: WebhookErrorCode;
  /** True if the same request may be sent again: after the pause if there is one, and after a backoff otherwise. */
  readonly repeatable: boolean;
  /** How long the service asks the client to pause, in milliseconds. */
  readonly pauseMs?: number;
  /** True if the service may have carried out the request in spite of the failure. */
  readonly mayHaveWorked: boolean;
}

/**
 * Decides what an attempt means: whether the operation succeeded, and if not, whether it may be repeated.
 *
 * @param known the pause that the response's `Retry-After` asks for, and what earlier attempts of the operation led to
 */
export function judge(
  operation: OperationName,
  attempt: Attempt,
  known: {
    readonly askedMs: number | undefined;
    readonly mayHaveWorked: boolean;
    /** Whether an attempt was refused with 403 and a pause. */
    readonly wasForbidden: boolean;
  },
): Verdict {
  const { askedMs, mayHaveWorked, wasForbidden } = known;
  const { sent, response, failure } = attempt;
  const failed = (reason: Omit<FailedVerdict, "succeeded">): FailedVerdict => {
    // The service accepts the same registration twice.
    const repeatable = reason.repeatable && !(operation === "register" && reason.mayHaveWorked);
    return { succeeded: false, ...reason, repeatable };
  };
  const lost = ({ code }: Failure) =>
    failed({ code, repeatable: TEMPORARY_FAILURES.includes(code), mayHaveWorked: sent });

  if (!response) return lost(failure);
  const { status } = response;
  if (isSuccess(status)) {
    // The body of a response to a delete is not needed, so the delete succeeded even if the body is incomplete.
    if (!failure || operation === "delete") return { succeeded: true, response };
    return lost(failure);
  }
  if (operation === "delete" && GONE.includes(status) && mayHaveWorked) return { succeeded: true, response };
  if (status === 429) {
    return failed({ code: "RATE_LIMITED", repeatable: true, pauseMs: askedMs ?? 0, mayHaveWorked: false });
  }
  // Some services limit requests with 403. Others refuse the key with it, whatever its headers say, so one pause is enough.
  if (status === 403 && askedMs !== undefined && !wasForbidden) {
    return failed({ code: "UNAUTHORIZED", repeatable: true, pauseMs: askedMs, mayHaveWorked: false });
  }
  if (status === 408) return failed({ code: "TIMED_OUT", repeatable: true, mayHaveWorked: true });
  if (status >= 500) {
    // Also after 503 with `Retry-After`: a proxy can respond so while the service still carries out the request.
    const repeatable = TEMPORARY_STATUSES.includes(status);
    const pause = status === 503 && askedMs !== undefined ? { pauseMs: askedMs } : {};
    return failed({ code: "SERVER_ERROR", repeatable, mayHaveWorked: true, ...pause });
  }
  // 303 responds to a POST that was carried out, and says where its result is (RFC 9110, section 15.4.4).
  const code = refusalCode(operation, status);
  return failed({ code, repeatable: false, mayHaveWorked: status === 303 });
}

const TEMPORARY_FAILURES: readonly WebhookErrorCode[] = ["UNREACHABLE", "CONNECTION_LOST", "TIMED_OUT"];
const TEMPORARY_STATUSES: readonly number[] = [500, 502, 503, 504];
/** There is no such endpoint. */
const GONE: readonly number[] = [404, 410];

function refusalCode(operation: OperationName, status: number): WebhookErrorCode {
  if (status < 400) return "REDIRECTED";
  if (status === 401 || status === 403) return "UNAUTHORIZED";
  if (GONE.includes(status) && (operation === "get" || operation === "delete")) return "NOT_FOUND";
  return "REJECTED";
}

/** The ceiling of the first backoff, in milliseconds; it doubles with each repeat. */
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 5_000;
/** The longest pause that the client grants a service, in milliseconds, however long it asks for. */
export const LONGEST_PAUSE_MS = 60_000;

/** Returns how long to back off before a repeat, counted from 0, with full jitter. */
export function backoffMs(repeat: number, random: () => number): number {
  return random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** repeat);
}

/**
 * Returns the pause that a response's `Retry-After` asks for, in seconds or with a date, in milliseconds; undefined if it has
 * none, or an unreadable one. A date is read on the service's own clock.
 *
 * @param now the time in milliseconds since 1970, for a service that does not send its own
 */
export function retryAfterMs({ headers }: Pick<HttpResponse, "headers">, now: number): number | undefined {
  const asked = String(headers["retry-after"]);
  const seconds = Number(asked);
  const pause = Number.isNaN(seconds) ? Date.parse(asked) - (serverTimeOf(headers) ?? now) : seconds * 1000;
  return Number.isNaN(pause) ? undefined : Math.min(Math.max(pause, 0), LONGEST_PAUSE_MS);
}
