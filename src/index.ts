export type { Endpoint } from "./client/endpoint";
export type {
  GetWebhookEndpointArgs,
  GetWebhookEndpointsArgs,
  QueryOptions,
} from "./endpoint/queries";
export { getWebhookEndpoint, getWebhookEndpoints } from "./endpoint/queries";
export type { EndpointType, WebhookEndpointArgs } from "./endpoint/types";
export { WebhookEndpoint } from "./endpoint/webhookEndpoint";
export type { WebhooksProviderArgs } from "./endpoint/webhooksProvider";
export { WebhooksProvider } from "./endpoint/webhooksProvider";
export type { ReceiverConfig } from "./stack/config";
export type { ReceiverConfigArgs } from "./stack/receiverConfig";
export { receiverConfig } from "./stack/receiverConfig";
export type { ReceiverValidationArgs } from "./validation/receiverValidation";
export { ReceiverValidation } from "./validation/receiverValidation";
