import { isRecord } from "../shared/json";
import { mayBeKey } from "../shared/mayBeKey";
import { isUrl } from "../shared/url";
import { headerOf, serverTimeOf } from "./answer";
import type { Attempt } from "./attempt";
import type { WebhookErrorCode } from "./errors";
import { WebhookEndpointNotFoundError, WebhookError, WebhookRegistrationError } from "./errors";
import type { Operation } from "./operations";
import type { ResolvedOptions } from "./options";

/** How far an operation has come. */
export interface Progress {
  attempts: number;
  /** The last attempt; absent before the first. */
  last?: Attempt;
  /** The timeout of the last attempt, in milliseconds. */
  attemptTimeoutMs: number;
  /** True if the service may have carried out any of the attempts. */
  mayHaveWorked: boolean;
}

/** How an operation failed. */
export interface OperationFailure extends Readonly<Progress> {
  readonly code: WebhookErrorCode;
  /** What is wrong with a malformed answer. */
  readonly problem?: string;
  /** After 503 with `Retry-After` to a registration. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** Returns the error that the contract prescribes for an operation. */
export function operationError(
  operation: Operation<unknown>,
  failure: OperationFailure,
  options: ResolvedOptions,
): WebhookError {
  const { code, mayHaveWorked, last, attempts, cause } = failure;
  const register = operation.name === "register";
  const url = `${options.baseUrl.href.replace(/\/$/, "")}${operation.path}`;
  const times = attempts > 1 ? ` (attempt ${attempts})` : "";
  const doubt =
    register && mayHaveWorked
      ? "The endpoint may have been registered anyway: list the endpoints before you register it again."
      : "";
  const what = `Cannot ${operation.description}: ${operation.method} ${url} ${whatHappened(failure, options)}${times}.`;
  const next = doubt && code in ADVICE_IN_DOUBT ? ADVICE_IN_DOUBT[code] : advice(operation, failure, options);
  const message = [what, next, doubt].filter(Boolean).join(" ");
  const details = {
    code,
    statusCode: last?.answer?.statusCode,
    responseText: last?.answer?.body.toString("utf8"),
    serverTime: last?.answer && serverTimeOf(last.answer.headers),
    cause: cause ?? last?.failure?.cause,
  };
  if (register) {
    const outcome = mayHaveWorked ? "undecided" : "not-made";
    return new WebhookRegistrationError(message, { ...details, outcome, retryAfterMs: failure.retryAfterMs });
  }
  if (code === "NOT_FOUND") return new WebhookEndpointNotFoundError(message, details);
  return new WebhookError(message, details);
}

function whatHappened(
  { code, last, attemptTimeoutMs, problem }: OperationFailure,
  { maxResponseBytes }: ResolvedOptions,
): string {
  if (code === "CLOSED") return "was not sent: the client is closed";
  if (code === "ABORTED") return "was aborted by the caller";
  if (!last) return "was not sent: for at least a minute, the service kept asking this client to wait";
  const { answer, failure, sent } = last;
  const seconds = `${Math.round(attemptTimeoutMs / 100) / 10} s`;
  if (!answer) {
    const missing = sent ? "no answer" : "no connection";
    if (failure.code === "TIMED_OUT") return `got ${missing} within ${seconds}`;
    const name = nameOf(failure.cause);
    return sent ? `lost its connection before it was answered (${name})` : `got no connection (${name})`;
  }
  const answered = `was answered with ${answer.statusCode}`;
  if (answer.statusCode >= 300) return answered;
  if (problem) return `${answered}, but the answer cannot be used: ${problem}`;
  switch (failure?.code) {
    case "RESPONSE_TOO_LARGE":
      return `${answered}, but the answer is longer than ${maxResponseBytes} bytes`;
    case "MALFORMED_RESPONSE":
      return `${answered}, but the answer cannot be decompressed (${nameOf(failure.cause)})`;
    case "TIMED_OUT":
      return `${answered}, but not completely within ${seconds}`;
    default:
      return `${answered}, but the answer broke off (${nameOf(failure?.cause)})`;
  }
}

/** Returns the system's, TLS's or zlib's code for an error. undici's own codes say less than its messages. */
function nameOf(cause: unknown): string {
  const { code = "", message = "no reason given" } = isRecord(cause) ? cause : {};
  return String(code === "" || String(code).startsWith("UND_ERR_") ? message : code);
}

const HIDDEN_ANSWER =
  "Its answer may be confidential, so this message leaves it out: the error's responseText has it, and webhooks:showResponses shows it.";
const ADVICE: Readonly<Partial<Record<WebhookErrorCode, string>>> = {
  NOT_FOUND:
    "The account of this API key has no endpoint with that id: it was deleted, or belongs to another account or service.",
  RATE_LIMITED: "The service is limiting requests: try again later, or send fewer at once.",
  SERVER_ERROR: `The service failed: try again later. ${HIDDEN_ANSWER}`,
  MALFORMED_RESPONSE: "Check that baseUrl is the address of the webhook service's API, not of its website.",
  RESPONSE_TOO_LARGE: "Check baseUrl, or raise maxResponseBytes.",
  UNREACHABLE:
    "Nothing was sent. Check baseUrl, the network, and HTTPS_PROXY and NO_PROXY in the environment.",
  CONNECTION_LOST: "Try again.",
  TIMED_OUT: "Try again, or raise the operation's timeout (one attempt takes 10 s at most).",
  ABORTED: "Try again when ready.",
  CLOSED: "Create a new client.",
};
/** For a registration that may have succeeded, which must not simply be tried again. */
const ADVICE_IN_DOUBT: typeof ADVICE = {
  REDIRECTED: "Redirects are not followed, because the API key would be sent along.",
  SERVER_ERROR: `The service failed. ${HIDDEN_ANSWER}`,
  CONNECTION_LOST: "",
  TIMED_OUT: "To wait longer, raise the operation's timeout (one attempt takes 10 s at most).",
  ABORTED: "",
};

/** A key may have got into the place of the header's name. */
function headerName({ apiKeyHeader }: ResolvedOptions): string {
  return mayBeKey(apiKeyHeader)
    ? "of apiKeyHeader, which is not shown, because it looks like a key"
    : apiKeyHeader;
}

function advice({ name }: Operation<unknown>, { code, last }: OperationFailure, options: ResolvedOptions) {
  if (code === "UNAUTHORIZED") {
    return (
      "The service refused the API key: it may be wrong, revoked, or rotated since it was configured or recorded. " +
      `Check also that the service expects it in the header ${headerName(options)}.`
    );
  }
  if (code === "REDIRECTED") {
    const target = redirectTarget(last, options);
    return `Redirects are not followed, because the API key would be sent along: set baseUrl to the address of the API${target}.`;
  }
  if (code !== "REJECTED") return ADVICE[code];
  const { statusCode } = last?.answer ?? {};
  if (statusCode === 404 || statusCode === 405) return "The API is not at this address: check baseUrl.";
  return `The service refused the request${name === "register" ? ": check url, type and ip" : ""}. ${HIDDEN_ANSWER}`;
}

/** Shows only the origin that a redirect points to: its path may hold a token. */
function redirectTarget(last: Attempt | undefined, { baseUrl }: ResolvedOptions): string {
  const location = last?.answer && headerOf(last.answer.headers, "location");
  if (location === undefined || !isUrl(location, baseUrl.href)) return "";
  const { origin } = new URL(location, baseUrl.href);
  return origin === "null" ? "" : ` (the redirect points to ${origin})`;
}
