export type { Endpoint } from "./client/endpoint";
export type { GetWebhookEndpointArgs, GetWebhookEndpointsArgs, QueryOptions } from "./program/queries";
export { getWebhookEndpoint, getWebhookEndpoints } from "./program/queries";
export type { EndpointType, WebhookEndpointArgs } from "./program/webhookEndpoint";
export { WebhookEndpoint } from "./program/webhookEndpoint";
export { WebhooksProvider, type WebhooksProviderArgs } from "./program/webhooksProvider";
export type { ReceiverConfig } from "./stack/config";
export { type ReceiverConfigArgs, receiverConfig } from "./stack/receiverConfig";
export { ReceiverValidation, type ReceiverValidationArgs } from "./validation/receiverValidation";
