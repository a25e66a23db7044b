import { WebhookEndpointNotFoundError, WebhookError } from "../client";
import { CodedError } from "../error";
import type { EndpointState } from "./types";

/** Why the provider refused, apart from what the service answered. Stable: tests and users may rely on them. */
export type EndpointErrorCode =
  | "SETTINGS_INVALID"
  | "ENDPOINT_NOT_FOUND"
  | "ENDPOINT_EXISTS"
  | "REGISTRATION_WAITS"
  | "STILL_PENDING"
  | "ADOPT_TAKEN"
  | "ADOPT_NOT_FOUND"
  | "ADOPT_MISMATCH"
  | "OTHER_BASE_URL"
  | "KEY_REFUSED";

export class EndpointError extends CodedError<EndpointErrorCode> {
  override readonly name = "EndpointError";
}

/**
 * A registration whose outcome is unknown. Thrown from `create`, the plugin hands `id`, `properties` and `reasons` on,
 * and the engine keeps the resource as half-made (engine rule 8); it shows the reasons, not the message.
 */
export class PendingError extends CodedError<"REGISTRATION_PENDING"> {
  override readonly name = "PendingError";
  readonly id: string;
  readonly properties: EndpointState;
  readonly reasons: readonly string[];

  constructor(options: { id: string; state: EndpointState; message: string; cause: WebhookError }) {
    const { code, statusCode } = options.cause;
    const cameBack = statusCode === undefined ? `no answer: ${code}` : `status ${statusCode}: ${code}`;
    super(
      "REGISTRATION_PENDING",
      `${options.message} (${cameBack}). Run \`pulumi up\` again: it takes the endpoint over if it is there, and ` +
        "registers it if not; `pulumi refresh` and `pulumi destroy` settle it too.",
      { cause: options.cause },
    );
    this.id = options.id;
    this.properties = options.state;
    this.reasons = [this.message];
  }
}

/** Whether the service said that it has no endpoint of that id. */
export function isNotFound(error: unknown): error is WebhookEndpointNotFoundError {
  return error instanceof WebhookEndpointNotFoundError;
}

/** Whether the service refused the API key. */
export function isUnauthorized(error: unknown): error is WebhookError {
  return error instanceof WebhookError && (error.statusCode === 401 || error.statusCode === 403);
}
