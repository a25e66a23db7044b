import { WebhookEndpointNotFoundError, WebhookError } from "../client";
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

export class EndpointError extends Error {
  override readonly name = "EndpointError";

  constructor(
    readonly code: EndpointErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(`${message} (${code})`, options);
  }
}

/**
 * A registration whose outcome is unknown. Thrown from `create`, the plugin hands `id`, `properties` and `reasons` on,
 * and the engine keeps the resource as half-made (engine rule 8); it shows the reasons, not the message.
 */
export class PendingError extends Error {
  override readonly name = "PendingError";
  readonly code = "REGISTRATION_PENDING";
  readonly id: string;
  readonly properties: EndpointState;
  readonly reasons: readonly string[];

  constructor(options: { id: string; state: EndpointState; message: string; cause: WebhookError }) {
    const { code, statusCode } = options.cause;
    const cameBack = statusCode === undefined ? `no answer: ${code}` : `status ${statusCode}: ${code}`;
    super(
      `${options.message} (${cameBack}). Run \`pulumi up\` again: it takes the endpoint over if it is there, and ` +
        "registers it if not; `pulumi refresh` and `pulumi destroy` settle it too. (REGISTRATION_PENDING)",
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

/** What an error says, without its code: for a message with a code of its own. */
export function wordsOf({ message, code }: WebhookError): string {
  return message.replace(` (${code})`, "");
}

/** Whether the service refused the API key. */
export function isUnauthorized(error: unknown): error is WebhookError {
  return error instanceof WebhookError && (error.statusCode === 401 || error.statusCode === 403);
}
