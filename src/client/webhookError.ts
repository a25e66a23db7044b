import { CodedError } from "../error";

/**
 * What went wrong, for programs to tell apart. Stable.
 *
 * - `INVALID_OPTION`, `INVALID_ARGUMENT`: the caller's mistake; nothing was sent.
 * - `UNAUTHORIZED`: 401 or 403. `NOT_FOUND`: 404 on get or delete. `RATE_LIMITED`: 429 to the end, or no turn for a
 *   request because others of the same client met nothing else.
 * - `REDIRECTED`: 3xx, which is not followed, because the key would go along. `REJECTED`: any other 4xx but 408.
 * - `SERVER_ERROR`: 5xx. `MALFORMED_RESPONSE`: a 2xx that does not hold what the contract says.
 * - `RESPONSE_TOO_LARGE`: longer than `maxResponseBytes`.
 * - `UNREACHABLE`: no connection (refused, DNS, TLS, proxy); nothing was sent.
 * - `CONNECTION_LOST`: it broke after the request went out.
 * - `TIMED_OUT`: no whole answer in time, or 408. `ABORTED`: by the caller's signal. `CLOSED`: the client was closed.
 */
export type WebhookErrorCode =
  | "INVALID_OPTION"
  | "INVALID_ARGUMENT"
  | "UNAUTHORIZED"
  | "NOT_FOUND"
  | "RATE_LIMITED"
  | "REDIRECTED"
  | "REJECTED"
  | "SERVER_ERROR"
  | "MALFORMED_RESPONSE"
  | "RESPONSE_TOO_LARGE"
  | "UNREACHABLE"
  | "CONNECTION_LOST"
  | "TIMED_OUT"
  | "ABORTED"
  | "CLOSED";

export interface WebhookErrorOptions {
  readonly code: WebhookErrorCode;
  readonly statusCode?: number | undefined;
  readonly responseText?: string | undefined;
  readonly serverTime?: number | null | undefined;
  readonly cause?: unknown;
}

/** A request to the webhook service that failed. Its message holds no key, no path of a webhook's url and no response text. */
export class WebhookError extends CodedError<WebhookErrorCode> {
  override readonly name: string = "WebhookError";
  /** The HTTP status; absent when there was no response. */
  declare readonly statusCode?: number;
  /** The raw text of the response; absent when there was none. Not enumerable, so that no logger prints it by accident. */
  declare readonly responseText?: string;
  /** The service's clock when it answered, in milliseconds since 1970; null where nothing told it. Not enumerable. */
  declare readonly serverTime: number | null;

  constructor(message: string, { code, statusCode, responseText, serverTime, cause }: WebhookErrorOptions) {
    super(code, message, { cause });
    if (statusCode !== undefined)
      Object.defineProperty(this, "statusCode", { value: statusCode, enumerable: true });
    if (responseText !== undefined) Object.defineProperty(this, "responseText", { value: responseText });
    Object.defineProperty(this, "serverTime", { value: serverTime ?? null });
  }
}
