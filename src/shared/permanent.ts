/**
 * The provider's code as each resource in users' state carries it. Every later release evaluates it in the program's
 * directory, so neither the code, nor the subpath, nor the export that it names may ever change.
 */
export const PROVIDER_CODE = 'exports.handler = () => require("pulumi-webhook-endpoints/provider").provider;';

/** The type token. It stands in users' state and may never change. */
export const TYPE_TOKEN = "pulumi-nodejs:dynamic/webhooks:WebhookEndpoint";

/** The type token of the native plugin's endpoints. It stands in users' state too. */
export const NATIVE_TYPE_TOKEN = "webhooks:index:WebhookEndpoint";

/** The same of a receiver's validation. */
export const VALIDATION_PROVIDER_CODE =
  'exports.handler = () => require("pulumi-webhook-endpoints/provider").receiverValidation;';
export const VALIDATION_TYPE_TOKEN = "pulumi-nodejs:dynamic/webhooks:ReceiverValidation";

/** Whether a resource of this type is an endpoint, of the dynamic provider or of the native plugin. */
export function isEndpointToken(type: string): boolean {
  return type === TYPE_TOKEN || type === NATIVE_TYPE_TOKEN;
}
