import { headerOf, isRecord, serverTimeOf } from "./answer";
import type { Attempt } from "./attempt";
import type { WebhookErrorCode } from "./errors";
import { WebhookEndpointNotFoundError, WebhookError, WebhookRegistrationError } from "./errors";
import type { Operation } from "./operations";
import type { ResolvedOptions } from "./options";

/** How an operation failed. */
export interface OperationFailure {
  readonly code: WebhookErrorCode;
  /** Whether the service may have carried out any of the attempts. */
  readonly mayHaveWorked: boolean;
  readonly attempts: number;
  /** The last attempt; absent if nothing was sent. */
  readonly last?: Attempt | undefined;
  /** The timeout of the last attempt, in milliseconds. */
  readonly attemptTimeoutMs: number;
  /** What is wrong with a malformed answer. */
  readonly problem?: string | undefined;
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
      ? " The endpoint may have been registered all the same: list the endpoints before you register it again."
      : "";
  const message =
    `Cannot ${operation.description}: ${operation.method} ${url} ${whatHappened(failure, options)}${times}. ` +
    `${advice(operation, failure, options)}${doubt}`;
  const details = {
    code,
    statusCode: last?.answer?.statusCode,
    responseText: last?.answer?.body.toString("utf8"),
    serverTime: last?.answer && serverTimeOf(last.answer.headers),
    cause: cause ?? last?.failure?.cause,
  };
  if (register) {
    const outcome = mayHaveWorked ? "undecided" : "not-made";
    return new WebhookRegistrationError(message, { ...details, outcome });
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
  if (!last) return "was not sent: the service kept asking this client to wait";
  const { answer, failure, sent } = last;
  const seconds = `${Math.round(attemptTimeoutMs / 100) / 10} s`;
  if (!answer) {
    const missing = sent ? "no answer" : "no connection";
    if (failure.reason === "timeout") return `got ${missing} within ${seconds}`;
    const name = nameOf(failure.cause);
    return sent ? `lost its connection before it was answered (${name})` : `got no connection (${name})`;
  }
  const answered = `was answered with ${answer.statusCode}`;
  if (answer.statusCode >= 300) return answered;
  if (problem) return `${answered}, but the answer cannot be used: ${problem}`;
  switch (failure?.reason) {
    case "too-large":
      return `${answered}, but the answer is longer than ${maxResponseBytes} bytes`;
    case "undecodable":
      return `${answered}, but the answer cannot be decompressed (${nameOf(failure.cause)})`;
    case "timeout":
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
  "Its answer may be confidential and is not shown here; it is in the error's responseText.";

function advice(
  { name }: Operation<unknown>,
  { code, last }: OperationFailure,
  options: ResolvedOptions,
): string {
  switch (code) {
    case "UNAUTHORIZED":
      return (
        "The service refused the API key: it may be wrong, revoked, or rotated since it was configured or recorded. " +
        `Check also that the service expects it in the header ${options.apiKeyHeader}.`
      );
    case "NOT_FOUND":
      return "The account of this API key has no endpoint with that id: it was deleted, or belongs to another account or service.";
    case "RATE_LIMITED":
      return "The service allows fewer requests than it receives: run again later, or send fewer at once.";
    case "REDIRECTED":
      return `Redirects are not followed, because the API key would be sent along: set baseUrl to the address of the API${redirectTarget(last, options)}.`;
    case "REJECTED":
      return last?.answer?.statusCode === 404 || last?.answer?.statusCode === 405
        ? "The API is not at this address: check baseUrl."
        : `The service refused the request${name === "register" ? ": check url, type and ip" : ""}. ${HIDDEN_ANSWER}`;
    case "SERVER_ERROR":
      return `The service failed: run again later. ${HIDDEN_ANSWER}`;
    case "MALFORMED_RESPONSE":
      return "Check that baseUrl is the address of the webhook service's API, not of its website.";
    case "RESPONSE_TOO_LARGE":
      return "Check baseUrl, or raise maxResponseBytes.";
    case "UNREACHABLE":
      return "Nothing was sent. Check baseUrl, the network, and HTTPS_PROXY and NO_PROXY in the environment.";
    case "CONNECTION_LOST":
      return "Run again.";
    case "TIMED_OUT":
      return "Run again, or raise the operation's timeout (one attempt takes 10 s at most).";
    case "CLOSED":
      return "Create a new client.";
    default:
      return "Run again when ready.";
  }
}

/** Shows only the origin that a redirect points to: its path may hold a token. */
function redirectTarget(last: Attempt | undefined, { baseUrl }: ResolvedOptions): string {
  const location = last?.answer && headerOf(last.answer.headers, "location");
  if (location === undefined || !URL.canParse(location, baseUrl.href)) return "";
  const { origin } = new URL(location, baseUrl.href);
  return origin === "null" ? "" : ` (the redirect points to ${origin})`;
}
