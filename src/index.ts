export type { Endpoint } from "./client/endpoint";
export type { GetWebhookEndpointArgs, GetWebhookEndpointsArgs, QueryOptions } from "./endpoint/queries";
export { getWebhookEndpoint, getWebhookEndpoints } from "./endpoint/queries";
export type { EndpointType, WebhookEndpointArgs } from "./endpoint/types";
export { WebhookEndpoint } from "./endpoint/webhookEndpoint";
export { WebhooksProvider, type WebhooksProviderArgs } from "./endpoint/webhooksProvider";
export type { ReceiverConfig } from "./stack/config";
export { type ReceiverConfigArgs, receiverConfig } from "./stack/receiverConfig";
export { ReceiverValidation, type ReceiverValidationArgs } from "./validation/receiverValidation";
