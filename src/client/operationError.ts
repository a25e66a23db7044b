import { isRecord } from "../shared/json";
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
  readonly cause?: unknown;
}

/** Returns the error that the contract prescribes for an operation. */
export function operationError(
  operation: Operation<unknown>,
  failure: OperationFailure,
  options: ResolvedOptions,
): WebhookError {
  const { code, mayHaveWorked, last, attempts } = failure;
  const isRegistration = operation.name === "register";
  const url = `${options.baseUrl.href.replace(/\/$/, "")}${operation.path}`;
  const times = attempts > 1 ? ` (attempt ${attempts})` : "";
  const what = `Cannot ${operation.description}: ${operation.method} ${url} ${whatHappened(failure, options)}${times}.`;
  const again = TEMPORARY.has(code) && "Try again later.";
  const next = isRegistration && mayHaveWorked ? DOUBT : again;
  const message = [what, advice(operation, failure, options), next].filter(Boolean).join(" ");
  const details = {
    code,
    statusCode: last?.answer?.statusCode,
    responseText: last?.answer?.body.toString("utf8"),
    serverTime: last?.answer && serverTimeOf(last.answer.headers),
    cause: failure.cause ?? last?.failure?.cause,
  };
  if (isRegistration) {
    const outcome = mayHaveWorked ? "undecided" : "not-made";
    return new WebhookRegistrationError(message, { ...details, outcome });
  }
  return code === "NOT_FOUND"
    ? new WebhookEndpointNotFoundError(message, details)
    : new WebhookError(message, details);
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
    if (code === "TIMED_OUT") return `got no ${sent ? "answer" : "connection"} within ${seconds}`;
    const name = nameOf(failure.cause);
    return sent ? `lost its connection before it was answered (${name})` : `got no connection (${name})`;
  }
  const answered = `was answered with ${answer.statusCode}`;
  if (answer.statusCode >= 300) return answered;
  if (problem) return `${answered}, but the answer cannot be used: ${problem}`;
  if (code === "TIMED_OUT") return `${answered}, but not completely within ${seconds}`;
  return code === "RESPONSE_TOO_LARGE"
    ? `${answered}, but the answer is longer than ${maxResponseBytes} bytes`
    : `${answered}, but the answer broke off (${nameOf(failure?.cause)})`;
}

/** Returns the system's or TLS's code for an error. undici's own codes say less than its messages. */
function nameOf(cause: unknown): string {
  const { code = "", message = "no reason given" } = isRecord(cause) ? cause : {};
  return String(code === "" || String(code).startsWith("UND_ERR_") ? message : code);
}

const DOUBT =
  "The endpoint may have been registered anyway: list the endpoints before you register it again.";
const HIDDEN_ANSWER =
  "Its answer may be confidential, so this message leaves it out: the error's responseText has it, and webhooks:showResponses shows it.";

/** What may go away by itself. */
const TEMPORARY: ReadonlySet<WebhookErrorCode> = new Set([
  "RATE_LIMITED",
  "SERVER_ERROR",
  "CONNECTION_LOST",
  "TIMED_OUT",
  "ABORTED",
] as const);

const ADVICE: Readonly<Partial<Record<WebhookErrorCode, string>>> = {
  UNAUTHORIZED:
    "The service refused the API key: it may be wrong, revoked, or rotated since it was configured or recorded. " +
    "Check also that the service expects it in the header that apiKeyHeader names (default: X-Api-Key).",
  NOT_FOUND:
    "The account of this API key has no endpoint with that id: it was deleted, or belongs to another account or service.",
  RATE_LIMITED: "The service is limiting requests.",
  SERVER_ERROR: `The service failed. ${HIDDEN_ANSWER}`,
  MALFORMED_RESPONSE: "Check that baseUrl is the address of the webhook service's API, not of its website.",
  RESPONSE_TOO_LARGE: "Check baseUrl, or raise maxResponseBytes.",
  UNREACHABLE:
    "Nothing was sent. Check baseUrl, the network, and HTTPS_PROXY and NO_PROXY in the environment.",
  TIMED_OUT: "To wait longer, raise the operation's timeout (one attempt takes 10 s at most).",
  CLOSED: "Create a new client.",
};

function advice(
  { name }: Operation<unknown>,
  { code, last }: OperationFailure,
  { baseUrl }: ResolvedOptions,
): string | undefined {
  const { statusCode, headers = {} } = last?.answer ?? {};
  if (code === "REDIRECTED") {
    const location = headerOf(headers, "location") ?? "";
    // Only the origin: the path may hold a token.
    const target = isUrl(location, baseUrl.href)
      ? ` (it points to ${new URL(location, baseUrl.href).origin})`
      : "";
    return `The redirect${target} is not followed, because the API key would be sent along: set baseUrl to the address of the API.`;
  }
  if (code !== "REJECTED") return ADVICE[code];
  if (statusCode === 404 || statusCode === 405) return "The API is not at this address: check baseUrl.";
  return `The service refused the request${name === "register" ? ": check url, type and ip" : ""}. ${HIDDEN_ANSWER}`;
}
