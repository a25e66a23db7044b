export { WebhooksClient } from "./client";
export type { Clock } from "./clock";
export type { Endpoint, EndpointList, EndpointType, Registration, UnrecognizedEndpoint } from "./endpoint";
export type { RegistrationOutcome, WebhookErrorCode, WebhookErrorOptions } from "./errors";
export { WebhookEndpointNotFoundError, WebhookError, WebhookRegistrationError } from "./errors";
export type { ClientEnvironment, Wait, WebhooksClientOptions } from "./options";
export type { OperationOptions } from "./runOperation";
