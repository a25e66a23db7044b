import { WebhookError } from "./webhookError";

/** A get or delete that was answered 404: the account that the key belongs to has no endpoint of that id. */
export class WebhookEndpointNotFoundError extends WebhookError {
  override readonly name = "WebhookEndpointNotFoundError";
}
