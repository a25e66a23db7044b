import { foreign } from "../shared/escape";
import { isRecord } from "../shared/json";
import type { Attempt } from "./attempt";
import type { WebhookErrorCode } from "./errors";
import { WebhookEndpointNotFoundError, WebhookError, WebhookRegistrationError } from "./errors";
import type { Operation } from "./operation";

/** How an operation failed. */
interface OperationFailure {
  readonly code: WebhookErrorCode;
  readonly attempts: number;
  /** The last attempt; undefined before the first. */
  readonly last: Attempt | undefined;
  /** True if the service may have carried out any of the attempts. */
  readonly mayHaveWorked: boolean;
  /** Default: why the last attempt failed. */
  readonly cause?: unknown;
}

/** Returns the error to throw for a failed operation. */
export function operationError(
  { name, method, url, description }: Operation<unknown>,
  failure: OperationFailure,
): WebhookError {
  const { code, mayHaveWorked, last, attempts } = failure;
  const response = last?.response;
  const times = attempts > 1 ? ` (attempt ${attempts})` : "";
  const what = `Cannot ${description}: ${method} ${foreign(url)} ${whatHappened(failure)}${times}.`;
  const outcome = mayHaveWorked ? "undecided" : "not-made";
  const isNoApi = name === "list" && (response?.status === 404 || response?.status === 405);
  const isLimited = code === "UNAUTHORIZED" && response?.headers["retry-after"] !== undefined;
  const text = [
    what,
    isNoApi ? NO_API : ADVICE[code],
    isLimited && MAY_LIMIT,
    name === "register" && mayHaveWorked && MAY_EXIST,
  ]
    .filter(Boolean)
    .join(" ");
  const details = {
    code,
    outcome,
    statusCode: response?.status,
    responseText: response?.body.toString("utf8"),
    cause: failure.cause ?? last?.failure?.cause,
  } as const;
  if (name === "register") return new WebhookRegistrationError(text, details);
  if (code === "NOT_FOUND") return new WebhookEndpointNotFoundError(text, details);
  return new WebhookError(text, details);
}

function whatHappened({ code, last, cause }: OperationFailure): string {
  if (code === "ABORTED") return "was aborted by the caller";
  if (!last) return "was not sent: for at least a minute, the service kept asking this client to wait";
  const { response, failure, sent } = last;
  if (response && response.status >= 300) return `was answered with ${response.status}`;
  const reason = REASONS[code] ?? nameOf(cause ?? failure?.cause);
  if (response) return `was answered with ${response.status}, but the response cannot be used: ${reason}`;
  return `got no ${sent ? "response" : "connection"}: ${reason}`;
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

const MAY_EXIST =
  "The endpoint may have been registered anyway: list the endpoints before you register it again.";

const NO_API =
  "There is no webhooks API at this base URL: set it to the address below which the service has /webhooks.";

const MAY_LIMIT = "Or it limits requests, because it asked to wait: then try again later.";

const ADVICE: Readonly<Partial<Record<WebhookErrorCode, string>>> = {
  UNAUTHORIZED:
    "The service refused the API key: it is wrong or rotated, or belongs in another header than apiKeyHeader (default: X-Api-Key).",
  NOT_FOUND: "The account of this API key has no endpoint with that id.",
  RATE_LIMITED: "The service is limiting requests: try again later.",
  REJECTED: "The service refused the request. Check what was sent, and after 404 or 405 baseUrl.",
  SERVER_ERROR: "The service failed.",
  MALFORMED_RESPONSE: "Check that baseUrl is the address of the webhook service's API, not of its website.",
  RESPONSE_TOO_LARGE: "Check baseUrl, or raise maxResponseBytes.",
  UNREACHABLE:
    "Nothing was sent, so nothing was registered or deleted. Unless the service is down, check baseUrl, the network, HTTPS_PROXY and NO_PROXY.",
  TIMED_OUT:
    "To wait longer, raise timeoutMs, or webhooks:timeoutSeconds of a stack (one attempt takes 10 s at most).",
  REDIRECTED:
    "The redirect is not followed, because the API key would be sent along: set baseUrl to the address of the API.",
};
