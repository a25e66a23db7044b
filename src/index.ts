// Each type in a statement of its own: the TypeScript 3.8 that Pulumi brings does not read `type` within one.
export type { Endpoint, EndpointType } from "./client/endpoint";
export type { GetWebhookEndpointArgs, GetWebhookEndpointsArgs, QueryOptions } from "./program/queries";
export { getWebhookEndpoint, getWebhookEndpoints } from "./program/queries";
export type { WebhookEndpointArgs } from "./program/webhookEndpoint";
export { WebhookEndpoint } from "./program/webhookEndpoint";
export type { WebhooksProviderArgs } from "./program/webhooksProvider";
export { WebhooksProvider } from "./program/webhooksProvider";
export type { ReceiverConfigArgs } from "./stack/receiverConfig";
export { receiverConfig } from "./stack/receiverConfig";
export type { ReceiverConfig } from "./stack/receiverConfigFormat";
export type { ReceiverValidationArgs } from "./validation/receiverValidation";
export { ReceiverValidation } from "./validation/receiverValidation";
