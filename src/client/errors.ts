import { CodedError, KIND } from "../shared/codedError";

/** What went wrong. Stable, for programs to compare. */
export type WebhookErrorCode =
  | "INVALID_OPTION" // of the client; nothing was sent
  | "INVALID_ARGUMENT" // of an operation; nothing was sent
  | "UNAUTHORIZED" // 401 or 403, also after one wait if the 403 asks for it
  | "NOT_FOUND" // 404 or 410, on get or delete
  | "RATE_LIMITED" // the service kept responding 429 to this request, or 429 or 503 with Retry-After to those ahead of it in the queue
  | "REDIRECTED" // 3xx, which is not followed, because the key would be sent along
  | "REJECTED" // any other 4xx but 408
  | "SERVER_ERROR" // 5xx
  | "MALFORMED_RESPONSE" // a 2xx whose content breaks the contract
  | "RESPONSE_TOO_LARGE" // longer than maxResponseBytes
  | "UNREACHABLE" // no connection (refused, DNS, TLS, proxy, closed client); nothing was sent
  | "CONNECTION_LOST" // after the request was sent
  | "TIMED_OUT" // no whole response in time, or 408
  | "ABORTED"; // by the caller's signal

/** What a `WebhookError` carries besides its message. */
export interface WebhookErrorOptions extends Pick<WebhookError, "code" | "statusCode" | "responseText"> {
  /** The error that this one comes from, such as that of the connection. TypeScript's `lib` before es2022 lacks it. */
  readonly cause?: unknown;
}

/** A failed request to the webhook service. Its message holds no key, no path of a webhook's url and no response text. */
export class WebhookError extends CodedError<WebhookErrorCode> {
  /** @internal */ static readonly [KIND]: string = "WebhookError";
  /** The name of the class, as a string that a minifier keeps. */
  override readonly name: string = "WebhookError";
  /** The HTTP status; absent if there was no response. */
  declare readonly statusCode?: number | undefined;
  /** The raw text of the response; absent if there was none. Not enumerable, so that no logger prints it by accident. */
  declare readonly responseText?: string | undefined;

  constructor(message: string, { code, statusCode, responseText, cause }: WebhookErrorOptions) {
    super(code, message, { cause });
    if (statusCode !== undefined) this.statusCode = statusCode;
    if (responseText !== undefined) Object.defineProperty(this, "responseText", { value: responseText });
  }
}

/** A get or delete that got 404 or 410: the account that the key belongs to has no endpoint with that id. */
export class WebhookEndpointNotFoundError extends WebhookError {
  /** @internal */ static override readonly [KIND]: string = "WebhookEndpointNotFoundError";
  override readonly name = "WebhookEndpointNotFoundError";
}

/**
 * - `"not-made"`: no endpoint was registered, so sending it again is safe. The request was never sent, or got
 *   any 3xx but 303 or any 4xx but 408.
 * - `"undecided"`: the service may have registered the endpoint, so sending it again may make a duplicate. List first.
 */
export type RegistrationOutcome = "not-made" | "undecided";

/** A registration that failed. */
export class WebhookRegistrationError extends WebhookError {
  /** @internal */ static override readonly [KIND]: string = "WebhookRegistrationError";
  override readonly name = "WebhookRegistrationError";
  /** Says if an endpoint may exist. */
  readonly outcome: RegistrationOutcome;

  constructor(message: string, options: WebhookErrorOptions & Pick<WebhookRegistrationError, "outcome">) {
    super(message, options);
    this.outcome = options.outcome;
  }
}
