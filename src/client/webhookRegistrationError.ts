import type { WebhookErrorOptions } from "./webhookError";
import { WebhookError } from "./webhookError";

/**
 * - `"not-made"`: surely no endpoint came of it, so it may be sent again: it was never sent, or answered by 3xx, 429,
 *   503 with `Retry-After` or any 4xx but 408.
 * - `"undecided"`: the service may have registered it, so that sending it again may make a duplicate; list first.
 */
export type RegistrationOutcome = "not-made" | "undecided";

export interface WebhookRegistrationErrorOptions extends WebhookErrorOptions {
  readonly outcome: RegistrationOutcome;
}

/** A registration that failed. */
export class WebhookRegistrationError extends WebhookError {
  override readonly name = "WebhookRegistrationError";
  readonly outcome: RegistrationOutcome;

  constructor(message: string, options: WebhookRegistrationErrorOptions) {
    super(message, options);
    this.outcome = options.outcome;
  }
}
