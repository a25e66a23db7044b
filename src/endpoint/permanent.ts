/**
 * The provider's code as each resource in users' state carries it. Every later release evaluates it in the program's
 * directory, so neither the code, nor the subpath, nor the export that it names may ever change.
 */
export const PROVIDER_CODE = 'exports.handler = () => require("pulumi-webhook-endpoints/provider").provider;';

/** The type token. It stands in users' state and may never change. */
export const TYPE_TOKEN = "pulumi-nodejs:dynamic/webhooks:WebhookEndpoint";
