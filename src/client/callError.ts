import type { Call } from "./call";
import type { Exchanged } from "./exchange";
import { mostRefusals } from "./gate";
import { isRecord } from "./json";
import type { ResolvedOptions } from "./options";
import { first, serverTime } from "./responseHeaders";
import type { Verdict } from "./verdict";
import { WebhookEndpointNotFoundError } from "./webhookEndpointNotFoundError";
import type { WebhookErrorCode } from "./webhookError";
import { WebhookError } from "./webhookError";
import { WebhookRegistrationError } from "./webhookRegistrationError";

/** How an operation ended that failed. */
export interface Failed {
  readonly code: WebhookErrorCode;
  /** Whether any of its attempts may have had its effect at the service. */
  readonly effect: Verdict["effect"];
  readonly attempts: number;
  /** The last attempt; absent when there was none. */
  readonly last?: Exchanged;
  /** How long the last attempt was given, in milliseconds. */
  readonly timeoutMs?: number;
  /** What is wrong with an answer that cannot be used. */
  readonly problem?: string;
  readonly cause?: unknown;
}

/** The error of the contract: its class by the operation, its message by what happened. */
export function callError(call: Call<unknown>, failed: Failed, options: ResolvedOptions): WebhookError {
  const { code, effect, last } = failed;
  const url = `${options.baseUrl.href.replace(/\/$/, "")}${call.path}`;
  const times = failed.attempts > 1 ? ` (attempt ${failed.attempts})` : "";
  const doubt =
    effect === "possible" && call.operation === "register"
      ? " The endpoint may have been registered all the same: list the endpoints before registering it again."
      : "";
  const message = `Cannot ${call.doing}: ${call.method} ${url} ${happened(failed, options)}${times}. ${advice(call, failed, options)}${doubt}`;
  const details = {
    code,
    statusCode: last?.answer?.statusCode,
    responseText: last?.answer?.body.toString("utf8"),
    serverTime: last?.answer && serverTime(last.answer.headers),
    cause: failed.cause ?? last?.failure?.cause,
  };
  if (call.operation === "register") {
    return new WebhookRegistrationError(message, {
      ...details,
      outcome: effect === "possible" ? "undecided" : "not-made",
    });
  }
  if (code === "NOT_FOUND") return new WebhookEndpointNotFoundError(message, details);
  return new WebhookError(message, details);
}

function happened(
  { code, last, timeoutMs = 0, problem }: Failed,
  { maxResponseBytes }: ResolvedOptions,
): string {
  if (code === "CLOSED") return "was not sent: the client is closed";
  if (code === "ABORTED") return "was aborted by the caller";
  if (!last) return `was not sent: the service asked this client to wait ${mostRefusals} times in a row`;
  const { answer, failure, sent } = last;
  const seconds = `${Math.round(timeoutMs / 100) / 10} s`;
  if (!answer) {
    if (failure?.reason === "timeout") {
      return sent ? `got no answer within ${seconds}` : `got no connection within ${seconds}`;
    }
    return sent
      ? `lost its connection before it was answered (${nameOf(failure?.cause)})`
      : `got no connection (${nameOf(failure?.cause)})`;
  }
  const answered = `was answered with ${answer.statusCode}`;
  if (answer.statusCode >= 300) return answered;
  if (problem) return `${answered}, but the answer cannot be used: ${problem}`;
  if (failure?.reason === "too-large")
    return `${answered}, but the answer is longer than ${maxResponseBytes} bytes`;
  if (failure?.reason === "timeout") return `${answered}, but not in full within ${seconds}`;
  return `${answered}, but the answer broke off (${nameOf(failure?.cause)})`;
}

/** The system's or TLS's code for what went wrong; undici's own codes say less than its messages. */
function nameOf(cause: unknown): string {
  const { code = "", message = "no reason given" } = isRecord(cause) ? cause : {};
  return String(code === "" || String(code).startsWith("UND_ERR_") ? message : code);
}

function advice({ operation }: Call<unknown>, { code, last }: Failed, options: ResolvedOptions): string {
  switch (code) {
    case "UNAUTHORIZED":
      return (
        `The API key was refused: it may be wrong, revoked, or rotated since it was configured or recorded; check also ` +
        `that the service expects it in the header ${options.apiKeyHeader}.`
      );
    case "NOT_FOUND":
      return "The account of this API key has no endpoint of that id: it was deleted, or is another account's or another service's.";
    case "RATE_LIMITED":
      return "The service allows fewer requests than it gets: run again later, or with less at once.";
    case "REDIRECTED":
      return `Redirects are not followed, because the API key would go along: set baseUrl to where the API is${target(last, options)}.`;
    case "REJECTED":
      return last?.answer?.statusCode === 404 || last?.answer?.statusCode === 405
        ? "The API is not there: check baseUrl."
        : `The service refused the request${operation === "register" ? ": check url, type and ip" : ""}. Its answer, which may be confidential, is not shown: it is the error's responseText.`;
    case "SERVER_ERROR":
      return "The service failed: run again later. Its answer, which may be confidential, is not shown: it is the error's responseText.";
    case "MALFORMED_RESPONSE":
      return "Check that baseUrl is that of the webhook service's API and not of its website.";
    case "RESPONSE_TOO_LARGE":
      return "Check baseUrl, or raise maxResponseBytes.";
    case "UNREACHABLE":
      return "Nothing was sent. Check baseUrl, the network, and HTTPS_PROXY and NO_PROXY in the environment.";
    case "CONNECTION_LOST":
      return "Run again.";
    case "TIMED_OUT":
      return "Run again, or raise the time-out (of an operation; one attempt takes 10 s at most).";
    case "CLOSED":
      return "Make a new client.";
    default:
      return "Run again when ready.";
  }
}

/** The origin that a redirect points to; its path may hold more than a message should. */
function target(last: Exchanged | undefined, { baseUrl }: ResolvedOptions): string {
  const location = last?.answer && first(last.answer.headers, "location");
  if (location === undefined || !URL.canParse(location, baseUrl.href)) return "";
  const { origin } = new URL(location, baseUrl.href);
  return origin === "null" ? "" : ` (it points to ${origin})`;
}
