import { isRecord } from "../shared/json";
import { serverTimeOf } from "./answer";
import type { Attempt } from "./attempt";
import type { WebhookErrorCode } from "./errors";
import { WebhookEndpointNotFoundError, WebhookError, WebhookRegistrationError } from "./errors";
import type { Operation } from "./operations";

/** How an operation failed. */
export interface OperationFailure {
  readonly code: WebhookErrorCode;
  readonly attempts: number;
  /** The last attempt; undefined before the first. */
  readonly last: Attempt | undefined;
  /** True if the service may have carried out any of the attempts. */
  readonly mayHaveWorked: boolean;
  /** What is wrong with a malformed answer. */
  readonly problem?: string;
  readonly cause?: unknown;
}

/** Returns the error that the contract prescribes for an operation. */
export function operationError(
  operation: Operation<unknown>,
  failure: OperationFailure,
  baseUrl: URL,
): WebhookError {
  const { code, mayHaveWorked, last, attempts } = failure;
  const url = `${baseUrl.href.replace(/\/$/, "")}${operation.path}`;
  const times = attempts > 1 ? ` (attempt ${attempts})` : "";
  const what = `Cannot ${operation.description}: ${operation.method} ${url} ${whatHappened(failure)}${times}.`;
  const isRegistration = operation.name === "register";
  const message = [what, advice(operation, failure), isRegistration && mayHaveWorked && DOUBT];
  const text = message.filter(Boolean).join(" ");
  const details = {
    code,
    statusCode: last?.answer?.statusCode,
    responseText: last?.answer?.body.toString("utf8"),
    serverTime: last?.answer && serverTimeOf(last.answer.headers),
    cause: failure.cause ?? last?.failure?.cause,
  };
  const outcome = mayHaveWorked ? "undecided" : "not-made";
  if (isRegistration) return new WebhookRegistrationError(text, { ...details, outcome });
  if (code === "NOT_FOUND") return new WebhookEndpointNotFoundError(text, details);
  return new WebhookError(text, details);
}

function whatHappened({ code, last, problem }: OperationFailure): string {
  if (code === "CLOSED") return "was not sent: the client is closed";
  if (code === "ABORTED") return "was aborted by the caller";
  if (!last) return "was not sent: for at least a minute, the service kept asking this client to wait";
  const { answer, failure, sent } = last;
  if (answer && answer.statusCode >= 300) return `was answered with ${answer.statusCode}`;
  const reason = problem ?? REASONS[code] ?? nameOf(failure?.cause);
  if (answer) return `was answered with ${answer.statusCode}, but the answer cannot be used: ${reason}`;
  return `got no ${sent ? "answer" : "connection"}: ${reason}`;
}

const REASONS: Readonly<Partial<Record<WebhookErrorCode, string>>> = {
  TIMED_OUT: "it took too long",
  RESPONSE_TOO_LARGE: "it is longer than maxResponseBytes",
};

/** Returns the system's or TLS's code for an error. undici's own codes say less than its messages. */
function nameOf(cause: unknown): string {
  const { code = "", message = "no reason given" } = isRecord(cause) ? cause : {};
  return String(code === "" || String(code).startsWith("UND_ERR_") ? message : code);
}

const DOUBT =
  "The endpoint may have been registered anyway: list the endpoints before you register it again.";
const HIDDEN_ANSWER = "The error's responseText has the answer, which may be confidential.";

const ADVICE: Readonly<Partial<Record<WebhookErrorCode, string>>> = {
  UNAUTHORIZED:
    "The service refused the API key: it is wrong, revoked or rotated, or belongs in another header than apiKeyHeader names (default: X-Api-Key).",
  NOT_FOUND:
    "The account of this API key has no endpoint with that id: it was deleted, or belongs to another account or service.",
  RATE_LIMITED: "The service is limiting requests: try again later.",
  SERVER_ERROR: `The service failed. ${HIDDEN_ANSWER}`,
  MALFORMED_RESPONSE: "Check that baseUrl is the address of the webhook service's API, not of its website.",
  RESPONSE_TOO_LARGE: "Check baseUrl, or raise maxResponseBytes.",
  UNREACHABLE:
    "Nothing was sent. Check baseUrl, the network, and HTTPS_PROXY and NO_PROXY in the environment.",
  TIMED_OUT: "To wait longer, raise the operation's timeout (one attempt takes 10 s at most).",
  REDIRECTED:
    "The redirect is not followed, because the API key would be sent along: set baseUrl to the address of the API.",
  CLOSED: "Create a new client.",
};

function advice({ name }: Operation<unknown>, { code, last }: OperationFailure): string | undefined {
  if (code !== "REJECTED") return ADVICE[code];
  const statusCode = last?.answer?.statusCode;
  if (statusCode === 404 || statusCode === 405) return "The API is not at this address: check baseUrl.";
  return `The service refused the request${name === "register" ? ": check url, type and ip" : ""}. ${HIDDEN_ANSWER}`;
}
